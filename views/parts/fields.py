"""The keys of a scenario as widgets: which appear in which section, with label, unit, choices and default."""

from types import NoneType, UnionType
from typing import Literal, NamedTuple, Union, get_args, get_origin

import streamlit as st

from sim.catalogue.gpus import GPUS
from sim.catalogue.models import MODELS
from sim.scenario import Scenario
from sim.scenario_cluster import SIZES_USED_BY
from sim.scenario_collective import ALGORITHMS, COLLECTIVES, WITH_CHANNELS
from sim.scenario_rules import KEYS_OF_PATTERN
from views.parts import draft

CUSTOM_MODEL = "own shape"
SPELLINGS = {"dcqcn": "DCQCN", "hpcc": "HPCC", "timely": "TIMELY", "dctcp": "DCTCP", "swift": "Swift", "gpt": "GPT", "nvls": "NVLS", "pxn": "PXN"}


class Field(NamedTuple):
    """One key of the scenario and its label, which carries the unit."""

    key: str
    label: str
    choices: tuple = ()


CLUSTER = (
    Field("cluster.topology", "Topology"),
    Field("cluster.gpus", "GPUs"),
    Field("cluster.gpus_per_node", "GPUs per server"),
    Field("cluster.gpu", "GPU type", tuple(GPUS)),
    Field("cluster.tiers", "Switch tiers", (2, 3)),
    Field("cluster.leaves", "Leaf switches"),
    Field("cluster.spines", "Spine switches"),
    Field("cluster.hosts_per_leaf", "NICs per leaf"),
    Field("cluster.pod_servers", "Servers per pod"),
    Field("cluster.fat_tree_k", "Ports per switch (k)"),
    Field("cluster.oversubscription", "Oversubscription (x : 1)"),
    Field("cluster.nic_gbps", "NIC speed (Gb/s)"),
    Field("cluster.fabric_gbps", "Leaf to spine (Gb/s)"),
    Field("cluster.core_gbps", "Spine to core (Gb/s)"),
    Field("cluster.nvlink_gbps", "NVLink per direction (Gb/s)"),
    Field("cluster.nic_delay_ns", "NIC link delay (ns)"),
    Field("cluster.fabric_delay_ns", "Fabric link delay (ns)"),
    Field("cluster.ecmp_seed", "ECMP hash seed"),
)
MODEL = (
    Field("model.name", "Model", tuple(MODELS)),
    Field("model.sequence", "Sequence (tokens)"),
    Field("model.layers", "Layers"),
    Field("model.hidden", "Hidden size"),
    Field("model.heads", "Attention heads"),
    Field("model.vocabulary", "Vocabulary (tokens)"),
)
PARALLELISM = (
    Field("parallelism.tp", "Tensor parallel (TP)"),
    Field("parallelism.pp", "Pipeline stages (PP)"),
    Field("parallelism.dp", "Data parallel (DP)"),
    Field("parallelism.micro_batches", "Micro-batches"),
    Field("parallelism.micro_batch", "Sequences per micro-batch"),
    Field("parallelism.optimizer", "Optimizer"),
    Field("parallelism.efficiency", "Compute efficiency (0–1)"),
    Field("parallelism.bucket_parameters", "Bucket (parameters)"),
)
TRAFFIC = (
    Field("traffic.pattern", "Pattern"),
    Field("traffic.flow_bytes", "Bytes per flow"),
    Field("traffic.senders", "Senders"),
    Field("traffic.receiver", "Receiving GPU"),
    Field("traffic.collective", "Collective"),
    Field("traffic.algorithm", "Algorithm"),
    Field("traffic.collective_bytes", "Bytes per GPU"),
    Field("traffic.ranks", "GPUs that take part"),
    Field("traffic.channels", "Channels"),
    Field("traffic.chunks", "Chunks per message"),
    Field("traffic.repeat", "Times"),
)
TRANSPORT = (
    Field("transport.congestion_control", "Congestion control"),
    Field("transport.payload_bytes", "Payload per packet (B)"),
    Field("transport.ecn_kmin_kb", "ECN kmin (kB)"),
    Field("transport.ecn_kmax_kb", "ECN kmax (kB)"),
    Field("transport.ecn_pmax", "ECN pmax (0–1)"),
    Field("transport.ecn_reference_gbps", "ECN thresholds hold at (Gb/s)"),
    Field("transport.pfc", "PFC"),
    Field("transport.pfc_xoff_kb", "PFC xoff (kB)"),
    Field("transport.buffer_mb", "Switch buffer (MB)"),
    Field("transport.ack_priority", "ACK priority"),
    Field("transport.ack_every", "Packets per ACK"),
    Field("transport.window", "Window"),
    Field("simulation.resolution", "Clock resolution"),
    Field("simulation.seed", "Random seed"),
    Field("simulation.time_limit_s", "Stop after (simulated s)"),
)
FIELDS = (*CLUSTER, *MODEL, *PARALLELISM, *TRAFFIC, *TRANSPORT)


