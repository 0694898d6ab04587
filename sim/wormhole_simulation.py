"""One run with the wormhole kernel, to the bit the run of packet mode: states replayed, periods skipped, the rest by packets."""

import os
import time

import numpy as np

from sim.books import Books
from sim.errors import RunError, did_you_mean
from sim.packet.layout import NEED_PACKETS, NEVER, RUNNING
from sim.player.loop import FINISHED, LIMIT, STALLED
from sim.simulation import Simulation
from sim.units import PS_PER_S, show_time
from sim.wormhole.ahead import Crew
from sim.wormhole.counters import counters
from sim.wormhole.drive import drive
from sim.wormhole.eviction import MOST_WORDS
from sim.wormhole.handover import COUNTERS, follow, into_packets, into_partitions
from sim.wormhole.layout import BOUNDED, EXACT, STATISTICS
from sim.wormhole.loop import AWAIT, GUARD, HALTED, HALTING, NEED_ROOM, OFFER, PACKETS
from sim.wormhole.memo import namespace
from sim.wormhole.memory import LARGE, NO_LIMIT, check_arena, grow_pool, learnt, make_room, make_wormhole, port_classes
from sim.wormhole.records import Records, make_records

WALKS = 20_000  # instants between two looks at the outside world
LEVELS = {"exact": EXACT, "bounded": BOUNDED}
LEAST_TRIED_HOPS, TRIED_SHARE = 300_000, 0.05  # before a run in which hardly anything repeats goes on packet by packet
NO_BINS = 62  # shift of a time series that has one bin
MOST_THREADS = 16  # unless more are asked for: no run seen so far has more partitions to solve at once
REST = 3  # times what was spent where too little repeated, packet by packet before the next try, then twice as long, ...
FIRST_PATIENCE = 1_000  # packet-hops after a fault before it is looked again whether the network can be divided


