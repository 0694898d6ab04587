"""Chakra execution traces (MLCommons): one file per rank, <prefix>.<rank>.et, of length-prefixed protobuf messages."""

import io
import re
from dataclasses import dataclass, field

import numpy as np
from google.protobuf import proto
from google.protobuf.message import DecodeError

from sim.errors import FormatError, did_you_mean, nearest_words
from sim.formats.astra_system import KEYS, line_of_key, read_object
from sim.formats.chakra_messages import GlobalMetadata, Node
from sim.formats.chakra_node import Roofline, Row, row_of
from sim.formats.text import quoted
from sim.workload.program_chakra_work import COLLECTIVE, COLLECTIVES, EVERYONE, MAX_NODES, MAX_RANKS, ChakraWork

FILE_NAME = re.compile(r"(.*)\.(\d{1,9})\.et")


@dataclass
class Column:
    """The nodes of one rank as they are read."""

    file: str
    ids: dict[int, int] = field(default_factory=dict)  # position of each node id
    rows: list[Row] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    deps: list[list[int]] = field(default_factory=list)  # node ids
    untimed: int = 0
    memory: int = 0


def read_chakra(files: dict[str, bytes], groups: tuple[str, str] | None = None, roofline: Roofline | None = None) -> tuple[ChakraWork, list[str]]:
    """The traces of all ranks, and what is worth saying; FormatError, one line, for the first fault.

    Parameters
    ----------
    files : content of every <prefix>.<rank>.et by file name
    groups : (file name, JSON text) of the ranks in each process group; without it a group is the ranks that use its name
    roofline : times compute that has no duration, or all that has operations
    """
    columns = [_read_rank(name, files[name], len(files), roofline) for name in ordered(list(files))]
    if sum(len(column.rows) for column in columns) > MAX_NODES:
        raise FormatError(f"{columns[0].file}: these traces have more than {MAX_NODES} nodes in all, which is the most that is read")
    given = read_groups(*groups, len(columns)) if groups else {}
    used: dict[str, list[int]] = {}
    for rank, column in enumerate(columns):
        for name in dict.fromkeys(row.group for row in column.rows if row.group is not None):
            used.setdefault(name, []).append(rank)
    names = sorted(used)
    unknown = next((name for name in names if given and name != EVERYONE and name not in given), None)
    if unknown is not None:
        raise FormatError(f"{columns[used[unknown][0]].file}: pg_name {quoted(unknown)} is not in {groups[0]}: {did_you_mean(unknown, given)}")
    everyone = list(range(len(columns)))
    members = [everyone if name == EVERYONE else given.get(name, used[name]) for name in names]
    for name, ranks in zip(names, members, strict=True):
        own = set(ranks)
        stranger = next((rank for rank in used[name] if rank not in own), None)
        if stranger is not None:
            raise FormatError(f"{columns[stranger].file}: rank {stranger} uses group {quoted(name)}, whose ranks are {ranks[:8]} in {groups[0]}")
    _check_roots(columns, dict(zip(names, members, strict=True)))
    return _joined(columns, names, members), _notices(columns, roofline)


def _check_roots(columns: list[Column], members: dict[str, list[int]]) -> None:
    """FormatError for a broadcast from a rank that is not in its group."""
    own = {name: set(ranks) for name, ranks in members.items()}
    for column in columns:
        for node, row in zip(column.ids, column.rows, strict=True):
            if row.kind == COLLECTIVE and row.peer >= 0 and row.peer not in own[row.group]:
                ranks = members[row.group]
                nearest = min(ranks, key=lambda rank: abs(rank - row.peer))
                raise FormatError(
                    f"{column.file}: node {node}: root {row.peer} of a broadcast is a rank among all, but not in group {quoted(row.group)}, "
                    f"whose ranks are {ranks[:8]}; the nearest is {nearest}"
                )


def ordered(names: list[str]) -> list[str]:
    """File names by rank; FormatError unless they are <prefix>.0.et, <prefix>.1.et, ... without a gap."""
    found: dict[int, str] = {}
    prefix = None
    for name in sorted(names):
        match = FILE_NAME.fullmatch(name)
        if not match:
            raise FormatError(f"{name}: must be named <prefix>.<rank>.et, like trace.0.et")
        if prefix not in (None, match[1]):
            raise FormatError(f"{name}: its prefix is {quoted(match[1])}, that of {names[0]} another: files of one trace have one prefix")
        prefix, rank = match[1], int(match[2])
        if rank in found:
            raise FormatError(f"{name}: rank {rank} is given twice, by {found[rank]} too")
        found[rank] = name
    missing = next((rank for rank in range(len(found)) if rank not in found), None)
    if missing is not None:
        raise FormatError(f"{prefix}.{missing}.et is missing: {len(found)} files are given, up to rank {max(found)}; ranks must be 0 to {len(found) - 1}")
    if not 1 <= len(found) <= MAX_RANKS:
        raise FormatError(f"{len(found)} trace files: must be from 1 to {MAX_RANKS}")
    return [found[rank] for rank in range(len(found))]


