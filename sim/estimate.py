"""What a run will cost, known at once: packet-hops, flows, tasks and CPU time, without building the graph or compiling."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sim.case import timed_faults
from sim.hop_count import mean_hops
from sim.scenario import Cluster, Scenario
from sim.scenario_collective import members
from sim.topology.build import build_network
from sim.topology.network import FABRIC, Network
from sim.transport import kernel_settings
from sim.workload import patterns
from sim.workload.collectives import counted_load
from sim.workload.jobs import tally
from sim.workload.sizes import sizes

# CPU of one packet or ACK through one port, fitted to `python -m sim bench packet` on an AMD EPYC core (to within a fifth).
NS_PER_HOP = 32.0  # few queue pairs on few hosts: k8-ring-128, sparse-1024
NS_OF_QUEUE_PAIRS = 7.5  # times the root of the others at a NIC, or its share of an uplink, at once: k8-all-to-all, leaf-spine-oversubscribed
NS_PER_HOST = 0.02  # what is under way no longer fits the processor's cache: k16-ring-1024
US_PER_FLOW = 2.0  # CPU to build, start and end a flow: fat-tree of 128 hosts, one packet to every other; all-reduce-64, one channel of 64 chunks
US_OF_TURNS = 2.6  # more where queue pairs of a NIC take turns and a graph of LARGE_GRAPH flows is out of cache: all-reduce-64, 1 to 8 channels
LARGE_GRAPH = 1_000_000  # flows; of fewer, the share of them
US_PER_TASK = 0.1  # the same of a compute task: gpt-small-16 with 200 layers and 32 micro-batches
START_S = 0.003  # CPU to begin and end any run: parallel-links, incast-16-hpcc
SENDERS_MAX = 128  # of an all-to-all with more, every n-th stands for all


@dataclass(frozen=True)
class Estimate:
    """Sizes of a run, and how long it keeps one core busy."""

    packet_hops: int  # data and ACKs, none of them sent twice
    flows: int
    tasks: int
    cpu_s: float  # without a first compilation
    least_s: float  # of it, what every flow and task costs however its packets come about: no repetition saves that


def estimate(scenario: Scenario) -> Estimate:
    """The cost of a run of `scenario`; ScenarioError for what the run would refuse: buffers, faults, pairs without a path."""
    network, counts = _network(scenario.cluster), sizes(scenario)
    kernel_settings(scenario.transport, scenario.simulation, network)
    timed_faults(scenario, network)
    sorts = list(crossings(scenario))
    src, dst, packets = (np.concatenate(column) for column in zip(*sorts, strict=True))
    total = packets.sum()
    hops = round(total * mean_hops(network, network.hosts[src], network.hosts[dst], packets)) if total else 0
    if scenario.traffic is not None:
        hops += _on_given_paths(scenario)
    least_s = float(START_S + counts.flows * us_per_flow(sorts, counts.flows) * 1e-6 + counts.tasks * US_PER_TASK * 1e-6)
    kernel_s = float(hops * ns_per_hop(sorts, oversubscription(network)) * 1e-9)
    return Estimate(hops, counts.flows, counts.tasks, kernel_s + least_s, least_s)


def oversubscription(network: Network) -> float:
    """How many times what its uplinks carry the hosts of a leaf may send, the mean of all leaves; at least 1."""
    fabric, host = network.port_kind == FABRIC, network.node_is_host
    down = fabric & host[network.port_dst] & ~host[network.port_src]
    up = fabric & ~host[network.port_dst] & ~host[network.port_src]
    to_hosts, to_others = (np.bincount(network.port_src[ports], network.port_rate_bps[ports], network.n_nodes) for ports in (down, up))
    leaves = (to_hosts > 0) & (to_others > 0)
    return max(1.0, float(np.mean(to_hosts[leaves] / to_others[leaves]))) if leaves.any() else 1.0


def ns_per_hop(sorts: list[tuple[np.ndarray, np.ndarray, np.ndarray]], oversubscribed: float = 1.0) -> float:
    """CPU time of a packet-hop, ns; the sorts of messages of `crossings` take turns, the pairs of one do not."""
    hosts = len(np.unique(np.concatenate([ends for src, dst, _ in sorts for ends in (src, dst)])))
    met = _mean(sorts, lambda pairs: ((pairs - 1) * oversubscribed) ** 0.5)
    return NS_PER_HOP + NS_OF_QUEUE_PAIRS * met + NS_PER_HOST * hosts


def us_per_flow(sorts: list[tuple[np.ndarray, np.ndarray, np.ndarray]], flows: int) -> float:
    """CPU time to build, start and end one of so many flows, us."""
    return US_PER_FLOW + US_OF_TURNS * min(1.0, flows / LARGE_GRAPH) * _mean(sorts, lambda pairs: 1 - 1 / pairs)


def _mean(sorts, of_pairs) -> float:
    """Mean over the packets of a function of how many queue pairs a NIC has in the sort of a packet."""
    told = [(packets.sum(), of_pairs(max(1.0, len(src) / min(len(np.unique(src)), len(np.unique(dst)))))) for src, dst, packets in sorts if len(src)]
    total = sum(packets for packets, _ in told)
    return sum(packets * value for packets, value in told) / total if total else 0.0


@lru_cache(maxsize=4)
def _network(cluster: Cluster) -> Network:
    return build_network(cluster)


def crossings(scenario: Scenario) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(sending host, receiving host, data packets and ACKs between them), by sort of message; hosts by index."""
    payload, every = scenario.transport.payload_bytes, scenario.transport.ack_every

    def packets(size_bytes):
        data = -(-np.asarray(size_bytes, np.float64) // payload)
        return data - (-data // every)

    yield np.zeros(0, int), np.zeros(0, int), np.zeros(0)
    found = _traffic(scenario, packets) if scenario.traffic is not None else ()
    for src, dst, number in (*found, *_counted(scenario, packets)):
        yield src, dst, np.broadcast_to(number, np.shape(src))


def _traffic(scenario: Scenario, packets):
    traffic, hosts = scenario.traffic, scenario.cluster.gpus
    if traffic.pattern == "all-to-all":
        senders = np.unique(np.linspace(0, hosts - 1, min(hosts, SENDERS_MAX)).astype(int))
        src = np.repeat(senders, hosts - 1)
        dst = (src + np.tile(np.arange(1, hosts), len(senders))) % hosts
        yield src, dst, packets(traffic.flow_bytes) * (hosts / len(senders))
    elif traffic.pattern == "collective":
        yield from _collective(scenario, packets)
    elif traffic.pattern == "flows":
        free = [(flow.src, flow.dst, flow.bytes) for flow in traffic.flows if not (flow.path or flow.ack_path)]
        src, dst, size_bytes = np.array(free, np.int64).reshape(-1, 3).T
        yield src, dst, packets(size_bytes)
    else:
        flows = {
            "incast": lambda: patterns.incast(traffic.senders or hosts - 1, traffic.receiver, traffic.flow_bytes),
            "ring": lambda: patterns.ring(hosts, traffic.flow_bytes),
            "permutation": lambda: patterns.permutation(hosts, traffic.flow_bytes, scenario.simulation.seed),
        }[traffic.pattern]()
        yield flows.src, flows.dst, packets(flows.n_bytes)


def _collective(scenario: Scenario, packets):
    """The messages of all repeats, stage by stage; each channel has a queue pair of its own for a pair of members."""
    found, gpus = counted_load(scenario, SENDERS_MAX), np.array(members(scenario.traffic, scenario.cluster).gpus)
    number = packets(found.row_bytes(scenario.traffic.collective_bytes)) * found.times * (found.weight * scenario.traffic.repeat)
    pair = found.src * len(gpus) + found.dst
    for stage in np.unique(found.stage):
        at = found.stage == stage
        pairs, which, rows = np.unique(pair[at], return_inverse=True, return_counts=True)
        lanes = np.minimum(rows, scenario.traffic.channels)
        total = np.bincount(which, number[at], minlength=len(pairs))
        yield tuple(np.repeat(column, lanes) for column in (gpus[pairs // len(gpus)], gpus[pairs % len(gpus)], total / lanes))


def _on_given_paths(scenario: Scenario) -> int:
    """Packet-hops of the flows with a path of their own; where only one way is given, the other is as long."""
    payload, every, total = scenario.transport.payload_bytes, scenario.transport.ack_every, 0
    for flow in scenario.traffic.flows:
        if flow.path or flow.ack_path:
            data = -(-flow.bytes // payload)
            forth, back = flow.path or flow.ack_path, flow.ack_path or flow.path
            total += data * (len(forth) - 1) + -(-data // every) * (len(back) - 1)
    return total


def _counted(scenario: Scenario, packets):
    """Messages of jobs and background: of every series of collectives each pair once, with all its packets."""
    gpus = scenario.cluster.gpus
    for one in tally(scenario).counted:
        number = np.broadcast_to(packets(one.n_bytes).sum(axis=0), one.src.shape)
        pairs, pair = np.unique(one.src.astype(np.int64) * gpus + one.dst, return_inverse=True)
        yield pairs // gpus, pairs % gpus, np.bincount(pair.ravel(), number.ravel(), minlength=len(pairs))
