"""The keys of a scenario as widgets: a select box, a switch, a number or a line of text, with its default and what it means."""

import copy
from types import NoneType, UnionType
from typing import Literal, NamedTuple, Union, get_args, get_origin

import streamlit as st

from sim.errors import ScenarioError
from sim.scenario import Scenario
from sim.scenario_base import models_in
from sim.scenario_collective import ALGORITHMS, COLLECTIVES
from sim.units import show_number
from views.parts import draft
from views.parts.keys import FIELDS, Field
from views.parts.shown import shown

__all__ = ["FIELDS", "Field", "describe", "show", "spell", "widget"]

UNSET = {  # what leaving a key out means, where the scenario fills nothing in
    "model.name": "own shape", "cluster.node": "own server", "parallelism.capacity_factor": "no limit", "simulation.time_limit_s": "no limit",
    "background.gpus": "all", "background.receiver": "the first",
}  # fmt: skip
SPELLINGS = {
    "dcqcn": "DCQCN", "hpcc": "HPCC", "timely": "TIMELY", "dctcp": "DCTCP", "swift": "Swift", "gpt": "GPT", "nvls": "NVLS", "pxn": "PXN",
    "1f1b": "1F1B", "gpipe": "GPipe", "interleaved": "interleaved 1F1B", "zb-h1": "ZB-H1", "zero-1": "ZeRO-1", "zero-2": "ZeRO-2",
    "zero-3": "ZeRO-3 (FSDP)",
}  # fmt: skip


class Kind(NamedTuple):
    """What a key takes."""

    type: type  # int, float, bool, str or tuple
    choices: tuple
    info: object  # pydantic's field information

    @property
    def optional(self) -> bool:
        """Whether it can be left to a default that other keys decide."""
        return self.info.default is None and not self.info.is_required()


def show(fields: tuple[Field, ...], resolved, columns: int = 2, prefix: str = "") -> None:
    """Draw the fields in a grid; `resolved` (a scenario, or the part at `prefix`) supplies what the empty ones stand for."""
    visible = [field for field in fields if shown(field.key, prefix)]
    for first in range(0, len(visible), columns):
        for column, field in zip(st.columns(columns, vertical_alignment="bottom"), visible[first : first + columns], strict=False):
            with column:
                widget(field, resolved, prefix)


def widget(field: Field, resolved, prefix: str = "") -> None:
    """One key as a widget, written back to the draft on every change."""
    path = prefix + field.key
    kind = describe(field, prefix)
    key = draft.WIDGET + path
    value = draft.get(path)
    standing = _standing(field, resolved, kind)
    common = dict(label=field.label, key=key, help=_help(kind), on_change=_store, args=(path, key, kind.type))
    if kind.choices:
        _select(field, kind, value, standing if value is None or not kind.optional else _left_out(path), common)
    elif kind.type is bool:
        st.session_state[key] = bool(kind.info.default if value is None else value)
        st.toggle(**common)
    elif kind.type in (str, tuple):
        text = value if isinstance(value, str) else "" if value is None else ", ".join(map(str, value))
        st.session_state[key] = text
        st.text_input(placeholder=_placeholder(field, standing, prefix), **common)
    else:
        _number(kind, value, _placeholder(field, standing, prefix), standing, common)


def _select(field: Field, kind: Kind, value, standing, common: dict) -> None:
    """`standing`: what the key is when it is left out; that choice is offered once, as the default."""
    options = [None] * kind.optional + [choice for choice in kind.choices if not (kind.optional and choice == standing)]
    if kind.optional and value is not None and value == standing:
        value = None
    if value is not None and value not in options:
        options.insert(0, value)
    fallback = None if kind.optional else standing if standing in kind.choices else None
    st.session_state[common["key"]] = fallback if value is None else value
    unset = _placeholder(field, None) if standing is None or field.key in UNSET else f"{_words(standing)} (default)"
    st.selectbox(options=options, format_func=lambda choice: unset if choice is None else spell(choice), placeholder=unset, **common)


def _number(kind: Kind, value, placeholder: str, standing, common: dict) -> None:
    shown_value = value if value is not None else None if kind.optional else standing
    st.session_state[common["key"]] = kind.type(shown_value) if isinstance(shown_value, (int, float)) else None
    optional = {} if kind.info.is_required() else {"value": None}
    whole = kind.type is int
    st.number_input(**optional, step=1 if whole else None, format=None if whole else "%.15g", placeholder=placeholder, **common)


def describe(field: Field, prefix: str = "") -> Kind:
    """What a dotted key takes."""
    *path, name = (prefix + field.key).split(".")
    model = Scenario
    for step in path:
        if not step.isdecimal():
            model = models_in(model.model_fields[step].annotation)[0]
    info = model.model_fields[name]
    parts = get_args(info.annotation) if get_origin(info.annotation) in (Union, UnionType) else (info.annotation,)
    kinds = [get_origin(part) or part for part in parts if part is not NoneType]
    literal = tuple(choice for part in parts if get_origin(part) is Literal for choice in get_args(part))
    choices = _algorithms() if field.key == "traffic.algorithm" else field.choices or literal
    if bool in kinds and info.default is None:
        choices = (True, False)
    return Kind(next((one for one in (bool, int, float, tuple) if one in kinds), str), choices, info)


def _algorithms() -> tuple[str, ...]:
    return ALGORITHMS.get(draft.get("traffic.collective") or COLLECTIVES[0], ())


def _standing(field: Field, resolved, kind: Kind):
    """The value that a key has where it is not given: what the scenario filled in, else its default."""
    part = resolved
    for step in field.key.split("."):
        part = getattr(part, step, None)
    if field.key == "parallelism.global_batch" and resolved is not None:
        p = resolved.parallelism
        return p.dp * p.micro_batch * p.micro_batches
    return kind.info.default if part is None and not kind.info.is_required() else part


def _left_out(path: str):
    """The value that a given key would have if it were left out; None if the rest is no legal scenario."""
    *steps, name = path.split(".")
    data = copy.deepcopy(draft.data())
    part = data
    for step in steps:
        part = part[int(step)] if isinstance(part, list) else part[step]
    part.pop(name, None)
    try:
        value = Scenario.from_data(data)
    except ScenarioError:
        return None
    for step in path.split("."):
        value = value[int(step)] if isinstance(value, tuple) else getattr(value, step, None)
    return value


def _store(path: str, widget_key: str, kind: type) -> None:
    value = st.session_state[widget_key]
    if kind is tuple:
        value = _numbers(value)
    draft.put(path, None if value == "" else value)


def _numbers(text: str):
    """ "8, 2" as [8, 2]; what is no list of whole numbers stays text, for the scenario to refuse."""
    words = text.replace(",", " ").split()
    return [int(word) for word in words] or "" if all(word.isdecimal() for word in words) else text


def spell(choice) -> str:
    """Choices as people write them: DCQCN, one switch, GPT-7B."""
    if isinstance(choice, bool):
        return "yes" if choice else "no"
    text = str(choice)
    return SPELLINGS.get(text) or (text.upper() if text.startswith("gpt-") else text)


def _help(kind: Kind) -> str | None:
    text = kind.info.description
    return text and text[:1].upper() + text[1:]


def _placeholder(field: Field, standing, prefix: str = "") -> str:
    section = "" if "." in field.key else prefix.split(".")[0] + "."
    return UNSET.get(section + field.key, "default") if standing is None else _words(standing)


def _words(value) -> str:
    if value is None or value == "" or value == ():
        return "default"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) if any(value) else "none"
    return show_number(value) if isinstance(value, float) else spell(value)
