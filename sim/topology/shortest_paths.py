"""Compiled walks over the graph: distances, the ports of shortest paths, the ECMP hash."""

import numpy as np

from sim.jit import njit
from sim.topology.network import END, FORWARDER, NVLINK, SWITCH

MIX_A, MIX_B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
S27, S30, S31 = np.uint64(27), np.uint64(30), np.uint64(31)
FAR = 2**30


@njit
def _mix(value):
    """SplitMix64's finaliser (Steele, Lea, Flood, OOPSLA 2014, figure 17)."""
    value = (value ^ (value >> S30)) * MIX_A
    value = (value ^ (value >> S27)) * MIX_B
    return value ^ (value >> S31)


@njit
def _pick(seed, node, key, n):
    """0..n-1 for a flow of entropy `key` at switch `node`."""
    mixed = _mix(_mix(_mix(np.uint64(seed) + GOLDEN) ^ np.uint64(node)) ^ np.uint64(key))
    return np.int64(mixed % np.uint64(n))


@njit
def distances(dst, role, out_ptr, out_ports, port_dst, usable, distance, queue):
    """Hops of every node to `dst`; other nodes of role END are never on the way.

    `queue` is left with `dst` and those that forward by rising distance, as many as are returned. A link
    counts if its port towards `dst`, the reverse of the one walked, is usable.
    """
    distance[:] = FAR
    distance[dst] = 0
    queue[0] = dst
    head, tail = 0, 1
    while head < tail:
        node = queue[head]
        head += 1
        for i in range(out_ptr[node], out_ptr[node + 1]):
            port = out_ports[i]
            other = port_dst[port]
            if usable[port ^ 1] and distance[other] == FAR:
                distance[other] = distance[node] + 1
                if role[other] != END:
                    queue[tail] = other
                    tail += 1
    return tail


@njit
def _one_neighbour(role, port_dst, next_ports, first, end):
    """Keep, of a host's equally short ports, those to one of the hosts beside it; returns where they end.

    The first link listed from this host to the other has precedence over those listed the other way round: in a ring all go
    the same way round, wherever they start. Ports to switches are left, to be spread over, where none leads to a host.
    """
    best = -1
    for i in range(first, end):
        port = next_ports[i]
        if role[port_dst[port]] != SWITCH and (best < 0 or (port & 1) < (best & 1)):
            best = port
    if best < 0:
        return end
    n = first
    for i in range(first, end):
        if port_dst[next_ports[i]] == port_dst[best]:
            next_ports[n] = next_ports[i]
            n += 1
    return n


@njit
def ports_nearer(dst, role, out_ptr, out_ports, port_dst, port_kind, usable, distance, next_ptr, next_ports):
    """CSR over nodes of the ports that lead one hop nearer, by rising port id.

    Where NVLink and the fabric are equally short, the flow stays on NVLink; a host that forwards keeps to one neighbour.
    """
    n = 0
    for node in range(len(distance)):
        next_ptr[node] = n
        if distance[node] == FAR or node == dst:
            continue
        nvlink = False
        for i in range(out_ptr[node], out_ptr[node + 1]):
            port = out_ports[i]
            other = port_dst[port]
            if usable[port] and distance[other] == distance[node] - 1 and (other == dst or role[other] != END):
                if port_kind[port] == NVLINK and not nvlink:
                    n = next_ptr[node]
                    nvlink = True
                if port_kind[port] == NVLINK or not nvlink:
                    next_ports[n] = port
                    n += 1
        if role[node] == FORWARDER:
            n = _one_neighbour(role, port_dst, next_ports, next_ptr[node], n)
    next_ptr[len(distance)] = n


