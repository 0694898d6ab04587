"""One run in mode flow: the same graph of tasks and flows over max-min fair fluid rates instead of packets.

Each flow under way has its max-min fair share of the ports of its path (`sim.flow_level_rates`), headers and the load of its
ACKs on the way back included. When its last bit has been served, its last packet arrives after the path's propagation
and one packet's store and forward at every other hop, and its last ACK after the way back: a lone flow takes as long as in
packet mode. There are no queues, marks, pauses or losses, and no congestion control: rates change at once.
"""

import heapq
import time

import numpy as np

from sim.case import Case, case_of
from sim.flow_level_paths import FluidFaults, ideal_fct_ps, refuse_losses, tails, volumes
from sim.flow_level_rates import change, make_fluid, with_paths
from sim.flow_level_result import FlowBooks, result_of
from sim.packet.layout import NEVER
from sim.result import Result
from sim.scenario import Scenario
from sim.simulation import Progress
from sim.units import PS_PER_S

END, ACKED, BEGIN = 0, 1, 2  # a task ends or a flow is delivered; its last ACK is back; its start time has come
FIRST_BIN_SHIFT = 10  # time bins of 1 ns, doubled as the run goes on
NONE = np.zeros(0, np.int64)


class FlowLevel:
    """A max-min fair run of one scenario, with the face of `sim.simulation.Simulation`."""

    def __init__(self, scenario: Scenario | Case):
        wall, cpu = time.perf_counter(), time.thread_time()
        self.case = scenario if isinstance(scenario, Case) else case_of(scenario)
        self.scenario = self.case.scenario
        refuse_losses(self.case)
        dag, table = self.case.dag, self.case.table
        self.table = table
        self.faults = FluidFaults(self.case)
        self.volumes = volumes(self.case)
        self.ideal_fct_ps = ideal_fct_ps(self.case, table)
        self.fluid = make_fluid(dag.n_flows, self.faults.built_bps, self.case.settings.bins, FIRST_BIN_SHIFT)
        self.fluid.flow["bits"][: dag.n_flows] = self.volumes.wire_bits
        self._take_paths(table)
        self.books = FlowBooks(self.case, self.volumes)
        self.started, self.ended, self.acked = [-1] * dag.n_nodes, [-1] * dag.n_nodes, [-1] * dag.n_flows
        self.served = np.zeros(dag.n_flows, bool)
        self._waiting, self._start_ps, self._duration_ps = dag.indegree.tolist(), dag.start_ps.tolist(), dag.task_duration_ps.tolist()
        self._done = dag.done_ptr.tolist(), dag.done_succ.tolist()
        self._after_ack = dag.acked_ptr.tolist(), dag.acked_succ.tolist()
        self._due: list[tuple[int, int]] = []  # (ps, node * 4 + what)
        self._entering: list[int] = []
        self._left, self._flows_left = dag.n_nodes, dag.n_flows
        self._next_served = NEVER
        limit_s = self.scenario.simulation.time_limit_s
        self.limit_ps = NEVER if limit_s is None else round(limit_s * PS_PER_S)
        self.now, self.instants, self.status, self._opened = 0, 0, "running", False
        self.cpu_s = {"compile": 0.0, "build": time.thread_time() - cpu, "kernel": 0.0, "orchestrate": 0.0}
        self.wall_s = time.perf_counter() - wall

    def _take_paths(self, table) -> None:
        self.table = table
        self.fluid = with_paths(self.fluid, table, self.volumes.ack_share)
        delivered, acked = tails(self.case, table, self.volumes.wire_bits)
        self._delivered_after, self._acked_after = delivered.tolist(), acked.tolist()
        packets, acks, _, _ = self.volumes
        self._hops = (packets * np.diff(table.data_ptr) + acks * np.diff(table.ack_ptr)).tolist()

    def advance(self, budget_hops: int = 500_000) -> bool:
        """Run on for flows worth about `budget_hops` packet-hops, at least one instant; True once nothing is left to do."""
        if self.status != "running":
            return True
        wall, cpu = time.perf_counter(), time.thread_time()
        if not self._opened:
            self._open()
        compiled = time.thread_time()
        while budget_hops > 0 and self.status == "running":
            budget_hops -= self._step()
        self.cpu_s["compile"] += compiled - cpu
        self.cpu_s["kernel"] += time.thread_time() - compiled
        self.wall_s += time.perf_counter() - wall
        return self.status != "running"

    def _open(self) -> None:
        self._opened = True
        change(self.fluid, NONE, NONE, 0)
        for node, waiting in enumerate(self._waiting):
            if waiting == 0:
                self._begin(node, 0)

    def _step(self) -> int:
        """All of the next instant; the packet-hops that it brought to their end, and one for every event."""
        at = 0 if self._entering else min(self._next_served, self._due[0][0] if self._due else NEVER)
        fault_ps = self.faults.next_ps
        at = at if fault_ps is None else min(at, fault_ps)
        if self._left == 0:
            self.status = "finished"
        elif at >= self.limit_ps or at == NEVER:
            self.status = "time limit" if self.limit_ps != NEVER else "deadlock"
        if self.status != "running":
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
        self.served[gone] = True
        hops = 0
        for f in gone.tolist():
            self._last_bit(f)
            hops += self._hops[f]
        return gone, hops

    def _last_bit(self, f: int) -> None:
        code = (self.case.dag.n_tasks + f) * 4
        heapq.heappush(self._due, (self.now + self._delivered_after[f], code + END))
        heapq.heappush(self._due, (self.now + self._acked_after[f], code + ACKED))

    def _play(self) -> int:
        """Tasks that end, packets that arrive and start times of this instant, and all that follows in it; how many."""
        due, now, tasks, events = self._due, self.now, self.case.dag.n_tasks, 0
        while due and due[0][0] <= now:
            _, code = heapq.heappop(due)
            node, what = code >> 2, code & 3
            events += 1
            if what == BEGIN:
                self._begin(node, now)
                continue
            ptr, successors = self._done
            if what == ACKED:
                ptr, successors = self._after_ack
                self.acked[node - tasks] = now
                self._flows_left -= 1
                self._left -= 1
            else:
                self.ended[node] = now
                self._left -= node < tasks
            for after in successors[ptr[node] : ptr[node + 1]]:
                self._waiting[after] -= 1
                if self._waiting[after] == 0:
                    self._begin(after, now)
        return events

    def _begin(self, node: int, now: int) -> None:
        """Node `node` waits for nothing more: start it, or wait for its start time."""
        tasks = self.case.dag.n_tasks
        if self._start_ps[node] > now:
            heapq.heappush(self._due, (self._start_ps[node], node * 4 + BEGIN))
            return
        self.started[node] = now
        if node < tasks:
            heapq.heappush(self._due, (now + self._duration_ps[node], node * 4 + END))
        elif self._hops[node - tasks] == 0:
            self.served[node - tasks] = True
            self._last_bit(node - tasks)
        else:
            self._entering.append(node - tasks)

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

    def cancel(self) -> None:
        """Stop; what there is can still be taken as a result."""
        if self.status == "running":
            self.status = "cancelled"

    def run(self) -> Result:
        """Run to the end without looking up."""
        while not self.advance(50_000_000):
            pass
        return self.result()

    @property
    def end_ps(self) -> int:
        """How far simulated time got."""
        return self.now if self.status != "time limit" else max(self.now, self.limit_ps - 1)

    def progress(self) -> Progress:
        """How far the run is; packet-hops are those that packet mode would have simulated by now."""
        expected, served = max(1, self.case.packet_hops), self.shares()
        hops = int(served @ np.array(self._hops, float)) if len(served) else 0
        dag = self.case.dag
        fraction = min(1.0, hops / expected) if dag.n_flows else 1 - self._left / max(1, dag.n_nodes)
        fraction = 1.0 if self.status == "finished" else fraction
        return Progress(
            fraction=fraction, sim_time_s=self.end_ps / PS_PER_S, packet_hops=hops, packet_hops_expected=expected,
            flows_finished=dag.n_flows - self._flows_left, flows_total=dag.n_flows,
            bytes_left=int(self.table.size_bytes.sum() - np.floor(served * self.table.size_bytes).sum()),
            eta_s=self.wall_s * (1 - fraction) / fraction if 0 < fraction and self.wall_s > 0.05 else None,
        )  # fmt: skip

    def result(self) -> Result:
        """The tables of packet mode, of the run as far as it got."""
        return result_of(self)
