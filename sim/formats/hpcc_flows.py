"""Flow files of the HPCC simulator: nFlows, then src dst pg dport bytes start_s for each."""

from dataclasses import dataclass

import numpy as np

from sim.errors import FormatError, quoted
from sim.formats.text import LineOfWord
from sim.scenario_parts import MAX_FLOW_BYTES, MAX_START_US
from sim.topology.network import Network, list_nodes
from sim.units import PS_PER_S, is_whole, plain_number, ps_from_s

FIRST_PORT = 10_000  # source port of a pair's first flow, HPCC simulator
COLUMNS = ("src", "dst", "pg", "dport", "bytes", "start_s")
WHOLE = {"src": 2**31, "dst": 2**31, "pg": 8, "dport": 2**16, "bytes": MAX_FLOW_BYTES + 1}
LIKE = "a flow is: src dst pg dport bytes start_s, like 0 1 3 100 1000000 2.0"
RDMA_CLASS = 3
FIRST_DPORT = 100  # destination port of written flows


@dataclass(frozen=True)
class HpccFlows:
    """Flows by rising start, equal starts in the order of the file. Arrays of n."""

    src: np.ndarray  # int32, node id
    dst: np.ndarray  # int32, node id
    pg: np.ndarray  # int32, priority group
    dport: np.ndarray  # int32
    sport: np.ndarray  # int32, from 10000 for each pair
    bytes: np.ndarray  # int64
    start_ps: np.ndarray  # int64
    notices: tuple[str, ...]


def read_flows(text: str, network: Network, file: str = "flows") -> HpccFlows:
    """The flows of `text`; FormatError with file, line, value, rule and the legal range for the first fault."""
    words = text.split()
    if not words or not is_whole(words[0]):
        raise FormatError(f"{file}:{LineOfWord(text)(0) if words else 1}: {quoted(' '.join(words[:1]))}: must begin with the number of flows")
    n, body = int(words[0]), words[1:]
    line_of_word = LineOfWord(text)
    if len(body) != 6 * n:
        rows = [len(row.split()) for row in text.splitlines()]
        odd = next(
            (line for line, size in enumerate(rows, 1) if size % 6 and not (size == 1 and line == line_of_word(0))),
            None,
        )
        if odd and len(body) % 6:
            raise FormatError(f"{file}:{odd}: {rows[odd - 1]} values: {LIKE}")
        raise FormatError(
            f"{file}:{line_of_word(0)}: {n} flows announced, {len(body) // 6} found; "
            f"the nearest that works is to write {len(body) // 6} there, if the file is not cut off"
        )
    columns = {name: body[index::6] for index, name in enumerate(COLUMNS)}

    def fault(name: str, flow: int, rule: str) -> FormatError:
        return FormatError(
            f"{file}:{line_of_word(1 + 6 * flow + COLUMNS.index(name))}: {name} {quoted(columns[name][flow])}: {rule}"
        )

    numbers = {name: _whole(columns[name], limit, name, fault) for name, limit in WHOLE.items()}
    start_ps = _starts(columns["start_s"], fault)
    for name in ("src", "dst"):
        _check_hosts(numbers[name], network, name, fault)
    same = np.flatnonzero(numbers["src"] == numbers["dst"])
    if len(same):
        raise fault(
            "dst",
            same[0],
            f"a flow cannot go to itself; legal are the other hosts: {list_nodes(network, network.hosts)}",
        )
    order = np.argsort(start_ps, kind="stable")
    src, dst = numbers["src"][order], numbers["dst"][order]
    return HpccFlows(
        src=src.astype(np.int32),
        dst=dst.astype(np.int32),
        pg=numbers["pg"][order].astype(np.int32),
        dport=numbers["dport"][order].astype(np.int32),
        sport=(FIRST_PORT + _count_within_pair(src, dst, network.n_nodes)).astype(np.int32),
        bytes=numbers["bytes"][order],
        start_ps=start_ps[order],
        notices=_notices(numbers, order),
    )


def flows_text(src, dst, n_bytes, start_ps, dport: int = FIRST_DPORT) -> str:
    """Flows in that format: node ids, RDMA class, whole bytes, seconds to the picosecond."""
    rows = [
        f"{a} {b} {RDMA_CLASS} {dport} {size} {start // PS_PER_S}.{start % PS_PER_S:012d}"
        for a, b, size, start in zip(*(np.asarray(column).tolist() for column in (src, dst, n_bytes, start_ps)), strict=True)
    ]
    return "\n".join([str(len(rows)), *rows]) + "\n"


def _whole(column: list[str], limit: int, name: str, fault) -> np.ndarray:
    bad = next(
        (flow for flow, word in enumerate(column) if not (word.isascii() and word.isdecimal()) or len(word) > 18 or int(word) >= limit), None
    )
    if bad is not None:
        value = plain_number(column[bad])
        near = "" if value is None else f"; the nearest is {round(min(max(value, 0), limit - 1))}"
        raise fault(name, bad, f"must be a whole number from 0 to {limit - 1}{near}; {LIKE}")
    return np.array(list(map(int, column)), np.int64)


def _starts(column: list[str], fault) -> np.ndarray:
    known: dict[str, int] = {}
    for flow, word in enumerate(column):
        if word not in known:
            value = plain_number(word)
            if value is None or not 0 <= value * 1e6 <= MAX_START_US:
                near = "" if value is None else f"; the nearest is {0 if value < 0 else MAX_START_US / 1e6:g}"
                raise fault("start_s", flow, f"must be seconds from 0 to {MAX_START_US / 1e6:g}, like 2.0{near}")
            known[word] = ps_from_s(word)
    return np.array([known[word] for word in column], np.int64)


def _check_hosts(nodes: np.ndarray, network: Network, name: str, fault) -> None:
    outside = np.flatnonzero(nodes >= network.n_nodes)
    hosts = list_nodes(network, network.hosts)
    if len(outside):
        raise fault(name, outside[0], f"there is no such node of {network.n_nodes}; hosts are {hosts}")
    switches = np.flatnonzero(~network.node_is_host[nodes])
    if len(switches):
        raise fault(name, switches[0], f"is a switch; flows run between hosts, which are {hosts}")


def _count_within_pair(src: np.ndarray, dst: np.ndarray, n_nodes: int) -> np.ndarray:
    """How many earlier flows have the same src and dst."""
    pair = src * n_nodes + dst
    order = np.argsort(pair, kind="stable")
    first = np.r_[True, pair[order][1:] != pair[order][:-1]] if len(pair) else np.zeros(0, bool)
    position = np.arange(len(pair))
    count = np.empty(len(pair), np.int64)
    count[order] = position - np.maximum.accumulate(np.where(first, position, 0))
    return count


def _notices(numbers: dict[str, np.ndarray], order: np.ndarray) -> tuple[str, ...]:
    said = []
    if (order[1:] < order[:-1]).any():
        said.append("flows were not in order of their start and have been sorted")
    empty = int((numbers["bytes"] == 0).sum())
    if empty:
        said.append(f"flows of 0 bytes are done after their path's delay: {empty}")
    other = np.unique(numbers["pg"][numbers["pg"] != RDMA_CLASS]).tolist()
    if other:
        said.append(f"priority groups {', '.join(map(str, other))} share one data class with group {RDMA_CLASS}")
    return tuple(said)
