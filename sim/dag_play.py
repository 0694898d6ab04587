"""A graph of tasks and flows played in Python: the part that runs without packets of their own have in common.

A flow is served somewhere else; when its last bit has been, its end and its last ACK follow after times that are known then.
"""

import heapq
import time

import numpy as np

from sim.case import Case, case_of
from sim.packet.layout import NEVER
from sim.result import Result
from sim.scenario import Scenario
from sim.simulation import Progress
from sim.units import PS_PER_S

END, ACKED, BEGIN = 0, 1, 2  # a task ends or a flow is delivered; its last ACK is back; its start time has come


class DagPlay:
    """A run with the face of `sim.simulation.Simulation`; subclasses say how flows are served.

    They fill `_hops` (packet-hops of each flow), `_delivered_after` and `_acked_after` (ps from a flow's last bit), and have
    `_step()`, `shares()` and `result()`. Flows that begin are collected in `_entering`.
    """

    def __init__(self, scenario: Scenario | Case):
        self.case = scenario if isinstance(scenario, Case) else case_of(scenario)
        self.scenario = self.case.scenario
        self.table = self.case.table
        dag = self.case.dag
        self.started, self.ended, self.acked = [-1] * dag.n_nodes, [-1] * dag.n_nodes, [-1] * dag.n_flows
        self.served = np.zeros(dag.n_flows, bool)
        self._waiting, self._start_ps, self._duration_ps = dag.indegree.tolist(), dag.start_ps.tolist(), dag.task_duration_ps.tolist()
        self._done = dag.done_ptr.tolist(), dag.done_succ.tolist()
        self._after_ack = dag.acked_ptr.tolist(), dag.acked_succ.tolist()
        self._due: list[tuple[int, int]] = []  # (ps, node * 4 + what)
        self._entering: list[int] = []
        self._left, self._flows_left = dag.n_nodes, dag.n_flows
        limit_s = self.scenario.simulation.time_limit_s
        self.limit_ps = NEVER if limit_s is None else round(limit_s * PS_PER_S)
        self.now, self.instants, self.status, self._opened = 0, 0, "running", False
        self.cpu_s = {"compile": 0.0, "build": 0.0, "kernel": 0.0, "orchestrate": 0.0}
        self.wall_s = 0.0

    def advance(self, budget_hops: int = 500_000) -> bool:
        """Run on for what costs about as much as `budget_hops` packet-hops, at least one step; True once nothing is left to do."""
        if self.status != "running":
            return True
        wall, cpu = time.perf_counter(), time.thread_time()
        if not self._opened:
            self._opened = True
            self._open()
        compiled = time.thread_time()
        while budget_hops > 0 and self.status == "running":
            budget_hops -= self._step()
        self.cpu_s["compile"] += compiled - cpu
        self.cpu_s["kernel"] += time.thread_time() - compiled
        self.wall_s += time.perf_counter() - wall
        return self.status != "running"

    def _open(self) -> None:
        for node, waiting in enumerate(self._waiting):
            if waiting == 0:
                self._begin(node, 0)

    def _ends_at(self, at: int) -> bool:
        """Whether the run is over, with `at` the next instant (NEVER: there is none)."""
        if self._left == 0:
            self.status = "finished"
        elif at >= self.limit_ps or at == NEVER:
            self.status = "time limit" if self.limit_ps != NEVER else "deadlock"
        return self.status != "running"

    @property
    def _next_due(self) -> int:
        return self._due[0][0] if self._due else NEVER

    def _last_bit(self, f: int) -> None:
        """Flow `f` has been served at this instant."""
        self.served[f] = True
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
            if what == ACKED and (later := self._acked_later(node - tasks)) is not None:
                heapq.heappush(due, (later, code))
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

    def _acked_later(self, f: int) -> int | None:
        """When to look again for the last ACK of flow `f`, if it is not back by now as was expected."""
        return None

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
            self._last_bit(node - tasks)
        else:
            self._entering.append(node - tasks)

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

    def kernel_counters(self) -> dict | None:
        """What only the wormhole kernel counts."""
        return None

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
            kernel=self.kernel_counters(),
        )  # fmt: skip
