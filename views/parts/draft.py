"""The scenario being edited in this browser session: plain data that may, for the moment, not be a legal scenario."""

import copy

import streamlit as st

from sim.errors import ScenarioError
from sim.preset import list_presets, load_preset
from sim.scenario import Scenario
from sim.scenario_cluster import SIZES_USED_BY
from sim.scenario_collective import ALGORITHMS, COLLECTIVES, WITH_CHANNELS
from sim.scenario_rules import KEYS_OF_PATTERN

FIRST_PRESET = "incast-16"
PRESET = "preset"  # key of the widget that chooses one
WIDGET = "field:"  # prefix of the widget keys that show a key of the draft
OPTIONAL = ("transport", "simulation")  # sections that mean the same empty and left out
TRAINING = {"model": {"name": "gpt-7b"}, "parallelism": {"tp": 8, "pp": 2}}
TRAFFIC = {"traffic": {"pattern": "incast", "flow_bytes": 1_000_000}}


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
    _forget_widgets()


def undo() -> None:
    """Back to the preset, or to what was loaded last."""
    st.session_state["draft"] = copy.deepcopy(st.session_state["draft_origin"])
    _forget_widgets()


def _forget_widgets() -> None:
    """Let every widget of the form take its value from the draft again."""
    for key in [key for key in st.session_state if str(key).startswith(WIDGET)]:
        del st.session_state[key]


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
    """The value of a dotted key as written, None if it is left to its default."""
    section, _, name = key.partition(".")
    return data().get(section, {}).get(name)


def put(key: str, value) -> None:
    """Set a dotted key; None returns it to its default."""
    section, _, name = key.partition(".")
    if value is None and name not in data().get(section, {}):
        return
    part = data().setdefault(section, {})
    if value is None:
        part.pop(name)
        if not part and section in OPTIONAL:
            del data()[section]
    else:
        part[name] = value
    if key == "cluster.topology":
        _drop_foreign_sizes(part)
    if section == "traffic":
        _drop_foreign_choices(part)


def _drop_foreign_sizes(cluster: dict) -> None:
    """Sizes that the newly chosen topology does not have would only confuse."""
    for name, families in SIZES_USED_BY.items():
        if cluster["topology"] not in families:
            cluster.pop(name, None)
    for name in ("leaves", "spines", "hosts_per_leaf", "pod_servers", "oversubscription"):
        cluster.pop(name, None)


def _drop_foreign_choices(traffic: dict) -> None:
    """Likewise what another pattern, another collective or another algorithm had."""
    for name, patterns in KEYS_OF_PATTERN.items():
        if traffic.get("pattern") not in patterns:
            traffic.pop(name, None)
    known = ALGORITHMS.get(traffic.get("collective") or COLLECTIVES[0], ())
    if traffic.get("algorithm") not in (None, *known):
        del traffic["algorithm"]
        st.session_state.pop(WIDGET + "traffic.algorithm", None)
    if (traffic.get("algorithm") or known[0]) not in WITH_CHANNELS:
        traffic.pop("channels", None)


def choose_workload(training: bool) -> None:
    """Swap between a model under a strategy and plain traffic."""
    draft = data()
    for section in (*TRAINING, *TRAFFIC):
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
