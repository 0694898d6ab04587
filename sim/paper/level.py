"""One run at level `paper`: partitions go from one change of their flows to the next along what the memo knows of their conflict graphs.

The published method (Long et al., NSDI 2026): on a miss the partition's packets are simulated until its rates pass the range test;
from then on, and on a hit, it moves at once to the next change, a flow that enters or completes or a fault. What the paper leaves
open is decided here so. A transient is simulated as far as somebody needs it, whatever the sizes of flows, for the key knows none.
Latency is not part of it: a flow counts as served when its last bit has passed its bottleneck; its last ACK comes back over empty
ports, unless its packets go on being simulated. Where flows leave a partition whose
packets are being simulated, these go on; where flows enter, or after a hit, the rates and what controllers remember are kept, and what
was queued is sent again. Rates within about theta of each other are equal in the key.
"""

import heapq
import time

import numpy as np

from sim.case import Case
from sim.dag_play import DagPlay
from sim.errors import RunError
from sim.flow_level_paths import FluidFaults, ideal_fct_ps, volumes
from sim.packet.layout import NEVER
from sim.paper.books import PaperBooks
from sim.paper.carry import Carry
from sim.paper.fabric import Fabric
from sim.paper.memo import Memo
from sim.paper.outcome import Outcome
from sim.paper.partitions import Census, Partition, components
from sim.paper.result import counters, result_of
from sim.paper.transient import SAMPLE_PS, Transient
from sim.result import Result
from sim.scenario import Scenario

GROW_HOPS = 200_000  # packet-hops between two looks at the outside world
INSTANT_HOPS, FORM_HOPS = 200, 1000  # packet-hops that take as long as an instant, and as forming a partition
DONE_SHARE, DONE_PACKETS = 0.01, 1 / 16  # what may be missing of a flow where another one of its partition is served: the lesser, at least a byte


