"""One node of a Chakra execution trace: its attributes read strictly, its compute timed."""

from dataclasses import dataclass
from typing import NamedTuple

from sim.errors import FormatError
from sim.formats.chakra_messages import INTEGERS
from sim.formats.text import quoted
from sim.workload.program_chakra_work import (
    COLLECTIVE,
    COLLECTIVES,
    COMPUTE,
    EVERYONE,
    MAX_BYTES,
    MAX_ID,
    MAX_PS,
    RECV,
    SEND,
)

TYPES = {
    1: ("METADATA", COMPUTE), 2: ("MEM_LOAD", COMPUTE), 3: ("MEM_STORE", COMPUTE), 4: ("COMP", COMPUTE), 5: ("SEND", SEND), 6: ("RECV", RECV),
    7: ("COLL", COLLECTIVE),
}  # fmt: skip
COMM_TYPES = {0: "all-reduce", 2: "all-gather", 5: "broadcast", 6: "all-to-all", 7: "reduce-scatter", 8: "reduce-scatter", 9: "barrier"}
BROADCAST, BARRIER = 5, 9
ROOT = ("comm_src", "root", "root_rank")  # attributes that name a broadcast's root, a rank among all
PS_PER_US = 10**6


@dataclass(frozen=True)
class Roofline:
    """How compute that carries operations is timed: max(num_ops / flops_per_s, tensor_size / bytes_per_s)."""

    flops_per_s: float
    bytes_per_s: float | None
    always: bool  # whether durations of the trace give way

    def times(self, operations: int, duration_us: int) -> bool:
        """Whether it times a node, and not the trace."""
        return bool(operations) and (self.always or not duration_us)


class Row(NamedTuple):
    """A node's values, as in `ChakraWork`."""

    kind: int
    cpu: int
    duration_ps: int
    n_bytes: int
    peer: int
    tag: int
    collective: int
    group: str | None
    by_roofline: bool = False


def row_of(node, place: str, rank: int, ranks: int, roofline: Roofline | None) -> Row:
    """The values of a node of one rank of `ranks`; FormatError that begins with `place` for the first fault."""
    if node.type not in TYPES:
        raise FormatError(f"{place}: type {node.type} is not known: {', '.join(f'{number} ({name})' for number, (name, _) in TYPES.items())}")
    attributes = {attribute.name: attribute for attribute in node.attr}
    name, kind = TYPES[node.type]
    cpu, duration_ps, n_bytes, peer, tag, collective, group, timed = 0, 0, 0, -1, 0, -1, None, False
    if kind == COMPUTE:
        cpu = int(_integer(attributes, "is_cpu_op", place, 0, 1, 0))
        duration_ps, timed = _duration_ps(node, attributes, place, roofline)
    else:
        n_bytes = _integer(attributes, "comm_size", place, 0, MAX_BYTES, 0 if _comm_type(attributes) == BARRIER else None)
        tag = _integer(attributes, "comm_tag", place, -(2**63), 2**63 - 1, 0)
    if kind in (SEND, RECV):
        end, own = ("comm_dst", "comm_src") if kind == SEND else ("comm_src", "comm_dst")
        peer = _integer(attributes, end, place, 0, ranks - 1)
        if peer == rank:
            raise FormatError(f"{place}: {end} {peer}: {name} of rank {rank} to itself; legal are the other ranks of 0 to {ranks - 1}")
        if _integer(attributes, own, place, 0, ranks - 1, rank) != rank:
            raise FormatError(f"{place}: {own} {_integer(attributes, own, place, 0, ranks - 1)}: this is the file of rank {rank}; the nearest is {rank}")
    if kind == COLLECTIVE:
        comm_type = _integer(attributes, "comm_type", place, 0, 99)
        if comm_type not in COMM_TYPES:
            raise FormatError(f"{place}: comm_type {comm_type} is not simulated; known: {', '.join(f'{n} ({word})' for n, word in COMM_TYPES.items())}")
        collective = COLLECTIVES.index(COMM_TYPES[comm_type])
        n_bytes = 0 if comm_type == BARRIER else n_bytes
        group = _group(attributes, place)
        peer = _root(attributes, place, ranks) if comm_type == BROADCAST else -1
    return Row(kind, cpu, duration_ps, n_bytes, peer, tag, collective, group, timed)


def _comm_type(attributes: dict) -> int:
    attribute = attributes.get("comm_type")
    return getattr(attribute, attribute.WhichOneof("value")) if attribute is not None and attribute.WhichOneof("value") in INTEGERS else -1


def _integer(attributes: dict, name: str, place: str, low: int, high: int, default: int | None = None) -> int:
    """An attribute's whole number, of whatever integer type, or a boolean's 0 or 1."""
    attribute = attributes.get(name)
    if attribute is None:
        if default is None:
            raise FormatError(f"{place}: attribute {name} is missing; attributes are {quoted(', '.join(sorted(attributes)) or 'none')}")
        return default
    which = attribute.WhichOneof("value")
    if which not in INTEGERS and which != "bool_val":
        raise FormatError(f"{place}: {name} is given as {which or 'nothing that is read'}: must be a whole number, like int64_val or uint64_val")
    value = int(getattr(attribute, which))
    if not low <= value <= high:
        raise FormatError(f"{place}: {name} {value}: must be from {low} to {high}; the nearest is {min(max(value, low), high)}")
    return value


def _root(attributes: dict, place: str, ranks: int) -> int:
    """The rank that a broadcast starts from; -1, the first of its group, where none is named."""
    given = {name: _integer(attributes, name, place, 0, ranks - 1) for name in ROOT if name in attributes}
    if len(set(given.values())) > 1:
        raise FormatError(f"{place}: {' and '.join(f'{name} {rank}' for name, rank in given.items())} disagree on the root of a broadcast; give one")
    return next(iter(given.values()), -1)


def _group(attributes: dict, place: str) -> str:
    """The process group's name; that of all ranks where none is given."""
    if "pg_name" in attributes:
        which = attributes["pg_name"].WhichOneof("value")
        if which == "string_val" or which in INTEGERS:
            return str(getattr(attributes["pg_name"], which))
        raise FormatError(f"{place}: pg_name is given as {which or 'nothing that is read'}: must be text, like string_val")
    dimensions = attributes.get("involved_dim")
    if dimensions is not None and not all(dimensions.bool_list.values):
        raise FormatError(f"{place}: involved_dim leaves dimensions out: collectives of a part of the ranks are told apart by pg_name only")
    return EVERYONE


def _duration_ps(node, attributes: dict, place: str, roofline: Roofline | None) -> tuple[int, bool]:
    """Of the trace in us, or of the operations by the roofline, and then True."""
    operations = _integer(attributes, "num_ops", place, 0, MAX_ID, 0)
    timed = roofline is not None and roofline.times(operations, node.duration_us)
    if timed:
        moved_s = _integer(attributes, "tensor_size", place, 0, MAX_ID, 0) / roofline.bytes_per_s if roofline.bytes_per_s else 0.0
        duration_ps = round(max(operations / roofline.flops_per_s, moved_s) * 1e12)
    else:
        duration_ps = node.duration_us * PS_PER_US
    if duration_ps > MAX_PS:
        raise FormatError(f"{place}: takes {duration_ps / 1e12:g} s: must be at most {MAX_PS // 10**12} s")
    return duration_ps, timed
