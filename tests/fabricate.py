"""Test helper: a made-up run of a scenario, with plausible times and queues but no simulation behind them."""

import numpy as np

from sim.result import RawRun, Result
from sim.scenario import Scenario
from sim.topology.build import build_network
from sim.topology.routing import route
from sim.workload.build import build_dag

LATENCY_PS = 10_000_000
BINS = 64


def scenario(**changes) -> Scenario:
    """A 4-to-1 incast through one switch; keyword arguments are whole sections."""
    data = {
        "name": "made-up",
        "title": "Made-up incast",
        "cluster": {"topology": "one-switch", "gpus": 5, "gpus_per_node": 1, "nvlink_gbps": 0, "nic_gbps": 100},
        "traffic": {"pattern": "incast", "flow_bytes": 1_000_000},
    }
    data.update(changes)
    return Scenario.from_data({key: value for key, value in data.items() if value is not None})


def training(**changes) -> Scenario:
    """A small GPT on 16 GPUs: TP 4, PP 2, DP 2."""
    data = {
        "name": "made-up-gpt",
        "title": "Made-up training",
        "cluster": {"topology": "rail-optimised", "gpus": 16, "gpus_per_node": 4},
        "model": {"name": "gpt-125m"},
        "parallelism": {"tp": 4, "pp": 2},
        "traffic": None,
    }
    return scenario(**{**data, **changes})


def play(dag, flow_ps) -> tuple[np.ndarray, np.ndarray]:
    """Start and end of every node if flows never disturb each other, int64[T+F] each."""
    duration = np.concatenate([dag.task_duration_ps, flow_ps])
    start, waiting = dag.start_ps.copy(), dag.indegree.copy()
    ready = list(np.flatnonzero(waiting == 0))
    while ready:
        node = ready.pop()
        end = start[node] + duration[node]
        for ptr, succ, delay in ((dag.done_ptr, dag.done_succ, 0), (dag.acked_ptr, dag.acked_succ, LATENCY_PS)):
            for after in succ[ptr[node] : ptr[node + 1]]:
                start[after] = max(start[after], end + delay)
                waiting[after] -= 1
                if not waiting[after]:
                    ready.append(after)
    return start, start + duration