class WormholeSimulation(Simulation):
    """As `Simulation`, along the graph of states.

    `replay`: known outcomes are played back; `skip`: exactly periodic stretches are skipped. A clock of
    whole nanoseconds keeps the ancestry of every event, so that nothing recurs: there the packets are run.
    `level`: "exact", or "bounded", which besides jumps over what is steady in the mean only, with an error bar (`fct_err_ps`).
    `guard`: packet-hops tried before a run in which hardly anything repeats goes on packet by packet.
    `threads`: how many take part at most, all cores up to 16 unless given; what comes out does not depend on it.
    `memo`: a `sim.wormhole.memo.Store` or `sim.wormhole.database.Database` to begin with and, by `keep()`, to add to.
    """

    mode, level = "wormhole", "exact"

    def __init__(
        self, scenario, *, replay=True, skip=True, record=True, guard=None, memo=None, level="exact", threads=None,
        most_words=MOST_WORDS, large=LARGE,
    ):  # fmt: skip
        if level not in LEVELS:
            raise RunError(f"{level!r} is not a level: {did_you_mean(level, LEVELS)}")
        self.level = level
        self._crew = Crew((threads or min(MOST_THREADS, os.cpu_count() or 1)) - 1 if level == "exact" else 0)
        self.options = dict(replay=replay, skip=skip, record=record, guard=guard, large=large, level=LEVELS[level], most_words=most_words)
        self.memo = memo if replay and level == "exact" else None  # what is estimated serves this run only
        self._stretches: list[tuple[int, int, int]] = []  # (from ps, to ps, packet-hops) in packets, before the run was divided again
        super().__init__(scenario)
        self._why_packets = "with a clock of whole nanoseconds no state recurs" if self.case.settings.whole_ns else "a link has changed"
        self._divides = not self.case.settings.whole_ns
        self._try_at, self._patience = 0, FIRST_PATIENCE
        self._rest_hops, self._doubt = 0, 1
        if self.in_packets:
            self.credited_before, self._left_at_ps = 0, 0

    def _make_memory(self):
        if self.case.settings.whole_ns:
            state, hole = super()._make_memory()
            _, self.classes = port_classes(state)
            return state, hole
        state = self._make_scratch()
        if self.options["guard"] is None:
            self.options["guard"] = max(LEAST_TRIED_HOPS, int(TRIED_SHARE * self.case.packet_hops))
        known = None
        if self.memo is not None:
            self.namespace = namespace(self.case.settings, int(state.g[0]["hops_max"]))
            known = self.memo.get(self.namespace)
        classes, self.classes = port_classes(state, None if known is None else known.classes)
        hole = make_wormhole(
            state, self.case, self.used_ports, bins=self.bins, bin_shift=self.bin_shift, memo=known, classes=classes, **self.options
        )
        if self.case.faults and self.case.faults[0].at_ps <= 0:
            hole.p[0]["phase"] = PACKETS  # flows that start at time 0 do so before what happens to links then
            state = self._make_state()
        return state, hole

    def _make_scratch(self):
        return self._make_state(bins=1, bin_shift=NO_BINS)

    def keep(self) -> None:
        """Let later runs know what this one has learnt."""
        if self.memo is not None and self.hole.p[0]["states"] > 0:
            self.memo.put(self.namespace, learnt(self.hole, self.classes))

    def cancel(self) -> None:
        super().cancel()
        self.cpu_s["kernel"] += self._crew.send_home(self.hole)

    @property
    def in_packets(self) -> bool:
        """Whether the run goes on packet by packet."""
        return self.hole.p[0]["phase"] == PACKETS

    def advance(self, budget_hops: int = 500_000) -> bool:
        """As `Simulation`'s; it returns early where the run goes over to packets or back."""
        if self.status != "running":
            return True
        wall, cpu = time.perf_counter(), time.thread_time()
        self._open()
        target = int(self.state.g[0]["packet_hops"]) + budget_hops
        in_packets = self.in_packets
        self.hole.p[0]["budget"] = WALKS
        while self.status == "running" and self.in_packets == in_packets:
            if in_packets and self.state.g[0]["packet_hops"] >= target:
                break
            if in_packets:
                self._step_in_packets(target)
            elif self._walk(target) == RUNNING:
                break
        if self.status != "running" or self.in_packets:
            self.cpu_s["kernel"] += self._crew.send_home(self.hole)
        self.cpu_s["kernel"] += time.thread_time() - cpu
        self.wall_s += time.perf_counter() - wall
        return self.status != "running"

    def _step_in_packets(self, target: int) -> None:
        """A step packet by packet; after a fault, divide the network into partitions again as soon as that is possible."""
        pending = len(self.faults.pending)
        self._step(min(target, self._try_at) if self._divides and not self._fault_is_due else target)
        if not self._divides or self.status != "running" or self._fault_is_due:
            return
        if len(self.faults.pending) < pending:
            self._try_at, self._patience = 0, FIRST_PATIENCE
        hops = int(self.state.g[0]["packet_hops"])
        if hops >= self._try_at and not self._divide():
            self._try_at, self._patience = hops + self._patience, 2 * self._patience

    @property
    def _fault_is_due(self) -> bool:
        return self.faults.next_ps is not None and self.faults.next_ps <= self.state.g[0]["now"]

    def _divide(self) -> bool:
        """Make partitions of all that is under way, unless something is that no state can hold."""
        whole = self.state
        self.hole.port["class_"], self.classes = port_classes(whole, self.classes)
        self.hole, self.state = into_partitions(self.hole, whole, self._make_scratch, self.plan, self.table)
        if self.in_packets:
            return False
        hops = int(whole.g[0]["packet_hops"]) - self.credited_before
        self._stretches.append((self._left_at_ps, int(self.hole.p[0]["now"]), hops))
        self.credited_before = None
        return True

    def _walk(self, target: int) -> int:
        fault_ps, p = self.faults.next_ps, self.hole.p[0]
        limit = self.limit_ps if fault_ps is None else min(self.limit_ps, fault_ps)
        self._crew.call_in(self.hole, self._make_helper, self.plan)
        code = drive(self.state, self.plan, self.hole, self.table, limit, target)
        check_arena(self.hole)
        if code == NEED_ROOM:
            self._make_room()
        elif code == OFFER:
            self._crew.ahead.offer(self.hole, self.table)
        elif code == AWAIT:
            self.hole = self._crew.ahead.deliver(self.hole, self.state, self.table)
        elif code == NEED_PACKETS:
            self.state = grow_pool(self.hole, self.state)
        elif code == FINISHED and p["live_parts"] > 0:
            self._halt(int(p["now"]))  # pauses still under way are part of what has happened
        elif code == FINISHED:
            self.status = "finished"
        elif code == GUARD:
            self._rest_hops = self._doubt * REST * int(p["spent"])
            self._doubt *= 2
            self._stay_in_packets("too little repeats here to gain from what is known", divides=self._divides)
        elif code == LIMIT or (code == STALLED and limit < NEVER):
            self._halt(int(limit) - 1)
        elif code == STALLED and p["live_parts"] > 0:
            self._stay_in_packets("some flows may never finish")  # packet mode finds out how far they get
        elif code == STALLED:
            self.status = "deadlock"
        elif code == HALTED:
            if self.plan.p[0]["left"] == 0:
                self.status = "finished"
            elif p["now"] == self.limit_ps - 1 and (fault_ps is None or fault_ps > self.limit_ps):
                self.status = "time limit"
            else:
                self._go_on_in_packets()
        return code

    def _make_room(self) -> None:
        states = int(self.hole.p[0]["states"])
        self.hole, self.state = make_room(self.hole, self.state)
        if self.hole.p[0]["states"] < states:
            self._crew.forget(self.hole)

    def _make_helper(self):
        """What another thread needs to solve partitions: links as they are, port classes as numbered here."""
        scratch = self._make_scratch()
        follow(scratch, self.state)
        options = {**self.options, "record": False, "most_words": NO_LIMIT}
        return scratch, make_wormhole(scratch, self.case, self.used_ports, bins=1, bin_shift=NO_BINS, classes=self.hole.port["class_"], **options)

    def _stay_in_packets(self, why: str, divides=False) -> None:
        self._why_packets, self._divides = why, divides
        self._halt(int(self.hole.p[0]["now"]))

    def _halt(self, at_ps: int) -> None:
        """Bring every partition to this instant."""
        p = self.hole.p[0]
        p["now"], p["phase"], p["cursor"], p["fresh"], p["halt_parts"] = at_ps, HALTING, 0, 0, p["capacity_parts"]

    def _go_on_in_packets(self) -> None:
        """Load what there is into a packet simulation of the whole network, with all that it has counted so far."""
        hops = self.packet_hops()
        self._left_at_ps, self.credited_before, self._try_at, self._rest_hops = int(self.hole.p[0]["now"]), hops, hops + self._rest_hops, 0
        self.hole, self.state = into_packets(self.hole, self.state, self._make_state(), self.plan, self.table, hops)

    def _books(self) -> Books:
        if self.in_packets:
            return super()._books()
        p, port = self.hole.p[0], self.state.port.copy()
        for name in STATISTICS:
            port[name] = self.hole.port[name]
        port["paused"] = 0
        counters = {
            "packet_hops": self.packet_hops(), "windows": int(self.state.g[0]["windows"]), **{name: int(p[name]) for name in COUNTERS},
        }  # fmt: skip
        return Books(port, self.hole.bins, int(p["bins"]), int(p["bin_shift"]), counters, self._live_flows())

    def _live_flows(self):
        if self.in_packets:
            return super()._live_flows()
        flows = self.case.dag.n_flows
        started = (self.plan.node["started"][self.case.dag.n_tasks : -1] >= 0) & (self.plan.flow["acked"][:flows] < 0)
        ids = np.flatnonzero(started & (self.table.size_bytes > 0))
        return ids, self.hole.flow["base"][ids], None, None

    @property
    def fct_err_ps(self) -> np.ndarray:
        """float64[F]: one standard error of every flow's FCT against packet mode; zero at level exact, and for a flow that no jump met."""
        flows = self.case.dag.n_flows
        if self.level == "exact" or self.hole.flow.size < flows:
            return np.zeros(flows)
        return np.sqrt(self.hole.flow["variance"][:flows] * self.hole.flow["pace"][:flows])

    def packet_hops(self) -> int:
        return super().packet_hops() if self.in_packets else int(self.hole.p[0]["credited"]) + sum(hops for *_, hops in self._stretches)

    def _reached_ps(self) -> int:
        return super()._reached_ps() if self.in_packets else int(self.hole.p[0]["now"])

    def records(self) -> Records | None:
        """Episodes, partitions and patterns, and where the network was not divided into partitions."""
        return make_records(self.hole, self.state, self.classes, self.undivided()) if self.options["record"] else None

    def undivided(self) -> np.ndarray:
        """int64[n, 3]: (from ps, to ps, packet-hops) of each stretch that was simulated packet by packet as a whole."""
        now = []
        if self.in_packets and self.credited_before is not None:
            now = [(self._left_at_ps, self._reached_ps(), int(self.state.g[0]["packet_hops"]) - self.credited_before)]
        return np.array([*self._stretches, *now], np.int64).reshape(-1, 3)

    def _notices(self) -> list[str]:
        said = super()._notices()
        if self.in_packets:
            since = "Every packet was" if self._left_at_ps == 0 else f"From {show_time(self._left_at_ps / PS_PER_S)} on every packet was"
            said.append(f"{since} simulated: {self._why_packets}.")
        before_ps = sum(to_ps - from_ps for from_ps, to_ps, _ in self._stretches)
        if before_ps:
            time_told = show_time(before_ps / PS_PER_S)
            said.append(f"{time_told} of the run were simulated packet by packet, the network not divided: after faults, or where too little repeats.")
        return said

    def kernel_counters(self) -> dict:
        """See `sim.wormhole.counters.counters`."""
        return counters(self.hole, int(self.plan.p[0]["finished_flows"]), int(self.undivided()[:, 2].sum()))
