"""Flows that start, and the partitions that they bring together."""

from numpy import int64

from sim.jit import called, kernel
from sim.packet.flows import start_flow
from sim.player.loop import pop_ready
from sim.wormhole.canonical import put_state
from sim.wormhole.graph import keep_state
from sim.wormhole.known_join import describe, find_join, keep_join, recall_ports
from sim.wormhole.load import load_state
from sim.wormhole.partition import end_part, form_part, own_ports
from sim.wormhole.solve import find_root, resource
from sim.wormhole.unload import unload


@called
def take_ready(s, w, d, table):
    """List the flows that start at this instant and the partitions whose ports they will use."""
    p = w.p[0]
    p.ready = 0
    p.touched = 0
    while d.p[0].ready > 0:
        node = pop_ready(d)
        f = node - d.p[0].tasks
        d.node[node].started = p.now
        w.tmp[p.ready].ready = f
        p.ready += 1
        w.flow[f].order = p.order
        p.order += 1
        w.flow[f].base = 0
        w.flow[f].sends = 0
        p.entries += 1
        for j in range(table.data_ptr[f], table.data_ptr[f + 1]):
            touch(w, int64(w.port[resource(s, w, int64(table.data_ports[j]))].part))
        for j in range(table.ack_ptr[f], table.ack_ptr[f + 1]):
            touch(w, int64(w.port[resource(s, w, int64(table.ack_ports[j]))].part))


@kernel
def touch(w, a):
    """Something enters partition `a` (if there is one)."""
    p = w.p[0]
    if a >= 0 and w.part[a].touched < 0:
        w.part[a].touched = p.touched
        w.tmp[p.touched].touched = a
        p.touched += 1


@called
def unite(s, w, q, j):
    """New flow `j` uses port `q`: unite it with whoever else does."""
    p = w.p[0]
    Q = w.port[resource(s, w, q)]
    a = find_root(w, j)
    if Q.stamp == p.stamp:
        b = find_root(w, int64(Q.flow))
        w.tmp[max(a, b)].root = min(a, b)
    else:
        Q.stamp = p.stamp
        Q.flow = j
    part = int64(Q.part)
    if part >= 0:
        a = find_root(w, j)
        if w.part[part].touched < 0:
            w.part[part].touched = p.groups
            w.tmp[p.groups].root = p.groups
            w.tmp[p.groups].group = -1
            w.tmp[p.groups].touched = part
            p.groups += 1
        b = find_root(w, int64(w.part[part].touched))
        w.tmp[max(a, b)].root = min(a, b)


@called
def group_ready(s, w, table):
    """Chain new flows and the partitions they touch into groups; the heads are the first new flows.

    Members 0 .. ready-1 are the new flows, those after them partitions.
    """
    p = w.p[0]
    p.stamp += 1
    p.groups = p.ready
    for j in range(p.ready):
        w.tmp[j].root = j
        w.tmp[j].group = -1
    for j in range(p.ready):
        f = int64(w.tmp[j].ready)
        for m in range(table.data_ptr[f], table.data_ptr[f + 1]):
            unite(s, w, int64(table.data_ports[m]), j)
        for m in range(table.ack_ptr[f], table.ack_ptr[f + 1]):
            unite(s, w, int64(table.ack_ports[m]), j)
    for j in range(p.groups - 1, -1, -1):
        r = find_root(w, j)
        w.tmp[j].member = w.tmp[r].group
        w.tmp[r].group = j


@called
def sort_slots(s, w):
    """Put the loaded slots in order of entry (shell sort: mostly in order already)."""
    n = w.p[0].slots
    gap = n // 2
    while gap > 0:
        for j in range(gap, n):
            i = w.tmp[j].slot
            order = s.flow[i].order
            m = j
            while m >= gap and s.flow[w.tmp[m - gap].slot].order > order:
                w.tmp[m].slot = w.tmp[m - gap].slot
                m -= gap
            w.tmp[m].slot = i
        gap //= 2


@called
def enter(s, w, table, f, at):
    """New flow `f` enters the packet simulation at `at`."""
    p = w.p[0]
    g = s.g[0]
    g.entries = w.flow[f].order
    i = start_flow(s, table, f, at)
    w.tmp[p.slots].slot = i
    p.slots += 1


@called
def load_group(s, w, table, head):
    """Load a group's partitions and let its new flows enter; slots are listed in order of entry."""
    p = w.p[0]
    t = s.g[0].now - 1
    p.slots = 0
    p.loaded = 0
    j = head
    while j >= 0:
        if j >= p.ready:
            A = w.part[w.tmp[j].touched]
            load_state(s, w, table, A.state, A.flows_at, A.ports_at, t)
        j = int64(w.tmp[j].member)
    j = head
    while j >= 0 and j < p.ready:
        enter(s, w, table, int64(w.tmp[j].ready), t)
        j = int64(w.tmp[j].member)
    sort_slots(s, w)


@called
def end_group(w, head):
    """The group's partitions are no more; returns the id of the only one, or -1."""
    p = w.p[0]
    ident = int64(-1)
    merged = int64(0)
    j = head
    while j >= 0:
        if j >= p.ready:
            ident = w.part[w.tmp[j].touched].id
            merged += 1
            end_part(w, int64(w.tmp[j].touched))
        j = int64(w.tmp[j].member)
    p.merges += 1 if merged > 1 else 0
    return ident if merged == 1 else int64(-1)


@called
def join_group(s, w, table, head):
    """Make a group one partition: by a join that is known, or by putting it together and looking at the whole."""
    p = w.p[0]
    begin = p.arena_end
    known = int64(-1)
    if p.use_memo and not p.by_node:
        describe(s, w, table, head)
        known = find_join(w, begin)
    if known >= 0:
        J = w.join[known]
        state = J.state
        n = int64(w.state[state].flows)
        ports = int64(w.state[state].ports)
        recall_ports(w, head, J.result_at, ports)
        p.join_hits += 1
    else:
        words = p.arena_end - begin
        load_group(s, w, table, head)
        n = p.slots
        for j in range(n):
            w.tmp[j].merged = s.flow[w.tmp[j].slot].flow_id
        state = keep_state(w, put_state(s, w, n, s.g[0].now - 1, False), n)
        ports = p.ports
        if words > 0:
            keep_join(w, begin, words, state, ports)
        for j in range(ports):
            w.tmp[j].loaded = w.tmp[j].port
        p.loaded = ports
        unload(s, w)
        p.join_misses += 1
    ident = end_group(w, head)
    if ident < 0:
        ident = p.ids
        p.ids += 1
    b = form_part(w, state, n, ports, p.now)
    B = w.part[b]
    B.id = ident
    for j in range(n):
        w.lists[B.flows_at + j] = w.tmp[j].merged
    for j in range(ports):
        w.lists[B.ports_at + j] = w.tmp[j].port
    own_ports(w, b)