@njit
def walk_flows(order, src, dst, key, seed, role, out_ptr, out_ports, port_dst, port_kind, usable, ptr, ports):
    """Fills `ports` by walking flows grouped by destination. Returns the first flow without a path, or -1.

    Called twice: with an empty `ports` it only writes hop counts into ptr[1:].
    """
    n_nodes = len(role)
    distance, queue = np.empty(n_nodes, np.int32), np.empty(n_nodes, np.int32)
    next_ptr, next_ports = np.empty(n_nodes + 1, np.int32), np.empty(len(port_dst), np.int32)
    fill = len(ports) > 0
    current = np.int32(-1)  # of the type of nodes elsewhere, so that `distances` is compiled once
    for flow in order:
        if dst[flow] != current:
            current = dst[flow]
            distances(current, role, out_ptr, out_ports, port_dst, usable, distance, queue)
            if fill:
                ports_nearer(
                    current, role, out_ptr, out_ports, port_dst, port_kind, usable, distance, next_ptr, next_ports
                )
        node = src[flow]
        if distance[node] == FAR:
            return flow
        if not fill:
            ptr[flow + 1] = distance[node]
            continue
        at = ptr[flow]
        while node != current:
            first = next_ptr[node]
            n = next_ptr[node + 1] - first
            port = next_ports[first] if n == 1 else next_ports[first + _pick(seed, node, key[flow], n)]
            ports[at] = port
            at += 1
            node = port_dst[port]
    return -1


@njit
def walk_nodes(nodes, out_ptr, out_ports, port_dst, usable, key, seed, ports):
    """Ports along `nodes`; returns the position of the first missing link, or -1."""
    for i in range(len(nodes) - 1):
        node, following = nodes[i], nodes[i + 1]
        n = 0
        for j in range(out_ptr[node], out_ptr[node + 1]):
            if port_dst[out_ports[j]] == following and usable[out_ports[j]]:
                n += 1
        if n == 0:
            return i
        skip = _pick(seed, node, key, n)
        for j in range(out_ptr[node], out_ptr[node + 1]):
            if port_dst[out_ports[j]] == following and usable[out_ports[j]]:
                if skip == 0:
                    ports[i] = out_ports[j]
                skip -= 1
    return -1


@njit
def longest_rtt(
    hosts, payload_bits, role, out_ptr, out_ports, port_dst, port_kind, port_rate_bps, port_delay_ps, usable
):
    """(ps, bits): the longest unloaded round trip between hosts, and the largest bandwidth-delay product of a pair."""
    n_nodes = len(role)
    distance, queue = np.empty(n_nodes, np.int32), np.empty(n_nodes, np.int32)
    next_ptr, next_ports = np.empty(n_nodes + 1, np.int32), np.empty(len(port_dst), np.int32)
    rtt_ps, rate_bps = np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int64)
    longest_ps, largest_bits = 0, 0.0
    for dst in hosts:
        n_queued = distances(dst, role, out_ptr, out_ports, port_dst, usable, distance, queue)
        ports_nearer(dst, role, out_ptr, out_ports, port_dst, port_kind, usable, distance, next_ptr, next_ports)
        rtt_ps[dst] = 0
        rate_bps[dst] = 2**62
        for i in range(1, n_queued + len(hosts)):
            node = queue[i] if i < n_queued else hosts[i - n_queued]
            if node == dst or distance[node] == FAR:
                continue
            rtt_ps[node] = rate_bps[node] = 0
            for j in range(next_ptr[node], next_ptr[node + 1]):
                port = next_ports[j]
                following = port_dst[port]
                hop_ps = 2 * port_delay_ps[port] + np.int64(payload_bits * 1000000000000 // port_rate_bps[port])
                rtt_ps[node] = max(rtt_ps[node], rtt_ps[following] + hop_ps)
                rate_bps[node] = max(rate_bps[node], min(rate_bps[following], port_rate_bps[port]))
            if role[node] != SWITCH:
                longest_ps = max(longest_ps, rtt_ps[node])
                largest_bits = max(largest_bits, rtt_ps[node] * 1e-12 * rate_bps[node])
    return longest_ps, largest_bits
