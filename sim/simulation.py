"""One run in packet mode: advance it by a budget of packet-hops, see how far it is, take its result."""

import resource
import time
from dataclasses import dataclass

import numpy as np

from sim.books import Books, bins_until, series
from sim.case import Case, case_of
from sim.errors import LabError
from sim.faults import Faults
from sim.ideal import empty_flow_times, ideal_fct_ps
from sim.packet import state as memory
from sim.packet.layout import NEED_FLOWS, NEED_PACKETS, NEVER, PFC_OFF
from sim.packet.nic import RETRIES
from sim.player.loop import FINISHED, LIMIT, STALLED, open_play
from sim.player.tables import make_play
from sim.result import RawRun, Result
from sim.result_paths import taken
from sim.scenario import Scenario
from sim.topology.network import END
from sim.units import PS_PER_S
from sim.wormhole.drive import drive
from sim.wormhole.memory import make_wormhole

FLOW_SLOTS = 256
DETOUR_HOPS = 64  # most links a detour around a failure may add
PORT_SERIES_BYTES = 200_000_000  # the time series of all ports together


@dataclass(frozen=True)
class Progress:
    """How far a run is. `fraction` is of the expected packet-hops; `eta_s` is None until it can be told.

    `kernel`: what the wormhole kernel has counted so far (`WormholeSimulation.kernel_counters`), None in other modes.
    """

    fraction: float
    sim_time_s: float
    packet_hops: int
    packet_hops_expected: int
    flows_finished: int
    flows_total: int
    bytes_left: int
    eta_s: float | None
    kernel: dict | None = None


