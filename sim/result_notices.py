"""Sentences that explain a result: why it is partial, why controllers look alike, where load is uneven."""

import numpy as np

from sim.result_pauses import explain_pauses
from sim.topology.network import NVLINK
from sim.units import show_bytes, show_plural, show_time

NAMES = {"dcqcn": "DCQCN", "hpcc": "HPCC", "timely": "TIMELY", "dctcp": "DCTCP", "swift": "Swift", "none": "none"}
ECN_DRIVEN = ("dcqcn", "dctcp")  # slow down on marks only; HPCC reads queues, TIMELY and Swift read delays
UNDISTURBED = 1.05  # slowdown up to which a flow counts as alone
UNEVEN_RATIO = 2.0  # busiest link over the average of its tier, from which hashing counts as uneven
UNEVEN_MIN_PORTS = 4


def notices(result) -> list[str]:
    """What a reader should know about this result beyond its numbers."""
    found = [
        partial(result),
        _shares_of_hpcc(result),
        _quiet_controller(result),
        _timed_tensor(result),
        _local_only(result),
        *_uneven_tiers(result),
        _losses(result),
        result.unused_faults,
        explain_pauses(result),
    ]
    return [notice for notice in found if notice]


def partial(result) -> str | None:
    """How much of a run that did not finish is missing."""
    if result.finished:
        return None
    summary = result.summary
    left = summary["flows"] - summary["flows_finished"]
    return (
        f"Partial result ({result.status}): the run stopped after {show_time(result.end_s)} with "
        f"{left:,} of {show_plural(summary['flows'], 'flow')} unfinished and {show_bytes(summary['bytes_left'])} still to deliver."
    )


def _shares_of_hpcc(result) -> str | None:
    """At level bounded what is promised of HPCC is less than of others."""
    raw = result.raw
    bounded = raw.fct_err_ps is not None and raw.fct_err_ps.any()
    if not bounded or result.scenario.transport.congestion_control != "hpcc":
        return None
    return (
        "Level bounded with HPCC: of flows that share a bottleneck the last completion is good to 0.3 %, but the shares of single flows "
        "are not promised, for they wander longer than any window: see their error bars."
    )


def _quiet_controller(result) -> str | None:
    """Zero marks, pauses and losses: why changing the controller changes little."""
    raw = result.raw
    counters = raw.counters
    if counters["ecn_marks"] or counters["pfc_pauses"] or lost_packets(counters) or not len(raw.acked_ps):
        return None
    control = result.scenario.transport.congestion_control
    name, seen = NAMES[control], f"0 ECN marks, 0 PFC pauses; {_deepest_queue(result)}"
    if control == "none":
        return f"Nothing throttled the senders: {seen}."
    if control in ECN_DRIVEN:
        return f"{name} never slowed a flow: {seen}. The times are those without congestion control."
    slowdowns = result.flows["slowdown"].dropna()
    slowdown = slowdowns.max() if len(slowdowns) < 100 else slowdowns.quantile(0.99)
    if slowdown < UNDISTURBED:
        whose = "99 of 100 flows" if len(slowdowns) >= 100 else f"each of {len(slowdowns)} flows" if len(slowdowns) > 1 else "the only flow"
        return (
            f"{name} had little to do: {seen}; {whose} took {'at most ' * (len(slowdowns) > 1)}{slowdown:.2f} times as long as alone. "
            "Other controllers give nearly the same times here."
        )
    return f"{name} kept the queues short by itself: {seen}."


def _deepest_queue(result) -> str:
    queues = result.raw.port_max_queue_bytes
    port = int(np.argmax(queues))
    if not queues[port]:
        return "no packet ever waited"
    kmin = int(result.ecn_thresholds_bytes[0][port])
    below = f", below its ECN threshold of {show_bytes(kmin)}" if kmin >= queues[port] else ""
    return f"the deepest queue was {show_bytes(int(queues[port]))} at {result.network.port_name(port)}{below}"


def _local_only(result) -> str | None:
    """Collectives whose flows cross NVLink alone say nothing about the fabric."""
    raw, dag = result.raw, result.dag
    if not len(dag.flow_src) or not dag.collective_name or result.scenario.traffic is not None:  # of its collective it is said before the run
        return None
    fabric = np.concatenate(([0], np.cumsum(result.network.port_kind[raw.data_ports] != NVLINK)))
    local = fabric[raw.data_ptr[1:]] == fabric[raw.data_ptr[:-1]]
    member = dag.flow_collective >= 0
    names = np.array(dag.collective_name, dtype=object)
    outside = np.bincount(dag.flow_collective[member & ~local], minlength=len(names)) > 0
    present = np.bincount(dag.flow_collective[member], minlength=len(names)) > 0
    inside = np.flatnonzero(present & ~outside)
    if not len(inside):
        return None
    example = f", such as {names[inside[0]]}," if len(inside) > 1 else f" ({names[inside[0]]})"
    never = "never leaves its server: it loads" if len(inside) == 1 else "never leave their server: they load"
    return f"{len(inside):,} of {show_plural(int(present.sum()), 'collective')}{example} {never} NVLink, not the fabric."


def _timed_tensor(result) -> str | None:
    """Tensor parallelism is a task of known length, so its NVLinks look idle."""
    done = result.raw.end_ps[: result.dag.n_tasks] >= 0
    moved = result.dag.task_bytes[done].sum() if result.dag.n_tasks else 0
    if not moved:
        return None
    return (
        f"TP moved {show_bytes(int(moved))} over NVLink {'in all' if result.finished else 'so far'}: its collectives stay inside a server and are timed by "
        "formula, not packet by packet, so NVLink ports look idle."
    )


def _uneven_tiers(result) -> list[str]:
    """Flow hashing that piles flows on few of many equal links (polarisation, collisions)."""
    ports = result.ports
    between_switches = ports[(ports["kind"] == "fabric") & ~ports["tier"].astype(str).str.startswith("GPU")]
    found = []
    going_up = result.network.node_tier[between_switches["src"]] < result.network.node_tier[between_switches["dst"]]
    for tier, links in between_switches[going_up].groupby("tier", observed=True):
        mean = links["tx_bytes"].mean()
        if len(links) < UNEVEN_MIN_PORTS or mean == 0:
            continue
        busiest = links.loc[links["tx_bytes"].idxmax()]
        if busiest["tx_bytes"] >= UNEVEN_RATIO * mean:
            idle = int((links["tx_bytes"] == 0).sum())
            found.append(
                f"Uneven {tier} load: the busiest of {len(links):,} uplinks ({busiest['name']}) carried "
                f"{busiest['tx_bytes'] / mean:.1f} times the average, {idle:,} carried nothing{'' if result.finished else ' so far'}. "
                "Another ECMP seed spreads flows differently."
            )
    return found


def _losses(result) -> str | None:
    counters = result.raw.counters
    if not lost_packets(counters):
        return None
    return (
        f"{show_plural(lost_packets(counters), 'packet was', 'packets were')} lost ({counters['drops']:,} by full buffers, "
        f"{counters['losses']:,} on links), {counters['retransmits']:,} sent again "
        f"and {show_plural(counters['timeouts'], 'timeout')} fired."
    )


def lost_packets(counters: dict) -> int:
    """Packets that never arrived: dropped at full buffers or lost on links."""
    return counters["drops"] + counters["losses"]
