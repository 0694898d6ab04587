"""Joins that are known: which partitions in which states, which new flows, over which of their ports, make which state.

A join is described by words: the partitions' states, the order of their flows among each other, and per
new flow its size, window, round trip and ports. A port is named by its place in a partition, or by when
the new flows first use it and how it behaves. Equal descriptions make equal states.
"""

from numpy import int64

from sim.jit import called, kernel
from sim.wormhole.canonical import put
from sim.wormhole.graph import hash_words, same_words

PLACE_BITS = 24


@kernel
def name_port(w, q):
    """Describe port `q`; the first use of a new one says how it behaves."""
    p = w.p[0]
    Q = w.port[q]
    if Q.part >= 0:
        put(w, 2 * ((int64(w.part[Q.part].touched) << PLACE_BITS) + Q.local))
        return
    first = Q.new_mark != p.new_mark
    if first:
        Q.new_mark = p.new_mark
        Q.new_place = p.new_ports
        w.tmp[p.new_ports].new_port = q
        p.new_ports += 1
        if p.by_link:
            R = w.port[q ^ 1]
            R.new_mark = p.new_mark
            R.new_place = p.new_ports
            w.tmp[p.new_ports].new_port = q ^ 1
            p.new_ports += 1
    put(w, 2 * Q.new_place + 1)
    if first:
        put(w, int64(Q.class_))
        if p.by_link:
            put(w, int64(w.port[q ^ 1].class_))


@called
def merge_flows(w, parts):
    """Put the listed flows of several partitions in order of entry (shell sort), and describe that order."""
    p = w.p[0]
    n = p.merged
    gap = n // 2 if parts > 1 else int64(0)
    while gap > 0:
        for j in range(gap, n):
            f = w.tmp[j].merged
            owner = w.tmp[j].owner
            order = w.flow[f].order
            m = j
            while m >= gap and w.flow[w.tmp[m - gap].merged].order > order:
                w.tmp[m].merged = w.tmp[m - gap].merged
                w.tmp[m].owner = w.tmp[m - gap].owner
                m -= gap
            w.tmp[m].merged = f
            w.tmp[m].owner = owner
        gap //= 2
    if parts > 1:
        for j in range(n):
            put(w, int64(w.tmp[j].owner))


@called
def describe(s, w, table, head):
    """Write the description of a group to the end of the arena; its flows are listed in order of entry."""
    p = w.p[0]
    p.merged = 0
    p.new_ports = 0
    p.new_mark += 1
    parts = int64(0)
    news = int64(0)
    j = head
    while j >= 0:
        if j >= p.ready:
            A = w.part[w.tmp[j].touched]
            A.touched = parts
            put(w, A.state)
            for m in range(A.flows):
                w.tmp[p.merged].merged = w.lists[A.flows_at + m]
                w.tmp[p.merged].owner = parts
                p.merged += 1
            parts += 1
        else:
            news += 1
        j = int64(w.tmp[j].member)
    put(w, parts)
    put(w, news)
    merge_flows(w, parts)
    j = head
    while j >= 0 and j < p.ready:
        f = int64(w.tmp[j].ready)
        w.tmp[p.merged].merged = f
        p.merged += 1
        put(w, table.size_bytes[f])
        put(w, table.window_bytes[f])
        put(w, table.base_rtt_ps[f])
        for m in range(table.data_ptr[f], table.data_ptr[f + 1]):
            name_port(w, int64(table.data_ports[m]))
        put(w, -1)
        for m in range(table.ack_ptr[f], table.ack_ptr[f + 1]):
            name_port(w, int64(table.ack_ports[m]))
        put(w, -1)
        j = int64(w.tmp[j].member)


@called
def find_join(w, begin):
    """The known join with the description that begins there (which is dropped then), or -1."""
    p = w.p[0]
    words = p.arena_end - begin
    p.join_hash = hash_words(w, begin, p.arena_end)
    j = p.join_hash & p.join_mask
    while w.join_index[j] >= 0:
        J = w.join[w.join_index[j]]
        if J.hash == p.join_hash and J.words == words and same_words(w, J.at, begin, words):
            p.arena_end = begin
            return int64(w.join_index[j])
        j = (j + 1) & p.join_mask
    p.join_slot = j
    return int64(-1)


@called
def keep_join(w, begin, words, state, ports):
    """Keep what the description that begins there has made: a state, with its ports named as in the description."""
    p = w.p[0]
    i = p.joins
    p.joins += 1
    w.join_index[p.join_slot] = i
    J = w.join[i]
    J.at = begin
    J.words = words
    J.hash = p.join_hash
    J.state = state
    J.result_at = p.arena_end
    for j in range(ports):
        name_port(w, int64(w.tmp[j].port))


@called
def recall_ports(w, head, at, ports):
    """List the ports of a known join's state."""
    p = w.p[0]
    j = head
    while j >= 0:
        if j >= p.ready:
            a = w.tmp[j].touched
            w.tmp[w.part[a].touched].joined = a
        j = int64(w.tmp[j].member)
    for j in range(ports):
        x = w.arena[at + j]
        if x & 1:
            w.tmp[j].port = w.tmp[x >> 1].new_port
        else:
            A = w.part[w.tmp[x >> (PLACE_BITS + 1)].joined]
            w.tmp[j].port = w.lists[A.ports_at + ((x >> 1) & ((int64(1) << PLACE_BITS) - 1))]
