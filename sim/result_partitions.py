"""Episodes, partitions and patterns of a run of the wormhole kernel as tables, and the partitions of any run at a time."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sim.result_paths import ways
from sim.result_tables import seconds
from sim.units import PS_PER_S
from sim.wormhole.records import EPISODE, PARTITION, PATTERN

HOW = ("simulated", "replayed")


def episodes_table(raw) -> pd.DataFrame:
    """One row per stretch of a partition's life between two of its events; empty but in mode wormhole."""
    rows = np.zeros(0, EPISODE) if raw.records is None else raw.records.episodes
    return pd.DataFrame(
        {
            "partition_id": rows["partition_id"],
            "start_s": seconds(rows["start_ps"]),
            "end_s": seconds(rows["end_ps"]),
            "how": pd.Categorical.from_codes(rows["replayed"].astype(np.int8), HOW),
            "skipped_from_s": seconds(rows["skipped_from_ps"]),
            "skipped_s": rows["skipped_ps"] / PS_PER_S,
            **{name: rows[name] for name in ("pattern_id", "flows", "ports", "packet_hops", "executed_hops")},
        }
    )


def partitions_table(raw) -> pd.DataFrame:
    """One row per partition; empty but in mode wormhole."""
    rows = np.zeros(0, PARTITION) if raw.records is None else raw.records.partitions
    return pd.DataFrame(
        {
            "partition_id": rows["partition_id"],
            "start_s": seconds(rows["start_ps"]),
            "end_s": seconds(rows["end_ps"]),
            **{name: rows[name] for name in ("max_flows", "max_ports", "episodes")},
        }
    )


def patterns_table(raw) -> pd.DataFrame:
    """One row per pattern, in the order in which they appeared; empty but in mode wormhole."""
    rows = np.zeros(0, PATTERN) if raw.records is None else raw.records.patterns
    return pd.DataFrame(
        {
            **{name: rows[name] for name in ("pattern_id", "flows", "ports", "count", "hits", "hops_saved")},
            "mean_length_s": rows["total_ps"] / np.maximum(rows["count"], 1) / PS_PER_S,
            "states": rows["states"],
        }
    )


@dataclass(frozen=True)
class ActivePartition:
    """Flows that are under way together, and the ports that their data and ACKs queue in; ids, ascending."""

    flows: np.ndarray
    ports: np.ndarray


def active_flows(result, time_s: float) -> np.ndarray:
    """Ids of the flows that have started by then and whose last ACK is not back yet; those without bytes never count."""
    raw = result.raw
    start_ps, acked_ps = raw.start_ps[raw.dag.n_tasks :], raw.acked_ps
    at_ps = time_s * PS_PER_S
    return np.flatnonzero((start_ps >= 0) & (start_ps <= at_ps) & ((acked_ps < 0) | (acked_ps > at_ps)) & (raw.dag.flow_bytes > 0))


def incidence(raw, flows: np.ndarray, at_ps=None) -> tuple[np.ndarray, np.ndarray]:
    """(place in `flows`, port) of every port that their data or ACKs cross, at a time or each at its own; None: as they began."""
    both = ways(raw, flows, at_ps)
    places = [np.repeat(np.arange(len(flows)), np.diff(ptr)) for ptr, _ in both]
    return np.concatenate(places), np.concatenate([ports for _, ports in both])


def shared_ports(network, transport, ports: np.ndarray) -> np.ndarray:
    """What flows share that cross these ports, as in the kernel: the port; its link under PFC; its switch's buffer if that is shared."""
    shared = ports if transport.pfc == "off" else ports & ~1
    if transport.pfc == "fixed":
        return shared
    node = network.port_src[ports]
    return np.where(network.node_is_host[node], shared, network.n_ports + node)


def partitions_at(result, time_s: float) -> list[ActivePartition]:
    """The partitions of any run at a time, by their first flow: flows that share ports, ACKs' ports included, directly or through others.

    With PFC the two directions of a link count as one, and with a buffer that its ports share a whole switch does.
    """
    flows = active_flows(result, time_s)
    member, port = incidence(result.raw, flows, time_s * PS_PER_S)
    root = list(range(len(flows)))

    def find(j: int) -> int:
        while root[j] != j:
            root[j] = root[root[j]]
            j = root[j]
        return j

    first: dict[int, int] = {}
    for j, what in zip(member.tolist(), shared_ports(result.network, result.scenario.transport, port).tolist(), strict=True):
        a, b = find(j), find(first.setdefault(what, j))
        root[max(a, b)] = min(a, b)
    group = np.array([find(j) for j in range(len(flows))], np.int64)
    by_flow, by_port = np.argsort(group, kind="stable"), np.argsort(group[member], kind="stable")
    heads = np.unique(group)
    flow_parts = np.split(flows[by_flow], np.searchsorted(group[by_flow], heads[1:]))
    port_parts = np.split(port[by_port], np.searchsorted(group[member][by_port], heads[1:]))
    return [ActivePartition(some, np.unique(ports)) for some, ports in zip(flow_parts, port_parts, strict=True) if len(some)]