class Simulation:
    """A packet-level run of one scenario. Independent of every other one in the process."""

    mode = "packet"
    level = None

    def __init__(self, scenario: Scenario | Case):
        wall, cpu = time.perf_counter(), time.thread_time()
        self.case = scenario if isinstance(scenario, Case) else case_of(scenario)
        self.scenario = self.case.scenario
        self.table = self.case.table
        self.faults = Faults(self.case)
        self._lay_out_series()
        self.state, self.hole = self._make_memory()
        self.credited_before: int | None = None
        self.plan = make_play(self.case.dag, empty_flow_times(self.case))
        limit_s = self.scenario.simulation.time_limit_s
        self.limit_ps = NEVER if limit_s is None else np.int64(round(limit_s * PS_PER_S))
        self.status = "running"
        self._opened = False
        self.cpu_s = {"compile": 0.0, "build": time.thread_time() - cpu, "kernel": 0.0, "orchestrate": 0.0}
        self._began_wall = wall
        self.wall_s = time.perf_counter() - wall

    def _make_memory(self):
        """The packet simulation, and the wormhole kernel's memory beside it (not used in packet mode)."""
        state = self._make_state()
        return state, make_wormhole(state, self.case, self.used_ports, packets=True)

    def _lay_out_series(self) -> None:
        """Which ports may carry anything, the longest path, and the first resolution of the time series."""
        table = self.table
        lengths = np.concatenate((np.diff(table.data_ptr), np.diff(table.ack_ptr), [1]))
        rerouting = any(fault.kind == "link-down" for fault in self.case.faults)
        if rerouting:
            used = np.arange(self.case.network.n_ports)
        else:
            used = np.unique(np.concatenate((table.data_ports, table.ack_ports)))
            if self.case.settings.pfc != PFC_OFF:
                used = np.unique(np.concatenate((used, used ^ 1)))
        self.used_ports = used
        detour = min(DETOUR_HOPS, int((self.case.network.node_role != END).sum())) if rerouting else 0
        self.longest_path = int(lengths.max()) + detour
        self.bins = min(self.case.settings.bins, max(32, PORT_SERIES_BYTES // (24 * max(1, used.size)) // 2 * 2))
        self.bin_shift = max(0, int(self._shortest_run_ps() // self.bins).bit_length() - 1)

    def _make_state(self, **series):
        settings = self.case.settings._replace(bins=self.bins, bin_shift=self.bin_shift)._replace(**series)
        slots = max(4, min(FLOW_SLOTS, self.case.dag.n_flows))
        return memory.make_state(self.case.network, settings, self.used_ports, self.longest_path, slots)

    def _shortest_run_ps(self) -> int:
        """A time before which no run can end: latest start, busiest rank, slowest lone flow; it sets the first bin width."""
        dag = self.case.dag
        busy = np.bincount(dag.task_rank, weights=dag.task_duration_ps) if dag.n_tasks else np.zeros(1)
        return int(max(dag.start_ps.max(initial=0), busy.max(initial=0), self.ideal_fct_ps().max(initial=0), 1))

    def advance(self, budget_hops: int = 500_000) -> bool:
        """Run on for about `budget_hops` packet-hops; True once nothing is left to do (see `status`)."""
        if self.status != "running":
            return True
        wall, cpu = time.perf_counter(), time.thread_time()
        self._open()
        target = int(self.state.g[0]["packet_hops"]) + budget_hops
        while self.status == "running" and self.state.g[0]["packet_hops"] < target:
            self._step(target)
        self.cpu_s["kernel"] += time.thread_time() - cpu
        self.wall_s += time.perf_counter() - wall
        return self.status != "running"

    def _open(self) -> None:
        if not self._opened:
            open_play(self.plan)
            self._opened = True

    def _step(self, target: int) -> None:
        fault_ps = self.faults.next_ps
        limit = self.limit_ps if fault_ps is None else min(self.limit_ps, fault_ps)
        code = drive(self.state, self.plan, self.hole, self.table, limit, target)
        if code == NEED_FLOWS:
            self.state = memory.grow_flows(self.state, int(self.plan.p[0]["ready"]))
        elif code == NEED_PACKETS:
            self.state = memory.grow_packets(self.state)
        elif code == FINISHED:
            self.status = "finished"
        elif code in (LIMIT, STALLED) and fault_ps is not None and fault_ps <= self.limit_ps:
            ended = self.plan.flow["acked"][: self.case.dag.n_flows] >= 0
            self.state, self.table = self.faults.apply_next(self.state, self.table, ended)
        elif code == LIMIT and self.limit_ps != NEVER:
            self.status = "time limit"
        elif code in (LIMIT, STALLED):
            self.status = "deadlock"

    @property
    def fct_err_ps(self) -> np.ndarray:
        """float64[F]: standard error of every flow's FCT; none where packets were simulated."""
        return np.zeros(self.case.dag.n_flows)

    def cancel(self) -> None:
        if self.status == "running":
            self.status = "cancelled"

    def run(self) -> Result:
        """Run to the end without looking up."""
        while not self.advance(50_000_000):
            pass
        return self.result()

    def _acked_bytes(self) -> np.ndarray:
        """int64[F]: payload acknowledged so far."""
        size = self.table.size_bytes
        acked = np.where(self.plan.flow["acked"][: len(size)] >= 0, size, 0)
        ids, packets, *_ = self._live_flows()
        acked[ids] = np.minimum(packets * self.case.settings.payload_bytes, size[ids])
        return acked

    def _live_flows(self) -> tuple:
        """Flows under way: ids, packets acknowledged, marks, retransmits."""
        flow = self.state.flow[(self.state.flow["flow_id"] >= 0) & (self.state.flow["done"] == 0)]
        return flow["flow_id"], flow["acked_packets"], flow["marks"], flow["retransmits"]

    def _books(self) -> Books:
        g = self.state.g[0]
        names = (
            "packet_hops",
            "data_packets",
            "marks",
            "pauses",
            "drops",
            "losses",
            "retransmits",
            "timeouts",
            "windows",
        )
        counters = {name: int(g[name]) for name in names}
        return Books(
            self.state.port, self.state.bins, int(g["bins"]), int(g["bin_shift"]), counters, self._live_flows()
        )

    def packet_hops(self) -> int:
        """Packet-hops that the run has accounted for, however they came about."""
        return int(self.state.g[0]["packet_hops"])

    def kernel_counters(self) -> dict | None:
        """What only the wormhole kernel counts."""
        return None

    def records(self):
        """What only the wormhole kernel records: a `sim.wormhole.records.Records`."""
        return None

    def progress(self) -> Progress:
        expected, hops = max(1, self.case.packet_hops), self.packet_hops()
        tasks_left = int(self.plan.p[0]["left"])
        fraction = (
            min(1.0, hops / expected) if self.case.dag.n_flows else 1 - tasks_left / max(1, self.case.dag.n_nodes)
        )
        if self.status == "finished":
            fraction = 1.0
        spent = self.wall_s
        return Progress(
            fraction=fraction, sim_time_s=self.end_ps / PS_PER_S, packet_hops=hops, packet_hops_expected=expected,
            flows_finished=int(self.plan.p[0]["finished_flows"]), flows_total=self.case.dag.n_flows,
            bytes_left=int(self.table.size_bytes.sum() - self._acked_bytes().sum()),
            eta_s=spent * (1 - fraction) / fraction if 0 < fraction and spent > 0.05 else None, kernel=self.kernel_counters(),
        )  # fmt: skip

    @property
    def end_ps(self) -> int:
        """How far simulated time got."""
        last = max(int(self.plan.node["ended"].max(initial=0)), int(self.plan.flow["acked"].max(initial=0)))
        if self.status == "finished":
            return last
        return max(last, self._reached_ps())

    def _reached_ps(self) -> int:
        if self.status == "deadlock":
            return int(self.state.flow["progress_at"][self.state.flow["flow_id"] >= 0].max(initial=0))
        return int(min(self.state.g[0]["now"], self.limit_ps)) - 1

    def result(self) -> Result:
        """Tables, series and summary of the run as far as it got."""
        books, plan = self._books(), self.plan
        port, counters = books.port, books.counters
        flows, end = self.case.dag.n_flows, self.end_ps
        marks, retransmits = plan.flow["marks"][:flows].copy(), plan.flow["retransmits"][:flows].copy()
        ids, _, live_marks, live_retransmits = books.live
        if live_marks is not None:
            marks[ids], retransmits[ids] = live_marks, live_retransmits
        bins = bins_until(books, end)
        paused_ps = port["paused_ps"] + np.where(port["paused"] > 0, np.maximum(0, end - port["paused_since"]), 0)
        started, acked = plan.node["started"][:-1].copy(), plan.flow["acked"][:flows].copy()
        table, reroutes = taken(self.case.table, self.faults.detours, started[self.case.dag.n_tasks :], acked)
        rows = series(books, self.case.network, self.used_ports, bins, end)
        return Result(
            RawRun(
                scenario=self.scenario, network=self.case.network, dag=self.case.dag,
                data_ptr=table.data_ptr, data_ports=table.data_ports, ack_ptr=table.ack_ptr, ack_ports=table.ack_ports,
                reroutes=reroutes, start_ps=started, end_ps=plan.node["ended"][:-1].copy(), acked_ps=acked,
                ideal_fct_ps=self.ideal_fct_ps(), flow_marks=marks, flow_retransmits=retransmits,
                flow_acked_bytes=self._acked_bytes(), port_tx_bytes=port["tx_bytes"].copy(), port_tx_packets=port["tx_packets"].copy(),
                port_max_queue_bytes=port["max_queue"].copy(), port_marks=port["marks"].copy(), port_pauses=port["pauses"].copy(),
                port_paused_ps=paused_ps, port_drops=port["drops"].copy(), bin_ps=1 << books.bin_shift, **rows,
                counters={
                    **{name: value for name, value in counters.items() if name not in ("marks", "pauses")},
                    "ecn_marks": counters["marks"], "pfc_pauses": counters["pauses"], "max_queue_bytes": int(port["max_queue"].max(initial=0)),
                },
                cpu_s={**self.cpu_s, "total": sum(self.cpu_s.values())}, wall_s=self.wall_s,
                peak_rss_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
                end_ps_last=end, status=self.status, notices=self._notices(),
                port_ecn_kmin_bytes=self.case.settings.kmin_bytes, port_ecn_kmax_bytes=self.case.settings.kmax_bytes,
                mode=self.mode, level=self.level, kernel=self.kernel_counters(), records=self.records(), fct_err_ps=self.fct_err_ps,
            )
        )  # fmt: skip

    def ideal_fct_ps(self) -> np.ndarray:
        return ideal_fct_ps(self.case)

    def _notices(self) -> list[str]:
        notices = list(self.case.notices)
        if self.faults.stranded:
            notices.append(f"{len(self.faults.stranded)} flows lost their only path to a failed link, for a time at least")
        return [self._why_stuck(), *notices] if self.status == "deadlock" else notices

    def _why_stuck(self) -> str:
        g, live = self.state.g[0], self.state.flow[self.state.flow["flow_id"] >= 0]
        if len(live):
            flow = live[0]
            gave_up = int((live["timeouts"] >= RETRIES).sum())
            where = (
                f"flow {int(flow['flow_id'])} has {int(flow['packets'] - flow['acked_packets'])} packets unacknowledged"
            )
            return (
                f"Deadlock: the run cannot go on: {len(live)} flows never finish ({where}; {int(g['drops'] + g['losses'])} packets were lost "
                f"and {int(g['timeouts'])} timeouts passed)"
                + f"; {gave_up} gave up after {RETRIES} timeouts in a row: {self._what_helps()}" * (gave_up > 0)
            )
        try:
            self.case.dag.validate()
        except LabError as circle:
            return f"Deadlock: the run cannot go on: {circle}"
        return "Deadlock: the run cannot go on: nothing is left that could happen"

    def _what_helps(self) -> str:
        if self.faults.stranded and not any(fault.kind == "link-up" for fault in self.case.scenario.faults):
            return "a link that fails and never works again leaves them no path"
        return "a longer transport.retransmit_timeout_us outlasts an outage"
