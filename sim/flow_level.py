"""One run in mode flow: the same graph of tasks and flows over max-min fair fluid rates instead of packets.

Each flow under way has its max-min fair share of the ports of its path (`sim.flow_level_rates`), headers and the load of its
ACKs on the way back included. When its last bit has been served, its last packet arrives after the path's propagation
and one packet's store and forward at every other hop, and its last ACK after the way back: a lone flow takes as long as in
packet mode. There are no queues, marks, pauses or losses, and no congestion control: rates change at once.
"""

import time

import numpy as np

from sim.case import Case
from sim.dag_play import DagPlay
from sim.flow_level_paths import FluidFaults, ideal_fct_ps, refuse_losses, tails, volumes
from sim.flow_level_rates import change, make_fluid, with_paths
from sim.flow_level_result import FlowBooks, result_of
from sim.packet.layout import NEVER
from sim.result import Result
from sim.scenario import Scenario
from sim.units import PS_PER_S

FIRST_BIN_SHIFT = 10  # time bins of 1 ns, doubled as the run goes on
NONE = np.zeros(0, np.int64)


class FlowLevel(DagPlay):
    """A max-min fair run of one scenario."""

    def __init__(self, scenario: Scenario | Case):
        wall, cpu = time.perf_counter(), time.thread_time()
        super().__init__(scenario)
        refuse_losses(self.case)
        dag = self.case.dag
        self.faults = FluidFaults(self.case)
        self.volumes = volumes(self.case)
        self.ideal_fct_ps = ideal_fct_ps(self.case, self.table)
        self.fluid = make_fluid(dag.n_flows, self.faults.built_bps, self.case.settings.bins, FIRST_BIN_SHIFT)
        self.fluid.flow["bits"][: dag.n_flows] = self.volumes.wire_bits
        self._take_paths(self.table)
        self.books = FlowBooks(self.case, self.volumes)
        self._next_served = NEVER
        self.cpu_s["build"] = time.thread_time() - cpu
        self.wall_s = time.perf_counter() - wall

    def _take_paths(self, table) -> None:
        self.table = table
        self.fluid = with_paths(self.fluid, table, self.volumes.ack_share)
        delivered, acked = tails(self.case, table, self.volumes.wire_bits)
        self._delivered_after, self._acked_after = delivered.tolist(), acked.tolist()
        packets, acks, _, _ = self.volumes
        self._hops = (packets * np.diff(table.data_ptr) + acks * np.diff(table.ack_ptr)).tolist()

    def _open(self) -> None:
        change(self.fluid, NONE, NONE, 0)
        super()._open()

    def _step(self) -> int:
        """All of the next instant; the packet-hops that it brought to their end, and one for every event."""
        at = 0 if self._entering else min(self._next_served, self._next_due)
        fault_ps = self.faults.next_ps
        at = at if fault_ps is None else min(at, fault_ps)
        if self._ends_at(at):
            return 0
        self.now = at
        self.instants += 1
        self._coarsen()
        if fault_ps == at:
            self._apply_faults()
        gone, hops = self._serve() if self._next_served == at else (NONE, 0)
        hops += self._play()
        if len(gone) or self._entering:
            come = np.array(sorted(self._entering), np.int64)
            self._entering.clear()
            self._change(gone, come)
        return hops + 1

    def _change(self, gone: np.ndarray, come: np.ndarray) -> None:
        change(self.fluid, gone, come, self.now)
        active = int(self.fluid.g["active"][0])
        self._next_served = int(self.fluid.finish[:active].min()) if active else NEVER

    def _serve(self) -> tuple[np.ndarray, int]:
        """The flows whose last bit has been served: their ends are now known."""
        active = int(self.fluid.g["active"][0])
        gone = np.sort(self.fluid.active[:active][self.fluid.finish[:active] == self.now])
        hops = 0
        for f in gone.tolist():
            self._last_bit(f)
            hops += self._hops[f]
        return gone, hops

    def _apply_faults(self) -> None:
        """Take every flow off, change capacities and paths, put them on again."""
        active = np.sort(self.fluid.active[: int(self.fluid.g["active"][0])])
        self._change(active, NONE)
        self.books.book(self.table, self.shares())
        table, capacity_bps = self.faults.apply_due(self.now, np.array(self.acked, np.int64) >= 0)
        self.fluid.port["capacity"] = capacity_bps
        self._take_paths(table)
        self._change(NONE, active)

    def _coarsen(self) -> None:
        """Double the time bins until they hold this instant."""
        g = self.fluid.g
        while (self.now >> int(g["bin_shift"][0])) >= int(g["bins"][0]):
            by_port = self.fluid.bins.reshape(-1, int(g["bins"][0]))
            half = by_port.shape[1] // 2
            by_port[:, :half] = by_port[:, 0::2] + by_port[:, 1::2]
            by_port[:, half:] = 0
            g["bin_shift"] += 1

    def shares(self) -> np.ndarray:
        """float64[F]: how much of each flow has been served by now."""
        flow = self.fluid.flow[: self.case.dag.n_flows]
        left = flow["bits"] - flow["rate"] * ((self.end_ps - flow["since"]) / PS_PER_S)
        wire = self.volumes.wire_bits
        shares = np.divide(wire - left, wire, out=np.zeros(len(wire)), where=wire > 0)
        return np.where(self.served, 1.0, np.clip(shares, 0.0, 1.0))

    def result(self) -> Result:
        """The tables of packet mode, of the run as far as it got."""
        return result_of(self)
