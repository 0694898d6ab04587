"""The tables of packet mode from a run whose flows are fluid: bytes and packets of every port, curves, and what is zero by nature."""

import resource
from functools import cached_property

import numpy as np

from sim import result_notices
from sim.errors import LabError
from sim.result import RawRun, Result
from sim.result_paths import taken
from sim.units import BITS_PER_BYTE


class FlowResult(Result):
    """A result without remarks on marks and queues, which mode flow does not have."""

    @cached_property
    def notices(self) -> list[str]:
        on_marks = result_notices._quiet_controller(self)
        return [notice for notice in super().notices if notice != on_marks]


class FlowBooks:
    """Bytes and packets that each port has sent. Flows are booked on their path up to a share; a reroute books first."""

    def __init__(self, case, volumes):
        self._settings, self._size, self._volumes = case.settings, case.table.size_bytes, volumes
        self._booked = np.zeros((4, len(self._size)), np.int64)  # data packets, data bytes, ACKs, ACK bytes
        self.port_packets, self.port_bytes = np.zeros((2, case.network.n_ports), np.int64)

    def of_shares(self, shares: np.ndarray) -> np.ndarray:
        """int64[4, F]: data packets, their bytes, ACKs, their bytes of the served share of each flow, whole packets only."""
        settings, volumes = self._settings, self._volumes
        packets = np.floor(shares * volumes.packets).astype(np.int64)
        acks = np.where(packets == volumes.packets, volumes.acks, packets // settings.ack_every)
        data_bytes = np.minimum(packets * settings.payload_bytes, self._size) + packets * settings.header_bytes
        return np.stack((packets, data_bytes, acks, acks * settings.ack_bytes))

    def book(self, table, shares: np.ndarray) -> None:
        """All that was served since the last time went over the paths of `table`."""
        self.port_packets, self.port_bytes = self.with_shares(table, shares)
        self._booked = self.of_shares(shares)

    def with_shares(self, table, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(packets, bytes) of every port, as `book` would leave them."""
        data_packets, data_bytes, acks, ack_bytes = self.of_shares(shares) - self._booked
        return (
            self.port_packets + self._over_ports(table, data_packets, acks),
            self.port_bytes + self._over_ports(table, data_bytes, ack_bytes),
        )

    def _over_ports(self, table, data: np.ndarray, ack: np.ndarray) -> np.ndarray:
        found = np.zeros(len(self.port_bytes))
        for amount, ptr, ports in ((data, table.data_ptr, table.data_ports), (ack, table.ack_ptr, table.ack_ports)):
            found += np.bincount(ports[: ptr[-1]], weights=np.repeat(amount, np.diff(ptr)), minlength=len(found))
        return np.rint(found).astype(np.int64)


def _byte_curves(run, bins: int, total_bytes: np.ndarray) -> np.ndarray:
    """int64[P, bins]: bytes by port and time bin. Each row adds up to the port's total."""
    g, port = run.fluid.g, run.fluid.port
    bits = run.fluid.bins.reshape(port.size, int(g["bins"][0]))[:, :bins].copy()
    edges = np.arange(bins + 1) << int(g["bin_shift"][0])
    for p in np.flatnonzero((port["rate"] > 0) & (port["since"] < run.end_ps)).tolist():  # still sending as the run stops
        bits[p] += port["rate"][p] * np.diff(np.clip(edges, port["since"][p], run.end_ps)) * 1e-12
    sent = np.cumsum(bits / BITS_PER_BYTE, axis=1)
    scale = np.divide(total_bytes, sent[:, -1], out=np.zeros(port.size), where=sent[:, -1] > 0)
    sent = np.rint(sent * scale[:, None]).astype(np.int64)
    sent[:, -1] = total_bytes
    return np.diff(sent, axis=1, prepend=0)


def raw_of(run, **own) -> RawRun:
    """What the arrays of a run in which flows are served without packets have in common, and `own`; its `shares()` are those at the end.

    Queues, marks and pauses are zero unless given.
    """
    dag, table, network = run.case.dag, run.table, run.case.network
    flows, ports, shares = dag.n_flows, network.n_ports, run.shares()
    packets, port_bytes = run.books.with_shares(table, shares)
    started, acked = np.array(run.started, np.int64), np.array(run.acked, np.int64)
    begun, reroutes = taken(run.case.table, run.faults.detours, started[dag.n_tasks :], acked)
    none, never = np.zeros(ports, np.int64), np.zeros(flows, np.int64)
    bins = own["series_tx_bytes"].shape[1]
    common = dict(
        scenario=run.scenario, network=network, dag=dag,
        data_ptr=begun.data_ptr, data_ports=begun.data_ports, ack_ptr=begun.ack_ptr, ack_ports=begun.ack_ports, reroutes=reroutes,
        start_ps=started, end_ps=np.array(run.ended, np.int64), acked_ps=acked,
        ideal_fct_ps=run.ideal_fct_ps, flow_marks=never, flow_retransmits=never,
        flow_acked_bytes=np.floor(shares * dag.flow_bytes).astype(np.int64), port_tx_bytes=port_bytes, port_tx_packets=packets,
        port_max_queue_bytes=none, port_marks=none, port_pauses=none, port_paused_ps=none, port_drops=none,
        series_max_queue_bytes=np.zeros((ports, bins), np.int32), series_marks=np.zeros((ports, bins), np.int32),
        series_paused_ps=np.zeros((ports, bins), np.int64),
        cpu_s={**run.cpu_s, "total": sum(run.cpu_s.values())}, wall_s=run.wall_s,
        peak_rss_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        end_ps_last=run.end_ps, status=run.status,
        port_ecn_kmin_bytes=run.case.settings.kmin_bytes, port_ecn_kmax_bytes=run.case.settings.kmax_bytes,
    )  # fmt: skip
    counters = {
        "packet_hops": int(packets.sum()), "data_packets": int(run.books.of_shares(shares)[0].sum()), "instants": run.instants,
        "ecn_marks": 0, "pfc_pauses": 0, "drops": 0, "losses": 0, "retransmits": 0, "timeouts": 0, "max_queue_bytes": 0,
    }  # fmt: skip
    return RawRun(**{**common, **own, "counters": counters | own.get("counters", {})})


def result_of(run) -> Result:
    """Tables, series and summary of a `FlowLevel` run as far as it got."""
    shift = int(run.fluid.g["bin_shift"][0])
    bins = min(int(run.fluid.g["bins"][0]), (run.end_ps >> shift) + 1)
    _, port_bytes = run.books.with_shares(run.table, run.shares())
    curves = _byte_curves(run, bins, port_bytes)
    return FlowResult(raw_of(run, bin_ps=1 << shift, series_tx_bytes=curves, notices=_notices(run), mode="flow"))


def _notices(run) -> list[str]:
    nature = (
        "Mode flow: max-min fair rates that change at once, no packets; congestion control, queues, ECN marks, PFC pauses and losses "
        "are not simulated."
    )
    return notices_of(run, [nature], run.fluid.active[: int(run.fluid.g["active"][0])])


def notices_of(run, nature: list[str], active: np.ndarray) -> list[str]:
    """What to know of a run: its case, `nature` if anything was sent, and what became of it; `active` flows are under way."""
    notices = list(run.case.notices)
    if run.case.dag.n_flows:
        notices += nature
    if run.faults.stranded:
        notices.append(f"{len(run.faults.stranded)} flows lost their only path to a failed link, for a time at least")
    if run.status == "deadlock":
        notices.append(f"the run cannot go on: {_why_stuck(run, active)}")
    return notices


def _why_stuck(run, active: np.ndarray) -> str:
    if len(active):
        return f"{len(active)} flows never finish: flow {int(active.min())} has no path around what is down"
    try:
        run.case.dag.validate()
    except LabError as circle:
        return str(circle)
    return "nothing is left that could happen"
