"""Links between hosts on shortest paths, counted without compiled code, so that it never waits for the compiler."""

import numpy as np

from sim.topology.network import Network
from sim.topology.routing import route

FAR = 2**20
WORK_MAX = 10**7  # switches walked from x links walked over: about 50 ms


def mean_hops(network: Network, src: np.ndarray, dst: np.ndarray, weight: np.ndarray) -> float:
    """Weighted mean of the links on shortest paths from `src` to `dst` (node ids of hosts).

    Exact unless the network is so large that only a sample of the senders can be looked at.
    """
    links = int((~network.node_is_host[network.port_src] & ~network.node_is_host[network.port_dst]).sum())
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
    """int64[n]: links on a shortest path from each host `src` to `dst` (node ids); hosts do not forward.

    Raises
    ------
    ScenarioError
        A pair without a path, as `sim.topology.routing.route` says it.
    """
    src, dst = np.asarray(src), np.asarray(dst)
    beside = _switches_of_hosts(network)
    starts, distance = _between_switches(network, beside[np.unique(src)])
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
    lost = np.flatnonzero(hops >= FAR)
    if len(lost):
        route(network, src[lost[:1]], dst[lost[:1]], np.zeros(1, np.int64), 0)
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


def _between_switches(network: Network, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(starts, distance int32[n_nodes, starts + 1]): links from those `wanted` switches that lead to others.

    Breadth first from all of them at once; the last column is for switches that lead nowhere.
    """
    inner = ~network.node_is_host[network.port_src] & ~network.node_is_host[network.port_dst]
    near, far = network.port_src[inner], network.port_dst[inner]
    order = np.argsort(far, kind="stable")
    near, far = near[order], far[order]
    starts = np.intersect1d(wanted, near)
    distance = np.full((network.n_nodes, len(starts) + 1), FAR, np.int32)
    if not len(starts):
        return starts, distance
    switches = np.unique(far)
    near = np.searchsorted(switches, near)
    first = np.searchsorted(far, switches)
    found = np.full((len(switches), len(starts)), FAR, np.int32)
    front = switches[:, None] == starts
    step = 0
    while front.any():
        found[front] = step
        step += 1
        front = np.logical_or.reduceat(front[near], first, axis=0) & (found == FAR)
    distance[switches, :-1] = found
    return starts, distance
