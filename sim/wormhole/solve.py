"""Find out by packets what becomes of one partition: load its state, advance it, keep what came of it."""

from numpy import int64

from sim.jit import called, kernel
from sim.packet.layout import ACKED, NEVER
from sim.player.tables import ACKED_NOW, END
from sim.wormhole.canonical import put, put_state
from sim.wormhole.effort import LINGER_HOPS_PER_WORD
from sim.wormhole.graph import keep_state
from sim.wormhole.layout import ADVANCE, BOUNDED, EVENT
from sim.wormhole.load import load_state
from sim.wormhole.outcome import MAIN, keep_outcome
from sim.wormhole.samples import begin_sampling
from sim.wormhole.steady_state import begin_probing, next_instant
from sim.wormhole.unload import unload

FAR_AHEAD_PS = int64(1) << int64(44)  # 17 s: how far an uninterrupted partition is looked at in one go


@called
def begin_solve(s, w, table, a, until):
    """Load partition `a` to be advanced by `until` ps, or to its next event."""
    p = w.p[0]
    g = s.g[0]
    A = w.part[a]
    p.solving = a
    p.solve_until = until
    p.reference = g.now - 1
    p.slots = 0
    p.loaded = 0
    g.wheel_start = g.now  # windows lie the same way whenever this is found out, so a pause does too
    g.cursor = 0
    g.refit = 1
    load_state(s, w, table, A.state, A.flows_at, A.ports_at, p.reference)
    p.skipped = 0
    p.skipped_ps = 0
    p.skipped_data = 0
    p.skipped_marks = 0
    p.skipped_pauses = 0
    p.hops_before = g.packet_hops
    p.data_before = g.data_packets
    p.draws_before = g.draws
    p.marks_before = g.marks
    p.pauses_before = g.pauses
    p.drops_before = g.drops
    p.losses_before = g.losses
    p.retransmits_before = g.retransmits
    p.timeouts_before = g.timeouts
    p.solves += 1
    p.logged = 0
    p.pause = int64(w.state[A.state].chunk) if w.state[A.state].chunk > 0 else p.chunk
    p.linger = LINGER_HOPS_PER_WORD * w.state[A.state].words
    for j in range(p.slots):
        w.tmp[w.tmp[j].slot].local = j
    begin_probing(s, w)
    p.sample_at = NEVER
    p.variance = 0.0
    if p.level == BOUNDED:
        begin_sampling(s, w)
        if p.has_loss:
            p.sample_at = NEVER  # a flow that waits for its timeout stands as still as one that is steady


@called
def solve_stop(s, w):
    """The scratch time to which the simulation may go on now (excluded)."""
    p = w.p[0]
    g = s.g[0]
    stop = g.now + FAR_AHEAD_PS
    if p.solve_until < NEVER:
        stop = p.reference + p.solve_until - p.skipped_ps + 1
    if p.probing:
        stop = min(stop, next_instant(s, w) + 1)
    elif p.probe_at < NEVER:
        stop = min(stop, max(p.reference + p.probe_at, g.now) + 1)
    if p.sample_at < NEVER:
        stop = min(stop, p.reference + p.sample_at + 1)
    return stop


@kernel
def find_root(w, j):
    """Root of `j` in the union-find of the scratch list, halving the way."""
    while w.tmp[j].root != j:
        w.tmp[j].root = w.tmp[w.tmp[j].root].root
        j = int64(w.tmp[j].root)
    return j


@kernel
def resource(s, w, q):
    """What flows share when they share port `q`: the port, its link where pauses may come back, or its switch's buffer."""
    p = w.p[0]
    if p.by_node and s.node[s.port[q].node].buffered:
        return s.port[s.node[s.port[q].node].first_port].by_node
    return q & ~1 if p.by_link else q


@called
def split(s, w, n):
    """Chain the `n` remembered flows that still share something; heads of chains in `group`, the first flow first."""
    p = w.p[0]
    p.stamp += 1
    for j in range(n):
        w.tmp[j].root = j
        w.tmp[j].group = -1
        F = s.flow[w.tmp[j].old]
        if F.flow_id < 0:
            continue
        at = int64(F.region)
        ends = 0
        while ends < 2:
            at += 1
            q = int64(s.paths[at])
            if q < 0:
                ends += 1
                continue
            Q = w.port[resource(s, w, q)]
            if Q.stamp == p.stamp:
                a = find_root(w, j)
                b = find_root(w, int64(Q.flow))
                w.tmp[max(a, b)].root = min(a, b)
            else:
                Q.stamp = p.stamp
                Q.flow = j
    for j in range(n - 1, -1, -1):
        if s.flow[w.tmp[j].old].flow_id >= 0:
            r = find_root(w, j)
            w.tmp[j].member = w.tmp[r].group
            w.tmp[r].group = j


