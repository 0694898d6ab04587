"""Partitions: which flows and ports belong together, where each is in the graph of states, and when it must be looked at."""

from numpy import int64

from sim.jit import called, kernel
from sim.packet.layout import NEVER
from sim.wormhole.layout import ACTIVE


@kernel
def push_part(w, at, a):
    """Partition `a` must be looked at at `at` (binary heap; entries of partitions that have gone on are stale)."""
    p = w.p[0]
    i = p.heap
    p.heap += 1
    while i > 0:
        up = (i - 1) >> 1
        if w.heap[up].at <= at:
            break
        w.heap[i].at = w.heap[up].at
        w.heap[i].part = w.heap[up].part
        w.heap[i].stamp = w.heap[up].stamp
        i = up
    w.heap[i].at = at
    w.heap[i].part = a
    w.heap[i].stamp = w.part[a].stamp


@called
def pop_part(w):
    """Forget the earliest entry."""
    p = w.p[0]
    p.heap -= 1
    n = p.heap
    at = w.heap[n].at
    a = w.heap[n].part
    stamp = w.heap[n].stamp
    i = int64(0)
    while True:
        low = 2 * i + 1
        if low >= n:
            break
        if low + 1 < n and w.heap[low + 1].at < w.heap[low].at:
            low += 1
        if at <= w.heap[low].at:
            break
        w.heap[i].at = w.heap[low].at
        w.heap[i].part = w.heap[low].part
        w.heap[i].stamp = w.heap[low].stamp
        i = low
    w.heap[i].at = at
    w.heap[i].part = a
    w.heap[i].stamp = stamp


@called
def next_part(w):
    """When the first partition must be looked at."""
    p = w.p[0]
    while p.heap > 0:
        H = w.heap[0]
        if w.part[H.part].stamp == H.stamp:
            return H.at
        pop_part(w)
    return NEVER


@called
def form_part(w, state, flows, ports, now):
    """A partition in `state` at `now`; its flows and ports are still to be listed."""
    p = w.p[0]
    a = p.free_part
    A = w.part[a]
    p.free_part = A.next
    A.next = ACTIVE
    A.state = state
    A.began = now
    A.next_at = NEVER
    A.outcome = -1
    A.stamp += 1
    A.touched = -1
    A.told = 0
    A.pausing = 0
    A.owed = 0
    A.flows = flows
    A.ports = ports
    A.flows_at = p.lists_end
    A.ports_at = p.lists_end + flows
    p.lists_end += flows + ports
    p.live_parts += 1
    p.live_flows += flows
    p.live_lists += flows + ports
    p.live_words += w.state[state].words
    p.live_packets += w.state[state].packets
    p.max_flows = max(p.max_flows, int64(flows))
    w.state[state].visits += 1
    w.tmp[p.fresh].fresh = a
    p.fresh += 1
    return a


@called
def own_ports(w, a):
    """Enter partition `a` as the owner of its ports."""
    A = w.part[a]
    for j in range(A.ports):
        Q = w.port[w.lists[A.ports_at + j]]
        Q.part = a
        Q.local = j


@called
def end_part(w, a):
    """Partition `a` has become something else."""
    p = w.p[0]
    A = w.part[a]
    for j in range(A.ports):
        Q = w.port[w.lists[A.ports_at + j]]
        if Q.part == a:
            Q.part = -1
    A.stamp += 1
    A.next = p.free_part
    p.free_part = a
    p.pausing -= A.pausing
    p.pending -= A.owed
    p.live_parts -= 1
    p.live_flows -= A.flows
    p.live_lists -= A.flows + A.ports
    p.live_words -= w.state[A.state].words
    p.live_packets -= w.state[A.state].packets


@called
def log_episode(w, a, until, hit):
    """Note what partition `a` did since it began."""
    p = w.p[0]
    if p.record:
        A = w.part[a]
        E = w.episode[p.episodes]
        E.part = A.id
        E.from_ps = A.began
        E.to_ps = until
        E.state = A.state
        E.outcome = A.outcome
        E.hit = hit
        E.flows = A.flows
        E.ports = A.ports
        O = w.outcome[A.outcome]
        E.hops = O.hops
        E.skipped = O.skipped
        E.skip_from = O.skip_from
        E.skipped_ps = O.skipped_ps
        p.episodes += 1
