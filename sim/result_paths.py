"""The ways of flows over time: the path on which each began, and those that it took on when links failed or came back."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sim.faults import Detours, replace_rows, rows_of
from sim.packet.flows import FlowTable

NEVER = np.iinfo(np.int64).max
NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Reroutes:
    """A row for every change of a flow's path while it was under way, by flow and then by time; paths as CSR lists of ports."""

    flow: np.ndarray  # int64[C]
    at_ps: np.ndarray  # int64[C]
    data_ptr: np.ndarray  # int64[C+1]
    data_ports: np.ndarray
    ack_ptr: np.ndarray
    ack_ports: np.ndarray


NO_REROUTES = Reroutes(NONE, NONE, np.zeros(1, np.int64), NONE, np.zeros(1, np.int64), NONE)


def taken(table: FlowTable, detours: list[Detours], start_ps: np.ndarray, acked_ps: np.ndarray) -> tuple[FlowTable, Reroutes]:
    """The planned `table` with the path on which each flow began in place of the planned one, and all that was changed later.

    `start_ps`, `acked_ps`: int64[F], -1 where it never happened. A flow that starts as a link fails starts after it.
    """
    begun, found = table, []
    detours = [one for one, after in pairwise([*detours, None]) if after is None or after.at_ps > one.at_ps]
    for k, now in enumerate(detours):
        until = detours[k + 1].at_ps if k + 1 < len(detours) else NEVER
        own = np.flatnonzero((start_ps[now.flows] >= now.at_ps) & (start_ps[now.flows] < until))
        begun = begun._replace(**_replaced(begun, now, own))
        before = detours[k - 1] if k else None
        concerned = now.flows if before is None else np.union1d(now.flows, before.flows)
        started, ended = start_ps[concerned], acked_ps[concerned]
        under_way = (started >= 0) & (started < now.at_ps) & ((ended < 0) | (ended >= now.at_ps)) & (table.size_bytes[concerned] > 0)
        for flow in concerned[under_way].tolist():
            way = _way(table, now, flow)
            if way != _way(table, before, flow):
                found.append((flow, now.at_ps, *way))
    return begun, _reroutes(sorted(found)) if found else NO_REROUTES


def _replaced(table: FlowTable, detours: Detours, own: np.ndarray) -> dict:
    if not len(own):
        return {}
    data = replace_rows(table.data_ptr, table.data_ports, detours.flows[own], *rows_of(detours.data_ptr, detours.data_ports, own))
    ack = replace_rows(table.ack_ptr, table.ack_ports, detours.flows[own], *rows_of(detours.ack_ptr, detours.ack_ports, own))
    return dict(zip(("data_ptr", "data_ports", "ack_ptr", "ack_ports"), (*data, *ack), strict=True))


def _way(table: FlowTable, detours: Detours | None, flow: int) -> tuple[list[int], list[int]]:
    """Ports of data and of ACKs of a flow, as planned or around what was down."""
    paths, row = table, flow
    if detours is not None and len(detours.flows):
        place = int(np.searchsorted(detours.flows, flow))
        if place < len(detours.flows) and detours.flows[place] == flow:
            paths, row = detours, place
    return tuple(ports[ptr[row] : ptr[row + 1]].tolist() for ptr, ports in ((paths.data_ptr, paths.data_ports), (paths.ack_ptr, paths.ack_ports)))


def _reroutes(changes: list[tuple]) -> Reroutes:
    flow, at_ps, *ways = zip(*changes, strict=True)
    csr = [(np.cumsum([0, *map(len, way)]), np.concatenate([np.array(ports, np.int32) for ports in way])) for way in ways]
    return Reroutes(np.array(flow, np.int64), np.array(at_ps, np.int64), *csr[0], *csr[1])


def ways(raw, flows: np.ndarray, at_ps=None) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """(ptr, ports) of the data of some flows of a `RawRun`, and of their ACKs, at a time or each at its own; None: as they began."""
    reroutes, rows = raw.reroutes, flows
    if at_ps is not None and len(reroutes.flow):
        first, end = (np.searchsorted(reroutes.flow, flows, side) for side in ("left", "right"))
        after, times = first.copy(), np.append(reroutes.at_ps, NEVER)
        while (later := (after < end) & (times[after] <= at_ps)).any():
            after += later
        rows = np.where(after > first, len(raw.data_ptr) - 2 + after, flows)
    return _rows(rows, raw.data_ptr, raw.data_ports, reroutes.data_ptr, reroutes.data_ports), _rows(
        rows, raw.ack_ptr, raw.ack_ports, reroutes.ack_ptr, reroutes.ack_ports
    )


def _rows(rows, ptr, ports, later_ptr, later_ports):
    """CSR of some rows of one CSR with another below it."""
    if not len(later_ptr) > 1:
        return rows_of(ptr, ports, rows)
    return rows_of(np.concatenate((ptr, ptr[-1] + later_ptr[1:])), np.concatenate((ports[: ptr[-1]], later_ports)), rows)


def of_flow(raw, flow: int) -> list[tuple[int, list[int]]]:
    """(since when in ps, ports of its data) of every path of a flow, the one on which it began first."""
    reroutes, begun = raw.reroutes, raw.data_ports[slice(*raw.data_ptr[flow : flow + 2])].tolist()
    later = np.flatnonzero(reroutes.flow == flow)
    return [
        (int(raw.start_ps[raw.dag.n_tasks + flow]), begun),
        *((int(reroutes.at_ps[row]), reroutes.data_ports[slice(*reroutes.data_ptr[row : row + 2])].tolist()) for row in later),
    ]


def stays(raw, port: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(flow, from ps, until ps) of every time in which a flow's data took a port, by flow and time; NEVER: until it was done."""
    reroutes = raw.reroutes
    flow = np.concatenate((np.arange(len(raw.data_ptr) - 1), reroutes.flow))
    since = np.concatenate((raw.start_ps[raw.dag.n_tasks :], reroutes.at_ps))
    there = np.zeros(len(flow), bool)
    for above, ptr, ports in ((0, raw.data_ptr, raw.data_ports), (len(raw.data_ptr) - 1, reroutes.data_ptr, reroutes.data_ports)):
        where = np.flatnonzero(ports[: ptr[-1]] == port)
        there[above + np.searchsorted(ptr, where, side="right") - 1] = True
    order = np.lexsort((np.arange(len(flow)), flow))
    flow, since, there = flow[order], since[order], there[order]
    until = np.append(np.where(flow[1:] == flow[:-1], since[1:], NEVER), NEVER)
    return flow[there], since[there], until[there]
