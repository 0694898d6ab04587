"""Links between hosts on shortest paths, counted without compiled code, so that it never waits for the compiler."""

import numpy as np

from sim.topology.network import END, Network
from sim.topology.routing import MAX_HOPS, route

FAR = 2**20
WORK_MAX = 10**7  # nodes walked from x links walked over: about 50 ms
STEPS_OF_HOSTS = 8  # through hosts that forward, as in a ring, a walk takes more steps


def mean_hops(network: Network, src: np.ndarray, dst: np.ndarray, weight: np.ndarray) -> float:
    """Weighted mean of the links on shortest paths from `src` to `dst` (node ids of hosts).

    Exact unless the network is so large that only a sample of the senders can be looked at.
    """
    links = int(_between(network).sum()) * (STEPS_OF_HOSTS if network.hosts_forward else 1)
    most = max(16, WORK_MAX // max(1, links))
    senders = np.unique(src)
    if len(senders) > most:
        sample = np.random.default_rng(0).choice(senders, most, replace=False)
        chosen = np.isin(src, sample)
        if weight[chosen].sum() > 0:
            src, dst, weight = src[chosen], dst[chosen], weight[chosen]
    hops, total = hop_counts(network, src, dst), weight.sum()
    return float(hops @ weight / total) if total else 0.0


def hop_counts(network: Network, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """int64[n]: links on a shortest path from each host `src` to `dst` (node ids).

    Raises
    ------
    ScenarioError
        A pair without a path, or with too long a one, as `sim.topology.routing.route` says it.
    """
    src, dst = np.asarray(src), np.asarray(dst)
    hops = _through_hosts(network, src, dst) if network.hosts_forward else _over_switches(network, src, dst)
    lost = np.flatnonzero(hops > MAX_HOPS)
    if len(lost):
        route(network, src[lost[:1]], dst[lost[:1]], np.zeros(1, np.int64), 0)
    return hops


def _through_hosts(network: Network, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    starts, distance = _walks(network, np.unique(src))
    row = np.full(network.n_nodes, len(starts))
    row[starts] = np.arange(len(starts))
    return np.where(src == dst, 0, distance[dst, row[src]]).astype(np.int64)


def _over_switches(network: Network, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    beside = _switches_of_hosts(network)
    starts, distance = _walks(network, beside[np.unique(src)])
    row = np.full(network.n_nodes + 1, len(starts))
    row[starts] = np.arange(len(starts))
    hops = np.full(len(src), FAR, np.int64)
    for near in beside[src].T:
        for far in beside[dst].T:
            found = 2 + np.where(near == far, 0, distance[far, row[near]])
            hops = np.minimum(hops, np.where((near >= 0) & (far >= 0), found, FAR))
    is_host, n = network.node_is_host, np.int64(network.n_nodes)
    wired = is_host[network.port_src] & is_host[network.port_dst]
    if wired.any():
        hops[np.isin(src * n + dst, network.port_src[wired] * n + network.port_dst[wired])] = 1
    return hops


def _switches_of_hosts(network: Network) -> np.ndarray:
    """int[n_nodes, k]: the switches that each host is wired to, one for each link, padded with -1."""
    up = np.flatnonzero(network.node_is_host[network.port_src] & ~network.node_is_host[network.port_dst])
    up = up[np.argsort(network.port_src[up], kind="stable")]
    host = network.port_src[up]
    place = np.arange(len(host)) - np.searchsorted(host, host)
    beside = np.full((network.n_nodes, int(place.max(initial=0)) + 1), -1)
    beside[host, place] = network.port_dst[up]
    return beside


def _between(network: Network) -> np.ndarray:
    """bool[n_ports]: those between nodes that forward."""
    forwards = network.node_role != END
    return forwards[network.port_src] & forwards[network.port_dst]


def _walks(network: Network, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(starts, distance int32[n_nodes, starts + 1]): links from those `wanted` nodes that forward, and lead to others that do.

    Breadth first from all of them at once; the last column is for nodes that lead nowhere.
    """
    inner = _between(network)
    near, far = network.port_src[inner], network.port_dst[inner]
    order = np.argsort(far, kind="stable")
    near, far = near[order], far[order]
    starts = np.intersect1d(wanted, near)
    distance = np.full((network.n_nodes, len(starts) + 1), FAR, np.int32)
    if not len(starts):
        return starts, distance
    nodes = np.unique(far)
    near = np.searchsorted(nodes, near)
    first = np.searchsorted(far, nodes)
    found = np.full((len(nodes), len(starts)), FAR, np.int32)
    front = nodes[:, None] == starts
    step = 0
    while step <= MAX_HOPS and front.any():
        found[front] = step
        step += 1
        front = np.logical_or.reduceat(front[near], first, axis=0) & (found == FAR)
    distance[nodes, :-1] = found
    return starts, distance
