"""The scenario being edited in this browser session: plain data that may, for the moment, not be a legal scenario."""

import copy

import streamlit as st

from sim.errors import ScenarioError
from sim.preset import list_presets, load_preset
from sim.scenario import Scenario
from views.parts import draft_rules

FIRST_PRESET = "incast-16"
PRESET = "preset"  # key of the widget that chooses one
WIDGET = "field:"  # prefix of the widget keys that show a key of the draft
OPTIONAL = ("transport", "simulation")  # sections that mean the same empty and left out
TRAINING = {"model": {"name": "gpt-7b"}, "parallelism": {"tp": 8, "pp": 2}}
TRAFFIC = {"traffic": {"pattern": "incast", "flow_bytes": 1_000_000}}
ONLY_TRAINING = ("jobs", "stragglers")


def data() -> dict:
    """The draft as nested data; begins with the first preset."""
    if "draft" not in st.session_state:
        names = list_presets()
        load(load_preset(FIRST_PRESET if FIRST_PRESET in names else names[0]))
    return st.session_state["draft"]


def load(scenario: Scenario) -> None:
    """Make a scenario the draft, and its preset (or itself) what undo returns to; every widget shows the new values."""
    origin = load_preset(scenario.name) if scenario.name in list_presets() else scenario
    st.session_state["draft"] = _plain(scenario.given())
    st.session_state["draft_origin"] = _plain(origin.given())
    st.session_state.pop(PRESET, None)


def undo() -> None:
    """Back to the preset, or to what was loaded last."""
    st.session_state["draft"] = copy.deepcopy(st.session_state["draft_origin"])


def _plain(value):
    """Tuples to lists, so that lists of the draft can be edited in place."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, (list, tuple)) else value


def edited() -> bool:
    """Whether anything was changed since the draft was loaded."""
    return data() != st.session_state.get("draft_origin")


def title() -> str:
    """The draft's title, marked if anything was changed since it was loaded."""
    given = str(data().get("title") or data().get("name") or "Scenario")
    return f"{given} (edited)" if edited() else given


def get(key: str):
    """The value of a dotted key as written, None if it is left to its default; a number steps into a list."""
    part = data()
    for step in key.split("."):
        part = part[int(step)] if isinstance(part, list) else part.get(step)
        if part is None:
            return None
    return part


def put(key: str, value) -> None:
    """Set a dotted key; None returns it to its default."""
    was = get(key)
    if value is None and was is None:
        return
    *path, name = key.split(".")
    part = data()
    for step in path:
        part = part[int(step)] if isinstance(part, list) else part.setdefault(step, {})
    if value is None:
        part.pop(name)
        if not part and path == [path[0]] and path[0] in OPTIONAL:
            del data()[path[0]]
    else:
        part[name] = value
    draft_rules.follow(".".join(key.split(".")[-2:]), part, value, was)


def choose_workload(training: bool) -> None:
    """Swap between a model under a strategy and plain traffic."""
    draft = data()
    for section in (*TRAINING, *TRAFFIC, "program", *(() if training else ONLY_TRAINING)):
        draft.pop(section, None)
    draft.update(copy.deepcopy(TRAINING if training else TRAFFIC))


def scenario() -> Scenario:
    """The draft as a validated scenario; raises ScenarioError with the line to show."""
    return Scenario.from_data(data())


def titled() -> Scenario:
    """The draft as `scenario()` makes it, under the title that it has now: what is run and handed out."""
    return scenario().model_copy(update={"title": title()}) if edited() else scenario()


def scenario_or_none() -> Scenario | None:
    try:
        return scenario()
    except ScenarioError:
        return None