def raw_run(scenario: Scenario, stop_after: float = 1.0) -> RawRun:
    """A run whose flows share each port fairly on average; `stop_after` < 1: cancelled at that share of its time."""
    network, dag = build_network(scenario.cluster), build_dag(scenario)
    nodes = network.hosts[dag.flow_src], network.hosts[dag.flow_dst]
    data_ptr, data_ports = route(network, *nodes, np.arange(dag.n_flows), scenario.cluster.ecmp_seed)
    ack_ptr, ack_ports = route(network, *nodes[::-1], np.arange(dag.n_flows), scenario.cluster.ecmp_seed)
    flow_of_hop = np.repeat(np.arange(dag.n_flows), np.diff(data_ptr))
    sharers = (
        np.maximum(np.bincount(data_ports, minlength=network.n_ports), 1)
        if scenario.traffic
        else np.ones(network.n_ports)
    )
    slowest = np.zeros(dag.n_flows)
    np.maximum.at(slowest, flow_of_hop, sharers[data_ports] * 8e12 / network.port_rate_bps[data_ports])
    alone = np.zeros(dag.n_flows)
    np.maximum.at(alone, flow_of_hop, 8e12 / network.port_rate_bps[data_ports])
    flow_ps = (slowest * dag.flow_bytes).astype(np.int64) + LATENCY_PS
    start, end = play(dag, flow_ps)
    acked = end[dag.n_tasks :] + LATENCY_PS
    stop = int(max(end.max(), acked.max(initial=0)) * stop_after)
    size = dag.flow_bytes.copy()
    if stop_after < 1:
        share = np.clip((stop - start[dag.n_tasks :]) / flow_ps, 0, 1)
        size = (size * share).astype(np.int64)
        acked[acked > stop] = -1
        end[end > stop] = -1
        start[start > stop] = -1
    tx, queue = _series(network, dag, start, flow_ps, size, flow_of_hop, data_ports, stop)
    kmin = np.where(network.port_kind == 0, network.port_rate_bps // 1_000_000, 0)
    marks = np.where((queue > kmin[:, None]) & (kmin[:, None] > 0), queue // 10_000, 0).astype(np.int32)
    paused = np.where(queue > 4 * kmin[:, None].clip(1), -(-stop // BINS) // 3, 0)
    hops = np.bincount(data_ports, weights=-(-dag.flow_bytes[flow_of_hop] // 1000), minlength=network.n_ports).astype(
        np.int64
    )
    return RawRun(
        scenario=scenario,
        network=network,
        dag=dag,
        data_ptr=data_ptr,
        data_ports=data_ports,
        ack_ptr=ack_ptr,
        ack_ports=ack_ports,
        start_ps=start,
        end_ps=end,
        acked_ps=acked,
        ideal_fct_ps=(alone * dag.flow_bytes).astype(np.int64) + 2 * LATENCY_PS,
        flow_marks=np.zeros(dag.n_flows, np.int64),
        flow_retransmits=np.zeros(dag.n_flows, np.int64),
        flow_acked_bytes=size,
        port_tx_bytes=tx.sum(axis=1),
        port_tx_packets=hops,
        port_max_queue_bytes=queue.max(axis=1).astype(np.int64),
        port_marks=marks.sum(axis=1).astype(np.int64),
        port_pauses=(paused > 0).sum(axis=1),
        port_paused_ps=paused.sum(axis=1),
        port_drops=np.zeros(network.n_ports, np.int64),
        bin_ps=-(-stop // BINS),
        series_tx_bytes=tx,
        series_max_queue_bytes=queue,
        series_marks=marks,
        series_paused_ps=paused,
        counters={
            "packet_hops": int(hops.sum()),
            "data_packets": int((-(-dag.flow_bytes // 1000)).sum()),
            "ecn_marks": int(marks.sum()),
            "pfc_pauses": int((paused > 0).sum()),
            "drops": 0,
            "losses": 0,
            "retransmits": 0,
            "max_queue_bytes": int(queue.max()),
            "timeouts": 0,
        },
        cpu_s={"compile": 0.0, "build": 0.1, "kernel": 0.5, "orchestrate": 0.1, "total": 0.7},
        wall_s=0.8,
        peak_rss_bytes=200_000_000,
        end_ps_last=stop,
        status="finished" if stop_after == 1 else "cancelled",
        port_ecn_kmin_bytes=kmin,
        port_ecn_kmax_bytes=4 * kmin,
    )


def _series(network, dag, start, flow_ps, size, flow_of_hop, data_ports, stop):
    """Bytes sent and queue per port and bin: every flow sends evenly from its start; what exceeds capacity queues."""
    bin_ps = -(-stop // BINS)
    tx = np.zeros((network.n_ports, BINS), np.int64)
    flow_start = start[dag.n_tasks :]
    wanted = np.zeros((network.n_ports, BINS))
    for bin in range(BINS):
        first, last = bin * bin_ps, min((bin + 1) * bin_ps, stop)
        overlap = np.clip(
            (np.minimum(flow_start + flow_ps, last) - np.maximum(flow_start, first)) / flow_ps, 0, None
        ) * (flow_start >= 0)
        np.add.at(tx[:, bin], data_ports, (overlap * dag.flow_bytes)[flow_of_hop].astype(np.int64))
        line_ps = 8e12 * dag.flow_bytes / network.port_rate_bps.max()
        eager = np.clip(
            (np.minimum(flow_start + line_ps, last) - np.maximum(flow_start, first)) / np.maximum(line_ps, 1), 0, None
        ) * (flow_start >= 0)
        np.add.at(wanted[:, bin], data_ports, (eager * dag.flow_bytes)[flow_of_hop])
    queue = np.clip(np.cumsum(wanted - tx, axis=1), 0, 3_000_000).astype(np.int32)
    return tx, queue


def result(scenario: Scenario, stop_after: float = 1.0) -> Result:
    return Result(raw_run(scenario, stop_after))
