"""The part of the form that says what runs: a model under a strategy, plain traffic, or work that was imported."""

import streamlit as st

from views.parts import draft, fields, keys, sources
from views.parts.shown import has_experts
from views.parts.words import plain, plural

TRAINING, TRAFFIC, IMPORTED = "Training a model", "Plain traffic", "Imported work"
CHOICE = "workload"  # key of the widget
EDIT_LISTS = "To change them: “Download as TOML” under “Share this scenario”, edit, and bring it back on the Import page."


def show(scenario) -> None:
    """The choice of what runs, and its keys."""
    now = IMPORTED if "program" in draft.data() else TRAFFIC if "traffic" in draft.data() else TRAINING
    options = (TRAINING, TRAFFIC) + (IMPORTED,) * (now == IMPORTED)
    st.session_state[CHOICE] = now
    st.segmented_control("Workload", options, required=True, key=CHOICE, on_change=_choose)
    if now == TRAINING:
        training("", scenario)
    elif now == TRAFFIC:
        traffic(scenario)
    else:
        imported()


def _choose() -> None:
    if st.session_state[CHOICE] != IMPORTED:
        draft.choose_workload(st.session_state[CHOICE] == TRAINING)


def training(prefix: str, resolved) -> None:
    """A model and how it is cut and trained: of the scenario's own job, or of the further one at `prefix`."""
    fields.show(keys.MODEL, resolved, prefix=prefix)
    if told := sources.of_model(draft.get(f"{prefix}model") or {}):
        st.caption(told)
    fields.show(keys.STRATEGY, resolved, prefix=prefix)
    with st.expander("Schedule and memory", icon=":material/view_timeline:"):
        fields.show(keys.SCHEDULE, resolved, prefix=prefix)
    with st.expander("Compute and placement", icon=":material/memory:"):
        fields.show(keys.COMPUTE + (keys.JITTER if prefix else ()), resolved, prefix=prefix)
    if has_experts(prefix):
        with st.expander("Experts", icon=":material/call_split:"):
            fields.show(keys.EXPERTS, resolved, prefix=prefix)
    with st.expander("Shape of the model", icon=":material/data_object:"):
        st.caption("What is given here overrides the model of the catalogue.")
        fields.show(keys.SHAPE, resolved, prefix=prefix)


def traffic(scenario) -> None:
    """Plain traffic or a collective."""
    fields.show(keys.TRAFFIC, scenario)
    ranks, listed = draft.get("traffic.ranks"), draft.get("traffic.flows")
    if isinstance(ranks, (list, tuple)):
        st.caption(f"{plural(len(ranks), 'GPU takes', 'GPUs take')} part, as listed in the scenario. {EDIT_LISTS}")
    if listed:
        st.caption(f"{plural(len(listed), 'flow is', 'flows are')} listed in the scenario. {EDIT_LISTS}")


def imported() -> None:
    """What is known of imported work, which is not edited here."""
    program = draft.data()["program"]
    source = f" from {plain(program['source'])}" if program.get("source") else ""
    st.caption(
        f"Tasks and messages of {plural(program['ranks'], 'GPU')}, imported{source}. Cluster, transport and what goes wrong can be "
        "changed here; the work itself in the files that it came from."
    )