def _read_rank(file: str, content: bytes, ranks: int, roofline: Roofline | None) -> Column:
    rank, column, stream = int(FILE_NAME.fullmatch(file)[2]), Column(file), io.BytesIO(content)
    if not content:
        raise FormatError(f"{file}: is empty")
    message = 0
    while True:
        begins = stream.tell()
        place = f"{file}: message {message} at byte {begins}"
        try:
            node = proto.parse_length_prefixed(Node if message else GlobalMetadata, stream)
        except (DecodeError, ValueError, TypeError) as problem:
            raise FormatError(f"{place}: is damaged or cut short: {' '.join(str(problem).split())[:100]}") from None
        if node is None:
            break
        if message:
            _add(column, node, place, rank, ranks, roofline)
        else:
            _check_head(file, node, content)
        message += 1
    for position, deps in enumerate(column.deps):
        wrong = next((dep for dep in deps if dep not in column.ids), None)
        if wrong is not None:
            raise FormatError(f"{file}: node {list(column.ids)[position]} depends on node {wrong}, which is not in this file of {len(column.ids)} nodes")
    return column


def _check_head(file: str, metadata, content: bytes) -> None:
    """The first message is the metadata, whose field 1 is text; that of a node is a number."""
    try:
        first = proto.parse_length_prefixed(Node, io.BytesIO(content))
    except (DecodeError, ValueError, TypeError):
        return
    if not metadata.version and first.type:
        raise FormatError(f"{file}: message 0 at byte 0: is a node: must be the GlobalMetadata with the version, before all nodes")


def _add(column: Column, node, place: str, rank: int, ranks: int, roofline: Roofline | None) -> None:
    place = f"{place}, node {node.id}"
    if node.id in column.ids:
        raise FormatError(f"{place}: id {node.id} stands twice in this file")
    deps = sorted({*node.ctrl_deps, *node.data_deps})
    if node.id in deps:
        raise FormatError(f"{place}: depends on itself")
    row = row_of(node, place, rank, ranks, roofline)
    column.untimed += node.type == 4 and row.duration_ps == 0
    column.memory += node.type in (2, 3) and row.duration_ps == 0
    column.ids[node.id] = len(column.ids)
    column.rows.append(row)
    column.names.append(node.name)
    column.deps.append(deps)


def read_groups(file: str, text: str, ranks: int) -> dict[str, list[int]]:
    """Ranks of each group of a JSON object {"name": [ranks]}; FormatError, one line, for the first fault."""
    content = read_object(text, file)
    for name, members in content.items():
        if not isinstance(members, list) or not members or any(type(rank) is not int or not 0 <= rank < ranks for rank in members):
            near = nearest_words(name, KEYS)
            setting = f"; or, as a key of system.json, {near}" if near.startswith("did you mean") else ""
            raise FormatError(
                f"{file}:{line_of_key(text, name)}: group {quoted(name)}: must be a list of ranks from 0 to {ranks - 1}, like [0, 1]{setting}"
            )
        if len(set(members)) != len(members):
            raise FormatError(f"{file}:{line_of_key(text, name)}: group {quoted(name)} has a rank twice")
    return {name: sorted(members) for name, members in content.items()}


def _joined(columns: list[Column], groups: list[str], members: list[list[int]]) -> ChakraWork:
    number = {name: index for index, name in enumerate(groups)}
    first, deps, n_deps, group = 0, [], [], []
    for column in columns:
        for own in column.deps:
            deps += [first + column.ids[dep] for dep in own]
            n_deps.append(len(own))
        group += [-1 if row.group is None else number[row.group] for row in column.rows]
        first += len(column.rows)
    rows = np.array([row[:7] for column in columns for row in column.rows], np.int64).reshape(-1, 7)
    ids = [id for column in columns for id in column.ids]
    return ChakraWork(
        np.array([len(column.rows) for column in columns], np.int64), np.array(ids, np.uint64), *rows.T[:6].copy(), rows[:, 6].copy(),
        np.array(group, np.int64), np.array(n_deps, np.int64), np.array(deps, np.int64), [name for column in columns for name in column.names],
        groups, members,
    )  # fmt: skip


def _notices(columns: list[Column], roofline: Roofline | None) -> list[str]:
    said = []
    untimed, memory = sum(column.untimed for column in columns), sum(column.memory for column in columns)
    if untimed:
        said.append(f"{untimed} COMP nodes have neither a duration nor operations: they take no time")
    if memory:
        said.append(f"{memory} MEM_LOAD and MEM_STORE nodes have no duration: they take no time")
    timed = sum(row.by_roofline for column in columns for row in column.rows)
    if timed:
        said.append(f"{timed} COMP nodes are timed by their operations: max(num_ops / {roofline.flops_per_s:.3g} per s, tensor_size over memory bandwidth)")
    gathers = sum(1 for column in columns for row in column.rows if row.kind == COLLECTIVE and COLLECTIVES[row.collective] == "all-gather")
    if gathers:
        said.append(f"comm_size of {gathers} all-gathers is taken as what each rank contributes, as ASTRA-sim does")
    return said
