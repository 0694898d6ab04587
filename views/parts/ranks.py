"""Which ranks a timeline shows: a few of every pipeline stage, one stage, the critical path's, or any."""

import numpy as np
import streamlit as st

from sim.result_lanes import representative_ranks
from views.parts.words import plural

MOST_ROWS = 32
ROWS_AT_FIRST = 16
PATH_ROWS = 4
KEY = "timeline ranks"
VIEW_KEY = "timeline view"
OVERVIEW, PATH, PICK = "A few of every stage", "On the critical path", "Pick ranks"


def stages(result) -> list[np.ndarray]:
    """Ranks of every pipeline stage; plain traffic has one stage, of the ranks that send or compute."""
    parallelism = result.scenario.parallelism
    if parallelism is not None:
        size = parallelism.tp * parallelism.dp
        return [np.arange(stage * size, (stage + 1) * size) for stage in range(parallelism.pp)]
    return [np.unique(np.concatenate([result.dag.flow_src, result.dag.task_rank]))]


def labels(result) -> dict[int, str]:
    """'rank 12 (stage 1)' where there are stages, 'rank 12' elsewhere."""
    groups = stages(result)
    if len(groups) == 1:
        return {}
    return {int(rank): f"rank {rank} (stage {stage})" for stage, group in enumerate(groups) for rank in group}


def choose(result) -> tuple[list[int], dict[int, str]]:
    """Widgets for the rows of the chart; (ranks top to bottom, labels)."""
    groups = stages(result)
    everyone = np.concatenate(groups)
    names = labels(result)
    if len(everyone) <= ROWS_AT_FIRST:
        return everyone.tolist(), names
    by_stage = [f"Stage {stage}" for stage in range(len(groups))] if 1 < len(groups) <= 64 else []
    options = [OVERVIEW if len(groups) > 1 else "A few", PATH, *by_stage, PICK]
    if st.session_state.get(VIEW_KEY) not in options:
        st.session_state[VIEW_KEY] = options[0]
    left, right = st.columns([1, 2])
    view = left.selectbox(
        "Ranks shown",
        options,
        key=VIEW_KEY,
        persist_state="session",
        help=f"Of {plural(len(everyone), 'rank')}, at most {MOST_ROWS} at a time",
    )
    if view == PATH:
        shown = list(dict.fromkeys(result.critical_path["rank"].tolist()))[:MOST_ROWS]
    elif view == PICK:
        kept = [rank for rank in st.session_state.get(KEY, []) if rank in everyone]
        st.session_state[KEY] = kept or representative_ranks(groups, 4)
        shown = right.multiselect(
            "Ranks",
            everyone.tolist(),
            key=KEY,
            persist_state="session",
            max_selections=MOST_ROWS,
            format_func=lambda rank: names.get(rank, f"rank {rank}"),
        )
    elif view in by_stage:
        shown = representative_ranks([groups[by_stage.index(view)]], MOST_ROWS)
    else:
        shown = with_path(result, representative_ranks(groups, ROWS_AT_FIRST - PATH_ROWS))
    return sorted(shown), names


def with_path(result, ranks: list[int]) -> list[int]:
    """Some ranks, and those that the critical path spends most time on."""
    path = result.critical_path
    longest = (path["end_s"] - path["start_s"]).groupby(path["rank"]).sum().nlargest(PATH_ROWS)
    return sorted({*ranks, *longest.index.tolist()})


def include(*wanted: int) -> None:
    """Make sure that ranks are among those shown (called before the widgets are drawn)."""
    if st.session_state.get(VIEW_KEY) is None:
        return
    st.session_state[VIEW_KEY] = PICK
    st.session_state[KEY] = sorted(set(wanted))