@called
def keep_component(s, w, head, t):
    """The state of one chain of flows, and a block that says which old flows and ports it has; returns the block's place."""
    p = w.p[0]
    m = int64(0)
    j = head
    while j >= 0:
        w.tmp[m].slot = w.tmp[j].old
        m += 1
        j = int64(w.tmp[j].member)
    begin = put_state(s, w, m, t, False)
    ports = p.ports
    state = keep_state(w, begin, m)
    block = p.arena_end
    put(w, state)
    put(w, m)
    put(w, ports)
    j = head
    while j >= 0:
        put(w, j)
        j = int64(w.tmp[j].member)
    for j in range(ports):
        put(w, int64(w.port[w.tmp[j].port].local))
    return block


@called
def put_draw_keys(w, table, a):
    """What the random draws of partition `a`'s flows depend on."""
    A = w.part[a]
    for j in range(A.flows):
        f = int64(w.lists[A.flows_at + j])
        put(w, table.draw_key[f])
        put(w, w.flow[f].base)
        put(w, w.flow[f].sends)


@called
def log_events(s, w, d, a):
    """Note what this instant reports; whether the partition may be solved on past it.

    A large partition whose flows end one by one would be put into words as often as it has flows. So its
    outcome covers several events, unless a flow waits for one of them, until the packets cost as much as the words.
    """
    p = w.p[0]
    g = s.g[0]
    A = w.part[a]
    on = p.slots >= p.large and not p.has_loss and g.active_flows > 0 and g.packet_hops - p.hops_before < p.linger
    for j in range(g.events):
        E = s.events[j]
        local = int64(w.tmp[E.event_slot].local)
        what = ACKED_NOW if E.event_kind == ACKED else END
        w.tmp[p.logged].event_dt = g.now - 1 - p.reference + p.skipped_ps
        w.tmp[p.logged].event = (local << 2) + what
        p.logged += 1
        N = d.node[d.p[0].tasks + w.lists[A.flows_at + local]]
        lo = N.acked_from if what == ACKED_NOW else N.done_from
        hi = N.acked_to if what == ACKED_NOW else N.acked_from
        for m in range(lo, hi):
            if d.successors[m] >= d.p[0].tasks:
                on = False
    return on


@called
def put_changes(s, w, a, t):
    """The events that were logged, and what flows and ports of partition `a` have done."""
    A = w.part[a]
    for j in range(w.p[0].logged):
        put(w, w.tmp[j].event_dt)
        put(w, w.tmp[j].event)
    for j in range(A.flows):
        F = s.flow[w.tmp[j].old]
        f = int64(w.lists[A.flows_at + j])
        put(w, F.acked_packets - w.flow[f].base)
        put(w, F.sends - w.flow[f].sends)
        put(w, F.marks)
        put(w, F.retransmits)
    for j in range(A.ports):
        P = s.port[w.lists[A.ports_at + j]]
        if P.paused:
            P.paused_ps += t - P.paused_since
        put(w, P.tx_bytes)
        put(w, P.tx_packets)
        put(w, P.max_queue)
        put(w, P.marks)
        put(w, P.pauses)
        put(w, P.paused_ps)
        put(w, P.drops)


@called
def conclude(s, w, table, kind):
    """Keep what the solved partition's state leads to, and empty the packet simulation."""
    p = w.p[0]
    g = s.g[0]
    a = p.solving
    A = w.part[a]
    t = g.now - 1
    n = p.slots
    o = keep_outcome(w, A.state, p.solve_until if kind == ADVANCE else MAIN)
    O = w.outcome[o]
    O.kind = kind
    O.dt = NEVER if kind == EVENT and p.logged == 0 else t - p.reference + p.skipped_ps
    O.hops = g.packet_hops - p.hops_before
    O.skipped = p.skipped
    O.data_packets = g.data_packets - p.data_before + p.skipped_data
    O.marks = g.marks - p.marks_before + p.skipped_marks
    O.pauses = g.pauses - p.pauses_before + p.skipped_pauses
    O.drops = g.drops - p.drops_before
    O.losses = g.losses - p.losses_before
    O.retransmits = g.retransmits - p.retransmits_before
    O.timeouts = g.timeouts - p.timeouts_before
    O.skipped_ps = p.skipped_ps
    O.skip_from = p.skip_from
    O.periods = p.periods
    O.variance = p.variance
    p.executed += O.hops
    if g.draws != p.draws_before:
        O.drew = p.arena_end
        put_draw_keys(w, table, a)
    for j in range(n):
        w.tmp[j].old = w.tmp[j].slot
    split(s, w, n)
    comps = int64(0)
    for r in range(n):
        if w.tmp[r].group >= 0:
            w.tmp[comps].block = keep_component(s, w, int64(w.tmp[r].group), t)
            comps += 1
    O.at = p.arena_end
    put(w, p.logged)
    put(w, comps)
    for c in range(comps):
        put(w, w.tmp[c].block)
    for j in range(n):
        w.tmp[j].slot = w.tmp[j].old
        w.tmp[w.tmp[j].old].local = j
    put_changes(s, w, a, t)
    unload(s, w)
    p.solving = -1
    return o
