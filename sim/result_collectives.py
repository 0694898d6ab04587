"""The collectives of a run of traffic pattern "collective": how long each took, its bandwidths, and what to expect without contention."""

import numpy as np

from sim.scenario_collective import has_nvlink, members
from sim.transport import kernel_settings
from sim.units import PS_PER_S, bps_from_gbps
from sim.workload.blocks import FlowKind
from sim.workload.collective.busbw import bus_bandwidth
from sim.workload.collective.load import Lines
from sim.workload.collective.predict import Prediction, predict
from sim.workload.collectives import name_of


def collectives(raw) -> list[dict]:
    """JSON-ready, one entry for each repeat; times and bandwidths are None where it did not come to its end."""
    traffic = raw.scenario.traffic
    if traffic is None or traffic.pattern != "collective":
        return []
    n, expected = len(members(traffic, raw.scenario.cluster).gpus), expectation(raw.scenario, raw.network)
    began_ps, ended_ps = _spans(raw, traffic.repeat)
    found = []
    for index, (began, ended) in enumerate(zip(began_ps.tolist(), ended_ps.tolist(), strict=True)):
        time_s = (ended - began) / PS_PER_S if ended > began >= 0 else None
        bandwidth = None if time_s is None else bus_bandwidth(traffic.collective, n, traffic.collective_bytes, time_s)
        found.append(
            {
                "name": name_of(traffic, index),
                "collective": traffic.collective,
                "algorithm": traffic.algorithm,
                "ranks": n,
                "bytes": traffic.collective_bytes,
                "start_s": began / PS_PER_S if began >= 0 else None,
                "time_s": time_s,
                "algbw_bytes_per_s": None if bandwidth is None else bandwidth.algbw_bytes_per_s,
                "busbw_bytes_per_s": None if bandwidth is None else bandwidth.busbw_bytes_per_s,
                "formula": None if bandwidth is None else bandwidth.formula,
                "nccl_model_s": None if expected is None else expected.time_s,
            }
        )
    return found


def overall(found: list[dict]) -> dict | None:
    """All of `collectives` that came to their end, with fastest and slowest; None if none did.

    The time of one is that of all over their number, as nccl-tests counts it: some members begin the next while others still end.
    """
    ended = [one for one in found if one["time_s"] is not None]
    if not ended:
        return None
    times, one = [one["time_s"] for one in ended], found[0]
    mean_s = (max(one["start_s"] + one["time_s"] for one in ended) - one["start_s"]) / len(ended)
    bandwidth = bus_bandwidth(one["collective"], one["ranks"], one["bytes"], mean_s)
    return {
        **{key: one[key] for key in ("collective", "algorithm", "ranks", "bytes", "nccl_model_s")},
        "finished": len(ended), "time_s": mean_s, "fastest_s": min(times), "slowest_s": max(times),
        "algbw_bytes_per_s": bandwidth.algbw_bytes_per_s, "busbw_bytes_per_s": bandwidth.busbw_bytes_per_s, "formula": bandwidth.formula,
    }  # fmt: skip


def _spans(raw, repeats: int) -> tuple[np.ndarray, np.ndarray]:
    """int64[repeats] twice: when the first message or task of each began, and when the last arrived or ended; -1 if not all have."""
    dag = raw.dag
    mine = np.concatenate([np.ones(dag.n_tasks, bool), dag.flow_kind == FlowKind.COLLECTIVE])
    iteration = np.concatenate([dag.task_iteration, dag.flow_iteration])[mine]
    start_ps, end_ps = raw.start_ps[mine], raw.end_ps[mine]
    began = np.full(repeats, np.iinfo(np.int64).max)
    np.minimum.at(began, iteration[start_ps >= 0], start_ps[start_ps >= 0])
    ended = np.zeros(repeats, np.int64)
    np.maximum.at(ended, iteration, end_ps)
    ended[iteration[end_ps < 0]] = -1
    return np.where(began == np.iinfo(np.int64).max, -1, began), ended


def expectation(scenario, network) -> Prediction | None:
    """NCCL's latency model and the bytes over the busiest line, headers and ACKs included; None where a file says what the lines are."""
    traffic, cluster = scenario.traffic, scenario.cluster
    if cluster.topology == "file":
        return None
    settings = kernel_settings(scenario.transport, scenario.simulation, network)
    payload = settings.payload_bytes
    who = members(traffic, cluster)
    nvlink_bps = bps_from_gbps(cluster.nvlink_gbps) if has_nvlink(cluster) else 0
    lines = Lines(
        np.array(who.gpus) // cluster.gpus_per_node, nvlink_bps, bps_from_gbps(cluster.nic_gbps),
        data=1 + settings.header_bytes / payload, ack=settings.ack_bytes / (payload * settings.ack_every),
    )  # fmt: skip
    return predict(
        traffic.collective, traffic.algorithm, len(who.gpus), traffic.collective_bytes, lines,
        local=who.local, chunks=traffic.chunks, channels=traffic.channels, nvlink_bps=nvlink_bps,
    )  # fmt: skip
