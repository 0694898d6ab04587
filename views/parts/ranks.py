"""Which ranks a timeline shows: of a job a few of every pipeline stage, one stage, the critical path's, or any."""

from typing import NamedTuple

import numpy as np
import streamlit as st

from sim.result_jobs import ends_ps
from sim.result_lanes import representative_ranks
from sim.units import PS_PER_S
from sim.workload.blocks import FlowKind
from sim.workload.jobs import jobs_of, strategy_of
from sim.workload.placement import place
from views.parts.job_names import NO_JOB, OWN_JOB, of_jobs
from views.parts.words import plural

MOST_ROWS = 32
ROWS_AT_FIRST = 16
PATH_ROWS = 4
MOST_STAGES = 64
KEY = "timeline ranks"
VIEW_KEY = "timeline view"
JOB_KEY = "timeline job"
OVERVIEW, PATH, PICK = "A few of every stage", "On the critical path", "Pick ranks"
ALL_JOBS = "All jobs"


class Job(NamedTuple):
    """GPUs of one job by pipeline stage; work without stages has one."""

    name: str
    number: int | None  # as in the column job of the tables; None: no job, only traffic of others
    stages: list[np.ndarray]
    parallelism: object | None = None

    @property
    def gpus(self) -> np.ndarray:
        return np.concatenate(self.stages)


def jobs(result) -> list[Job]:
    """The jobs of a run, and last, if there are any, GPUs of none that send traffic of others."""
    scenario, dag = result.scenario, result.dag
    if scenario.model is None:
        return [Job(OWN_JOB, 0, [np.unique(np.concatenate([dag.flow_src, dag.task_rank]))])]
    names = of_jobs(scenario)
    found = []
    for number, (_, parallelism, first_gpu, gpus, _) in enumerate(jobs_of(scenario)):
        strategy = strategy_of(parallelism)
        host = place(strategy, gpus, scenario.cluster.gpus_per_node, scenario.simulation.seed, first_gpu)
        stages = [np.sort(host[strategy.stage_ranks(stage)]) for stage in range(strategy.pp)]
        found.append(Job(names[number], number, stages, parallelism))
    others = np.setdiff1d(dag.flow_src[dag.flow_kind == FlowKind.BACKGROUND], np.concatenate([job.gpus for job in found]))
    return found + [Job(NO_JOB, None, [others])] * bool(len(others))


def labels(shown: list[Job]) -> dict[int, str]:
    """'rank 12 (mixture, stage 1)' where there are several jobs and stages, 'rank 12' where there is one of each."""
    names = {}
    for job in shown:
        for stage, gpus in enumerate(job.stages):
            said = [job.name] * (len(shown) > 1) + [f"stage {stage}"] * (len(job.stages) > 1)
            names.update({int(gpu): f"rank {gpu} ({', '.join(said)})" for gpu in gpus if said})
    return names


def choose_job(result) -> list[Job]:
    """The job to look at, by a widget where there are several; all of them at first."""
    found = jobs(result)
    if len(found) == 1:
        return found
    options = [ALL_JOBS, *range(len(found))]
    if st.session_state.get(JOB_KEY) not in options:
        st.session_state[JOB_KEY] = ALL_JOBS
    chosen = st.segmented_control(
        "Job", options, key=JOB_KEY, required=True, persist_state="session", format_func=lambda one: one if one == ALL_JOBS else found[one].name
    )
    return found if chosen == ALL_JOBS else [found[chosen]]


def marks(result, shown: list[Job]) -> dict[float, str]:
    """Where iterations end, by time in seconds; nothing if there is one iteration of one job."""
    ended = ends_ps(result.raw)
    if len(ended) == 1 and len(next(iter(ended.values()))) == 1:
        return {}
    found = {}
    for job in shown:
        for iteration, end in enumerate(ended.get(job.number, ())):
            if end >= 0:
                which = f"iteration {iteration + 1}" if len(ended[job.number]) > 1 else ""
                found[end / PS_PER_S] = " ".join(filter(None, [job.name * (len(shown) > 1), which])) + " ends"
    return found


def choose(result, shown: list[Job]) -> tuple[list[int], dict[int, str]]:
    """Widgets for the rows of the chart; (ranks top to bottom, labels)."""
    groups = [gpus for job in shown for gpus in job.stages]
    everyone = np.unique(np.concatenate(groups))
    names = labels(shown)
    if len(everyone) <= ROWS_AT_FIRST:
        return everyone.tolist(), names
    by_stage = [f"Stage {stage}" for stage in range(len(groups))] if len(shown) == 1 and 1 < len(groups) <= MOST_STAGES else []
    options = [OVERVIEW if by_stage or len(shown) > 1 else "A few", PATH, *by_stage, PICK]
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
        path = result.critical_path["rank"]
        ranks = list(dict.fromkeys(path[path.isin(everyone)].tolist()))[:MOST_ROWS] or representative_ranks(groups, 1)
    elif view == PICK:
        kept = [rank for rank in st.session_state.get(KEY, []) if rank in everyone]
        st.session_state[KEY] = kept or representative_ranks(groups, 4)
        ranks = right.multiselect(
            "Ranks",
            everyone.tolist(),
            key=KEY,
            persist_state="session",
            max_selections=MOST_ROWS,
            format_func=lambda rank: names.get(rank, f"rank {rank}"),
        )
    elif view in by_stage:
        ranks = representative_ranks([groups[by_stage.index(view)]], MOST_ROWS)
    else:
        ranks = with_path(result, everyone, representative_ranks(groups, ROWS_AT_FIRST - PATH_ROWS))
    return sorted(ranks), names


def with_path(result, everyone: np.ndarray, ranks: list[int]) -> list[int]:
    """Some ranks, and those that the critical path spends most time on."""
    path = result.critical_path
    path = path[path["rank"].isin(everyone)]
    longest = (path["end_s"] - path["start_s"]).groupby(path["rank"]).sum().nlargest(PATH_ROWS)
    return sorted({*ranks, *longest.index.tolist()})


def include(*wanted: int) -> None:
    """Make sure that ranks are among those shown (called before the widgets are drawn)."""
    if JOB_KEY in st.session_state:
        st.session_state[JOB_KEY] = ALL_JOBS
    if st.session_state.get(VIEW_KEY) is None:
        return
    st.session_state[VIEW_KEY] = PICK
    st.session_state[KEY] = sorted(set(wanted))
