"""Paths: shortest by hops with ECMP per switch, or explicit; and the round-trip times they make."""

import numpy as np

from sim.errors import ScenarioError
from sim.topology.network import END, Network, connected, list_nodes
from sim.topology.shortest_paths import longest_rtt, walk_flows, walk_nodes
from sim.units import BITS_PER_BYTE, PS_PER_S

MAX_HOPS = 255  # links of a path: a packet counts them in one byte


def route(
    network: Network, src: np.ndarray, dst: np.ndarray, key: np.ndarray, seed: int, down: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Shortest paths by hops; at each switch a hash of (seed, node, key) picks among the equally short ports.

    A host that forwards picks a neighbour by the order of the links, and only among parallel links to it by that hash.

    Parameters
    ----------
    src, dst : int32[n], node ids of hosts
    key : int64[n], what tells the flows of one pair apart
    seed : the ECMP seed of the cluster
    down : bool[n_ports], ports out of service

    Returns
    -------
    (ptr int64[n + 1], ports int32[ptr[-1]]) : the ports of flow i are ports[ptr[i]:ptr[i + 1]], in order.

    Raises
    ------
    ScenarioError
        A pair without a path: names it and lists the parts of the network. A path of more than MAX_HOPS links.
    """
    src, dst, key = np.asarray(src, np.int32), np.asarray(dst, np.int32), np.asarray(key, np.int64)
    usable = np.ones(network.n_ports, bool) if down is None else ~np.asarray(down)
    order = np.argsort(dst, kind="stable")
    ptr = np.zeros(len(src) + 1, np.int64)
    out_ptr, out_ports = network.out_ports
    graph = (network.node_role, out_ptr, out_ports, network.port_dst, network.port_kind, usable)
    lost = walk_flows(order, src, dst, key, seed, *graph, ptr, np.empty(0, np.int32))
    if lost >= 0:
        raise ScenarioError(_no_path(network, int(src[lost]), int(dst[lost]), usable))
    if len(src) and ptr.max() > MAX_HOPS:
        worst = int(np.argmax(ptr)) - 1
        raise _too_long(network, int(src[worst]), int(dst[worst]), int(ptr[worst + 1]))
    np.cumsum(ptr, out=ptr)
    ports = np.empty(ptr[-1], np.int32)
    if len(ports):
        with np.errstate(over="ignore"):
            walk_flows(order, src, dst, key, seed, *graph, ptr, ports)
    return ptr, ports


def components(network: Network, usable: np.ndarray | None = None) -> list[np.ndarray]:
    """The parts between which no packet can pass, as sorted node ids.

    Where hosts do not forward, a part is a connected set of switches with the hosts on it, or two hosts
    wired to each other, or a host without any link.
    """
    usable = np.ones(network.n_ports, bool) if usable is None else usable
    src, dst, is_end = network.port_src[usable], network.port_dst[usable], network.node_role == END
    inner = ~is_end[src] & ~is_end[dst]
    label = connected(network.n_nodes, src[inner], dst[inner])
    parts = {int(part): set(np.flatnonzero((label == part) & ~is_end).tolist()) for part in np.unique(label[~is_end])}
    up = is_end[src] & ~is_end[dst]
    for host, switch in zip(src[up].tolist(), dst[up].tolist(), strict=True):
        parts[int(label[switch])].add(host)
    pairs = {
        frozenset(pair)
        for pair in zip(
            src[is_end[src] & is_end[dst]].tolist(), dst[is_end[src] & is_end[dst]].tolist(), strict=True
        )
    }
    linked = set(src.tolist()) | set(dst.tolist())
    alone = [{host} for host in network.hosts.tolist() if is_end[host] and host not in linked]
    return [np.array(sorted(part)) for part in (*parts.values(), *sorted(pairs, key=sorted), *alone)]


def _no_path(network: Network, src: int, dst: int, usable: np.ndarray) -> str:
    parts = components(network, usable)
    shown = "; ".join(list_nodes(network, part) for part in parts[:4]) + (
        f"; and {len(parts) - 4} more" if len(parts) > 4 else ""
    )
    name = network.node_name
    why = "" if network.hosts_forward else " (hosts do not forward)"
    return f"there is no path from {name[src]} to {name[dst]}{why}: the network falls into {len(parts)} parts: {shown}"


def _too_long(network: Network, src: int, dst: int, hops: int) -> ScenarioError:
    name = network.node_name
    return ScenarioError(f"the path from {name[src]} to {name[dst]} has {hops} links: at most {MAX_HOPS} are simulated; smaller rings or more switches fit")


def explicit_path(
    network: Network, nodes: list[int], key: int = 0, seed: int = 1, down: np.ndarray | None = None
) -> np.ndarray:
    """int32: the ports along `nodes` (ids, host to host); among parallel links a hash of (seed, node, key) picks."""
    nodes = np.asarray(nodes, np.int32)
    name = network.node_name
    shown = "-".join(name[node] for node in nodes)
    if len(nodes) < 2 or not network.node_is_host[nodes[[0, -1]]].all() or (network.node_role[nodes[1:-1]] == END).any():
        over = "others" if network.hosts_forward else "switches"
        raise ScenarioError(f"path {shown}: must lead from a host over {over} to a host{'' if network.hosts_forward else ' (hosts do not forward)'}")
    if len(nodes) - 1 > MAX_HOPS:
        raise _too_long(network, int(nodes[0]), int(nodes[-1]), len(nodes) - 1)
    usable = np.ones(network.n_ports, bool) if down is None else ~np.asarray(down)
    out_ptr, out_ports = network.out_ports
    ports = np.zeros(len(nodes) - 1, np.int32)
    with np.errstate(over="ignore"):
        missing = walk_nodes(nodes, out_ptr, out_ports, network.port_dst, usable, key, seed, ports)
    if missing >= 0:
        node = nodes[missing]
        beside = np.unique(network.port_dst[(network.port_src == node) & usable])
        raise ScenarioError(
            f"path {shown}: there is no link {name[node]}-{name[nodes[missing + 1]]}; {name[node]} has links to {list_nodes(network, beside)}"
        )
    return ports


def _sum_of_paths(values: np.ndarray, ptr: np.ndarray, ports: np.ndarray) -> np.ndarray:
    total = np.concatenate((np.zeros(1, np.int64), np.cumsum(values[ports])))
    return total[ptr[1:]] - total[ptr[:-1]]


def base_rtt_ps(
    network: Network, ptr: np.ndarray, ports: np.ndarray, ack_ptr: np.ndarray, ack_ports: np.ndarray, payload_bytes: int
) -> np.ndarray:
    """int64[n]: delays both ways plus the serialisation of one payload on every data hop.

    The HPCC simulator's formula: 4160 ns for 1000 B over two links of 100 Gb/s and 1 us.
    """
    send_ps = payload_bytes * BITS_PER_BYTE * PS_PER_S // network.port_rate_bps
    there = _sum_of_paths(network.port_delay_ps + send_ps, ptr, ports)
    return there + _sum_of_paths(network.port_delay_ps, ack_ptr, ack_ports)


def max_base_rtt_ps(network: Network, payload_bytes: int) -> tuple[int, int]:
    """(rtt_ps, bdp_bytes): the longest base RTT and the largest bandwidth-delay product over all pairs of hosts."""
    out_ptr, out_ports = network.out_ports
    usable = np.ones(network.n_ports, bool)
    rtt_ps, bits = longest_rtt(
        network.hosts, payload_bytes * BITS_PER_BYTE, network.node_role, out_ptr, out_ports,
        network.port_dst, network.port_kind, network.port_rate_bps, network.port_delay_ps, usable,
    )  # fmt: skip
    return int(rtt_ps), round(bits / BITS_PER_BYTE)
