"""How the network is simulated: the choice of mode and level, as far as the engine has them, and what each means."""

import streamlit as st

from sim.modes import BUILT_LEVELS
from sim.scenario import Simulation
from views.parts import draft, session
from views.parts.fields import Field, describe

NAMES = {"wormhole": "Wormhole", "packet": "Packet", "flow": "Flow level"}
LEVELS = {"exact": "Exact", "bounded": "Bounded", "paper": "As in the paper"}
MEANING = {
    "wormhole": "Every packet accounted for, few simulated: what is known is replayed, steady stretches are skipped.",
    "packet": "Every packet simulated one by one: slow, and what the other modes are measured against.",
    "flow": "Fair shares of the links, no packets, queues or marks: a rough answer at once.",
}
LEVEL_MEANING = {
    "exact": "Equal to packet mode to the bit.",
    "bounded": "Also skips what is steady on average; every completion time carries its error bar.",
    "paper": "Memo by conflict graph and rates, range test for steadiness: for study.",
}
RUNNING = {"wormhole": "Simulating what is new", "packet": "Simulating every packet", "flow": "Sharing out rates"}
FIELDS = {name: Field(f"simulation.{name}", name.capitalize()) for name in ("mode", "level")}


def choices(name: str) -> tuple[str, ...]:
    """What the engine offers for `mode` or `level`."""
    return tuple(choice for choice in describe(FIELDS[name])[1] if name == "mode" or choice in BUILT_LEVELS)


def choose(place: str, action=None) -> None:
    """The controls, and what `action` draws beside them; a choice of one is no control but a sentence."""
    with st.container(horizontal=True, vertical_alignment="center"):
        mode = _control("mode", NAMES, place)
        level = _control("level", LEVELS, place) if mode == "wormhole" else None
        if place == "run" and mode == "wormhole" and level == "exact":
            _remember()
        if action is not None:
            action()
        st.caption(MEANING[mode] + (f" {LEVEL_MEANING[level]}" if level else ""))


def _remember() -> None:
    key = f"{draft.WIDGET}remember"
    st.session_state[key] = session.remembers()
    st.toggle(
        "Remember", key=key, on_change=lambda: st.session_state.update({session.REMEMBER: st.session_state[key]}),
        help="Begin with what earlier runs have learnt, and add what this one learns: the same answer, sooner. Kept in the user's cache directory.",
    )  # fmt: skip


def _control(name: str, spelled: dict[str, str], place: str) -> str:
    field, offered = FIELDS[name], choices(name)
    chosen = draft.get(field.key) or Simulation.model_fields[name].default
    if len(offered) < 2:
        return chosen
    key = f"{draft.WIDGET}{field.key}@{place}"
    st.session_state[key] = chosen
    st.segmented_control(
        field.label, sorted(offered, key=list(spelled).index), key=key, required=True, format_func=spelled.get, label_visibility="collapsed",
        width="content", on_change=_store, args=(field.key, key, Simulation.model_fields[name].default),
    )  # fmt: skip
    return chosen


def _store(key: str, widget: str, default: str) -> None:
    value = st.session_state[widget]
    draft.put(key, None if value == default else value)
