"""The presets in groups, and the widget that chooses one."""

import streamlit as st

from sim.preset import list_presets, load_preset
from sim.scenario import Scenario
from views.parts import draft
from views.parts.words import plain

TEACHING, TRAINING, TROUBLE = "Teaching", "Training", "What goes wrong"
GROUPS = (TEACHING, TRAINING, TROUBLE)
TROUBLESOME = ("ecmp-collision", "pfc-storm")  # nothing in their sections says so


@st.cache_resource(show_spinner=False)
def presets() -> dict[str, Scenario]:
    """Every preset by name, in the order in which they are offered."""
    found = {name: load_preset(name) for name in list_presets()}
    return dict(sorted(found.items(), key=lambda item: (GROUPS.index(group(item[1])), item[1].cluster.gpus, item[0])))


def group(scenario: Scenario) -> str:
    """What a preset is there for."""
    if scenario.faults or scenario.stragglers or scenario.background or scenario.jobs or scenario.name in TROUBLESOME:
        return TROUBLE
    return TEACHING if scenario.model is None else TRAINING


def choose() -> None:
    """The list of presets, what the chosen one is about, and the way back to it after changes."""
    found = presets()
    name = draft.data().get("name")
    st.session_state.setdefault(draft.PRESET, name if name in found else None)
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    left.selectbox(
        "Preset",
        list(found),
        index=None if st.session_state[draft.PRESET] is None else 0,
        key=draft.PRESET,
        format_func=lambda name: f"{group(found[name])}: {found[name].title or name} ({name})",
        on_change=_load,
        placeholder="Own scenario",
        persist_state="session",
    )
    if right.button("Undo all changes", icon=":material/undo:", disabled=not draft.edited(), width="stretch"):
        draft.undo()
        st.rerun()
    own = draft.edited() or name not in found
    about = plain(str(draft.data().get("description", "")))
    st.caption(": ".join(filter(None, (f"**{plain(draft.title())}**" if own else "", about))))


def _load() -> None:
    name = st.session_state[draft.PRESET]
    if name:
        draft.load(presets()[name])
