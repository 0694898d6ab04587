"""Apply a scenario's faults to a running simulation, and reroute the flows they touch."""

from dataclasses import dataclass

import numpy as np

from sim.case import Case, TimedFault
from sim.packet import faults as kernel
from sim.packet.flows import FlowTable
from sim.packet.state import grow_regions, set_ps_per_byte
from sim.topology.routing import components, route

NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Detours:
    """From a time on: the flows that had not ended and go another way than planned, ascending, and their paths, one after the other."""

    at_ps: int
    flows: np.ndarray
    data_ptr: np.ndarray
    data_ports: np.ndarray
    ack_ptr: np.ndarray
    ack_ports: np.ndarray


class Faults:
    """What is down or changed at the moment; knows every flow's original path, its present one, and what detours there were."""

    def __init__(self, case: Case):
        self.case = case
        self.pending = list(case.faults)
        self.down = np.zeros(case.network.n_ports, bool)
        self.stranded: set[int] = set()
        self.ended = np.zeros(len(case.src), bool)
        self.detours: list[Detours] = []  # by time, one for every change of a link's being up

    @property
    def next_ps(self) -> int | None:
        return self.pending[0].at_ps if self.pending else None

    def apply_next(self, state, table: FlowTable, ended: np.ndarray):
        """Apply the earliest pending fault; returns the (grown) state and the new table of paths. `ended`: bool per flow."""
        self.ended = ended
        fault = self.pending.pop(0)
        if fault.kind == "link-down":
            kernel.take_down(state, fault.ports, fault.at_ps)
            self.down[fault.ports] = True
        elif fault.kind == "link-up":
            kernel.bring_up(state, fault.ports, fault.at_ps)
            self.down[fault.ports] = False
        elif fault.kind == "degrade":
            state.port["rate_bps"][fault.ports] = np.maximum(
                1, np.round(self.case.network.port_rate_bps[fault.ports] * fault.value)
            ).astype(np.int64)
            set_ps_per_byte(state.port, self.case.settings.whole_ns)
            self._follow_line_rate(state, fault)
        else:
            state.port["loss"][fault.ports] = fault.value
        if fault.kind in ("link-down", "link-up"):
            return self._reroute(state, table, fault)
        return state, table

    def _follow_line_rate(self, state, fault: TimedFault) -> None:
        """Flows of a NIC whose rate changed: none may exceed the new line rate, those at the old one go to it."""
        flow = state.flow
        mine = np.flatnonzero((flow["flow_id"] >= 0) & np.isin(flow["nic"], fault.ports))
        for i in mine.tolist():
            kernel.catch_up(state, i, fault.at_ps - 1)
        line = state.port["rate_bps"][flow["nic"][mine]]
        for column in ("rate_bps", "dcqcn_target_bps", "hpcc_reference_bps"):
            before = flow[column][mine]
            flow[column][mine] = np.where(before == flow["line_bps"][mine], line, np.minimum(before, line))
        flow["line_bps"][mine] = line

    def _reroute(self, state, table, fault: TimedFault):
        fresh = self._paths(fault.at_ps)
        active = np.flatnonzero((state.flow["flow_id"] >= 0) & (state.flow["done"] == 0))
        for i in active[np.argsort(state.flow["order"][active])].tolist():  # as they entered: so they queue up at a NIC that they move to
            f = int(state.flow["flow_id"][i])
            new = [fresh.data_ports[slice(*fresh.data_ptr[f : f + 2])], fresh.ack_ports[slice(*fresh.ack_ptr[f : f + 2])]]
            old = [table.data_ports[slice(*table.data_ptr[f : f + 2])], table.ack_ports[slice(*table.ack_ptr[f : f + 2])]]
            if all(np.array_equal(a, b) for a, b in zip(new, old, strict=True)):
                continue
            if sum(map(len, new)) + 3 > state.g[0]["region_size"]:
                self.stranded.add(f)
                continue
            if state.g[0]["free_regions"] == 0:
                state = grow_regions(state, state.flow.size)
            kernel.take_path(state, i, *new, fault.at_ps)
        return state, fresh

    def _paths(self, at_ps: int) -> FlowTable:
        """Original paths where they are whole; else the shortest way around what is down. They are noted as those from `at_ps` on."""
        case = self.case
        *data, data_moved = self._around(case.table.data_ptr, case.table.data_ports, case.src, case.dst, case.key)
        *ack, ack_moved = self._around(case.table.ack_ptr, case.table.ack_ports, case.dst, case.src, ~case.key)
        moved = np.union1d(data_moved, ack_moved)
        moved = moved[~self.ended[moved]]
        self.detours.append(Detours(at_ps, moved, *rows_of(*data, moved), *rows_of(*ack, moved)))
        return case.table._replace(data_ptr=data[0], data_ports=data[1], ack_ptr=ack[0], ack_ports=ack[1])

    def _around(self, ptr, ports, src, dst, key):
        """(ptr, ports) of paths around what is down, and which flows they are new for."""
        if not len(ports) or not self.down.any():
            return ptr, ports, NONE
        broken = np.logical_or.reduceat(self.down[ports], ptr[:-1])
        part = np.full(self.case.network.n_nodes, -1)
        together = np.zeros(len(src), bool)
        for label, nodes in enumerate(components(self.case.network, ~self.down)):
            part[nodes] = label
            together |= (part[src] == label) & (part[dst] == label)
        self.stranded |= set(np.flatnonzero(broken & ~together & ~self.ended).tolist())
        moved = np.flatnonzero(broken & together)
        if not len(moved):
            return ptr, ports, NONE
        new_ptr, new_ports = route(
            self.case.network, src[moved], dst[moved], key[moved], self.case.ecmp_seed, self.down
        )
        return *replace_rows(ptr, ports, moved, new_ptr, new_ports), moved


def rows_of(ptr, values, rows):
    """CSR of some rows of another."""
    lengths = np.diff(ptr)[rows]
    out_ptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    return out_ptr, values[np.arange(out_ptr[-1]) + np.repeat(ptr[rows] - out_ptr[:-1], lengths)]


def replace_rows(ptr, values, rows, new_ptr, new_values):
    """CSR with the given rows replaced; the other rows keep their values."""
    lengths = np.diff(ptr)
    lengths[rows] = np.diff(new_ptr)
    out_ptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    out = np.empty(out_ptr[-1], values.dtype)
    kept = np.ones(len(lengths), bool)
    kept[rows] = False
    out[np.repeat(kept, lengths)] = values[np.repeat(kept, np.diff(ptr))]
    out[np.repeat(~kept, lengths)] = new_values
    return out_ptr, out