class PaperLevel(DagPlay):
    """A run by the published method. `replay`: known graphs are hits; `skip`: steady stretches are not simulated."""

    mode, level = "wormhole", "paper"

    def __init__(self, scenario: Scenario | Case, *, replay: bool = True, skip: bool = True):
        wall, cpu = time.perf_counter(), time.thread_time()
        super().__init__(scenario)
        _refuse_losses(self.case)
        simulation, flows = self.scenario.simulation, self.case.dag.n_flows
        self.faults = FluidFaults(self.case)
        self.volumes = volumes(self.case)
        self.ideal_fct_ps = ideal_fct_ps(self.case, self.table)
        self.carry = Carry(self.case.settings)
        self.memo = Memo(simulation.paper_theta, replay=replay)
        self.census = Census()
        self.books = PaperBooks(self.case, self.volumes)
        self._test = simulation.paper_theta, simulation.paper_samples, skip
        self._take_fabric(self.table, self.faults.built_bps)
        self.left_bytes = self.table.size_bytes.astype(float)
        size = self.left_bytes
        self._missing = np.maximum(1.0, np.minimum(DONE_SHARE * size, DONE_PACKETS * self.case.settings.payload_bytes))
        self._carried, self._rate_bps = self.carry.rows(flows), np.zeros(flows)
        self._order, self._entered = [0] * flows, 0
        self._forecasts: list[tuple[int, int, int]] = []  # (ps, number, ps from): heap, entries of partitions gone included
        self._growing: dict[int, Partition] = {}
        self._held: list[int] = []  # flows without a path
        self._acks: dict[int, tuple[Transient, int, int]] = {}  # flows served: where their ACKs are simulated, as which, its time 0
        self._gone: list[Outcome] = []  # of partitions dissolved in this instant
        self.cut_short = 0
        self.cpu_s["build"] = time.thread_time() - cpu
        self.wall_s = time.perf_counter() - wall

    def _take_fabric(self, table, capacity_bps: np.ndarray) -> None:
        self.table, self.fabric = table, Fabric(self.case, table, self.volumes.wire_bits, capacity_bps)
        self._delivered_after, self._acked_after = self.fabric.delivered_after_ps.tolist(), self.fabric.acked_after_ps.tolist()
        packets, acks, _, _ = self.volumes
        self._hops = (packets * np.diff(table.data_ptr) + acks * np.diff(table.ack_ptr)).tolist()

    def keep(self) -> None:
        """Nothing is kept for later runs: what this level learns holds for its own theta and l, and not exactly."""

    def _step(self) -> int:
        """The next instant, or a piece of what has to be known before it; what it cost in packet-hops."""
        at = 0 if self._entering else min(self._next_due, self._next_forecast())
        fault_ps = self.faults.next_ps
        at = at if fault_ps is None else min(at, fault_ps)
        lagging = self._lagging(min(at, self.limit_ps))
        if lagging is not None:
            return self._grow(lagging.outcome)
        if self._ends_at(at):
            return 0
        self.now = at
        self.instants += 1
        return INSTANT_HOPS + self._instant(fault_ps == at)

    def _next_forecast(self) -> int:
        heap, active = self._forecasts, self.census.active
        while heap:
            at, number, from_ps = heap[0]
            partition = active.get(number)
            if partition is not None and partition.from_ps == from_ps and partition.due_ps == at:
                return at
            heapq.heappop(heap)
        return NEVER

    def _lagging(self, until_ps: int) -> Partition | None:
        """The partition whose future is known least far, if that is not to `until_ps`."""
        if not self._growing:
            return None
        reach = {number: one.from_ps + one.outcome.known * SAMPLE_PS for number, one in self._growing.items()}
        number = min(reach, key=lambda number: (reach[number], number))
        return self._growing[number] if reach[number] < until_ps else None

    def _grow(self, outcome: Outcome) -> int:
        cost = self.memo.grow(outcome, GROW_HOPS)
        for partition in [one for one in self._growing.values() if one.outcome is outcome]:
            self._forecast(partition)
        return cost

    def _forecast(self, partition: Partition) -> None:
        """Note when the partition's first flow is served, if that is known."""
        first = partition.outcome.first(partition.left_bytes)
        if first is None:
            self._growing[partition.number] = partition
            return
        self._growing.pop(partition.number, None)
        partition.due_ps = NEVER if not np.isfinite(first) else partition.from_ps + max(1, round(first * SAMPLE_PS))
        if partition.due_ps < NEVER:
            heapq.heappush(self._forecasts, (partition.due_ps, partition.number, partition.from_ps))

    def _instant(self, fault: bool) -> int:
        """All that happens now: faults, flows served, tasks, flows that enter; the partitions concerned are formed anew."""
        left: dict[int, Partition] = {}  # flows, and the partition that they were in
        if fault:
            for partition in list(self.census.active.values()):
                self._dissolve(partition, left)
            self._apply_faults()
        while self._next_forecast() == self.now:
            self._dissolve(self.census.active[self._forecasts[0][1]], left)
        self._play()
        come, self._entering = sorted(self._entering), []
        for f in come:
            self._order[f], self._entered = self._entered, self._entered + 1
            self._rate_bps[f] = self.fabric.line_bps(f)
            for partition in self.census.touched(self.fabric.ports(f)).values():
                self._dissolve(partition, left)
        flows = [*left, *come]
        if fault:
            flows, self._held = [*flows, *self._held], []
            left = dict.fromkeys(left)
        if self.faults.down.any():
            self._held += [f for f in flows if not self.fabric.is_whole(f)]
            flows = [f for f in flows if self.fabric.is_whole(f)]
        cost = self._form(sorted(flows, key=self._order.__getitem__), left)
        for outcome in self._gone:
            self.memo.let_go(outcome)
        self._gone.clear()
        return cost

    def _form(self, flows: list[int], left: dict[int, Partition]) -> int:
        """Make partitions of these flows, which share no port with any other; what it cost."""
        groups = components(flows, self.fabric.ports)
        before = {f: partition.number for f, partition in left.items() if partition is not None}
        for (group, ports), number in zip(groups, self.census.numbers([group for group, _ in groups], before), strict=True):
            paths, rates = [self.fabric.ports(f) for f in group], self._rate_bps[group].tolist()
            outcome, order, hit = self.memo.look_up(paths, rates, lambda group=group: self._new(group, left))
            group = [group[i] for i in order.tolist()]
            partition = Partition(number, group, self.left_bytes[group], ports, outcome, hit, self.now)
            self.census.add(partition)
            self._forecast(partition)
        return FORM_HOPS * len(groups)

    def _new(self, flows: list[int], left: dict[int, Partition]) -> Outcome:
        """What is not known yet of these flows: if they are all that is left of a partition whose packets are there, by going on with these."""
        fabric, carry, carried, outcome = self.fabric, self.carry, self._carried[flows], None
        parent = left.get(flows[0])
        if parent is not None and not parent.hit and set(flows) == {f for f, other in left.items() if other is parent}:
            place = {f: i for i, f in enumerate(parent.flows)}
            outcome = parent.outcome.hand_on(np.array([place[f] for f in flows]), (self.now - parent.from_ps) / SAMPLE_PS, self.left_bytes[flows])
        if outcome is None:
            need_bytes = self.left_bytes[flows]
            size_bytes = np.ceil(need_bytes).astype(np.int64)
            outcome = Outcome(
                lambda endless: Transient(fabric, carry, flows, carried, size_bytes, endless=endless), self.books.count, need_bytes, *self._test
            )
        self.books.number(outcome, fabric, flows)
        return outcome

    def _dissolve(self, partition: Partition, left: dict[int, Partition]) -> None:
        """The partition's set of flows changes: book what it did; flows that are not served yet go to `left`."""
        outcome, passed = partition.outcome, (self.now - partition.from_ps) / SAMPLE_PS
        self.census.remove(partition)
        self._growing.pop(partition.number, None)
        sent = np.minimum(outcome.at(passed), partition.left_bytes)
        self.cut_short += partition.hit and outcome.cuts_short(passed)
        served = partition.left_bytes - sent <= self._missing[partition.flows]
        served &= partition.due_ps == self.now  # somebody is
        sent[served] = partition.left_bytes[served]
        self.books.episode(partition, self.now, sent, self._hops)
        self.left_bytes[partition.flows] = partition.left_bytes - sent
        if (state := outcome.state_at(passed)) is not None:
            self._carried[partition.flows], self._rate_bps[partition.flows] = state
        self._gone.append(outcome)
        for i, (f, done) in enumerate(zip(partition.flows, served.tolist(), strict=True)):
            if not done:
                left[f] = partition
                continue
            self._last_bit(f)
            if not partition.hit and outcome.transient is not None and passed <= outcome.length:
                view = outcome.transient.view
                self._acks[f] = outcome.transient, int(view.flows[i]), partition.from_ps - round(view.zero * SAMPLE_PS)

    def _acked_later(self, f: int) -> int | None:
        """Where the packets of a flow that has been served go on being simulated, its last ACK is back when it is there."""
        if f not in self._acks:
            return None
        transient, place, origin_ps = self._acks[f]
        at = origin_ps + transient.acked_ps(place)
        if at > self.now:
            return at
        del self._acks[f]
        return None

    def _apply_faults(self) -> None:
        """New paths and rates; what was known of the old ones is forgotten."""
        self.books.book(self.table, self.shares())
        table, capacity_bps = self.faults.apply_due(self.now, np.array(self.acked, np.int64) >= 0)
        self.memo.drop_all()
        self.memo.clear()
        self._take_fabric(table, capacity_bps)
        line_bps = self.fabric.network.port_rate_bps[table.data_ports[table.data_ptr[:-1]]]
        np.minimum(self._rate_bps, line_bps, out=self._rate_bps)

    @property
    def end_ps(self) -> int:
        """How far simulated time got: to the last instant, or on to where the first thing may happen that is not known yet."""
        if self.status not in ("running", "cancelled") or self._entering:
            return super().end_ps
        reached = [self._next_due, self._next_forecast(), *(one.from_ps + int(one.outcome.known * SAMPLE_PS) for one in self._growing.values())]
        return max(self.now, min(reached) - 1) if min(reached) < NEVER else self.now

    def bytes_left(self) -> np.ndarray:
        """float64[F]: payload that is still to be served at the end of what has been simulated."""
        left = self.left_bytes.copy()
        for partition in self.census.active.values():
            passed = min(max(0, self.end_ps - partition.from_ps) / SAMPLE_PS, partition.outcome.known)
            left[partition.flows] = np.maximum(0, partition.left_bytes - partition.outcome.at(passed))
        return left

    def shares(self) -> np.ndarray:
        """float64[F]: how much of each flow has been served by now."""
        size = self.table.size_bytes
        done = np.divide(size - self.bytes_left(), size, out=np.zeros(len(size)), where=size > 0)
        return np.where(self.served, 1.0, np.clip(done, 0.0, 1.0))

    def kernel_counters(self) -> dict:
        """Packet-hops by how they came about, use of the memo, partitions; as `WormholeSimulation.kernel_counters`."""
        return counters(self)

    def result(self) -> Result:
        """The tables of packet mode, of the run as far as it got."""
        return result_of(self)


def _refuse_losses(case: Case) -> None:
    """RunError if the scenario loses packets at random."""
    lossy = np.flatnonzero(case.network.port_loss > 0)
    losing = [fault for fault in case.faults if fault.kind == "loss" and fault.value > 0]
    if len(lossy) or losing:
        port = int(lossy[0] if len(lossy) else losing[0].ports[0])
        raise RunError(
            f"level paper knows no links that lose packets, but {case.network.port_name(port)} does: use level exact, or take the loss out; "
            "link-down, link-up and degrade work at level paper"
        )