def shown(field: Field) -> bool:
    """Sizes of other topologies, and thresholds of other modes, are not offered."""
    section, _, name = field.key.partition(".")
    if section == "cluster" and name in SIZES_USED_BY and draft.get("cluster.topology") not in SIZES_USED_BY[name]:
        return False
    if name in ("pod_servers", "core_gbps") and draft.get("cluster.topology") == "rail-optimised":
        return draft.get("cluster.tiers") == 3
    if section == "traffic" and name in KEYS_OF_PATTERN:
        return draft.get("traffic.pattern") in KEYS_OF_PATTERN[name] and _of_collective(name)
    return name != "pfc_xoff_kb" or draft.get("transport.pfc") == "fixed"


def _of_collective(name: str) -> bool:
    """A list of GPUs is no number to edit; only some algorithms have channels."""
    if name == "channels":
        return draft.get("traffic.channels") is not None or (draft.get("traffic.algorithm") or _algorithms()[0]) in WITH_CHANNELS
    return name != "ranks" or not isinstance(draft.get("traffic.ranks"), (list, tuple))


def _algorithms() -> tuple[str, ...]:
    return ALGORITHMS.get(draft.get("traffic.collective") or COLLECTIVES[0], ())


def show(fields: tuple[Field, ...], resolved: Scenario | None, columns: int = 2) -> None:
    """Draw the fields in a grid; `resolved` supplies what the empty ones stand for."""
    visible = [field for field in fields if shown(field)]
    for first in range(0, len(visible), columns):
        for column, field in zip(st.columns(columns), visible[first : first + columns], strict=False):
            with column:
                widget(field, resolved)


def widget(field: Field, resolved: Scenario | None) -> None:
    """One key as a select box or a number, written back to the draft on every change."""
    kind, choices, info = describe(field)
    key = draft.WIDGET + field.key
    value = draft.get(field.key)
    common = dict(label=field.label, key=key, help=_sentence(info.description), on_change=_store, args=(field.key, key))
    if choices:
        options = list(choices) if value is None or value in choices else [value, *choices]
        st.session_state.setdefault(key, info.default if value is None and info.default in choices else value)
        st.selectbox(options=options, format_func=spell, placeholder=_default_text(field, resolved), **common)
    else:
        default = info.default if isinstance(info.default, (int, float)) else None
        shown_value = default if value is None else value
        st.session_state.setdefault(key, None if shown_value is None else kind(shown_value))
        optional = {} if default is not None or info.is_required() else {"value": None}
        st.number_input(
            **optional,
            step=1 if kind is int else None,
            format=None if kind is int else "%g",
            placeholder=_default_text(field, resolved),
            **common,
        )


def describe(field: Field) -> tuple[type, tuple, object]:
    """(int or float, choices if it has any, pydantic's field information) of a dotted key."""
    section, _, name = field.key.partition(".")
    info = _section_model(section).model_fields[name]
    annotation = info.annotation
    parts = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    kinds = [part for part in parts if part is not NoneType]
    choices = _algorithms() if name == "algorithm" else field.choices or tuple(
        choice for part in kinds if get_origin(part) is Literal for choice in get_args(part)
    )
    return (int if int in kinds else float), choices, info


def _section_model(section: str):
    annotation = Scenario.model_fields[section].annotation
    return next(part for part in (*get_args(annotation), annotation) if part is not NoneType)


def _store(key: str, widget_key: str) -> None:
    draft.put(key, st.session_state[widget_key])


def spell(choice) -> str:
    """Choices as people write them: DCQCN, one switch, GPT-7B."""
    text = str(choice)
    if text in SPELLINGS:
        return SPELLINGS[text]
    return text.upper() if text.startswith("gpt-") else text


def _sentence(text: str | None) -> str | None:
    return text and text[:1].upper() + text[1:]


def _default_text(field: Field, resolved: Scenario | None) -> str:
    section, _, name = field.key.partition(".")
    part = getattr(resolved, section, None)
    value = getattr(part, name, None)
    return "default" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
