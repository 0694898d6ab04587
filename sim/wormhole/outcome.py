"""Outcomes: what becomes of a state, found by packets once, kept in the arena, and played back for every partition that comes by."""

from numpy import int64

from sim.jit import called, kernel
from sim.packet.loop import halve_bins
from sim.player.loop import finish
from sim.wormhole.layout import BOUNDED
from sim.wormhole.partition import end_part, form_part, log_episode, own_ports, push_part

PACE_PACKETS = 64  # with fewer a flow's pace is not told
MAIN = int64(-1)  # the offset of an outcome that nothing interrupts
PER_FLOW, PER_PORT = 4, 7


@kernel
def edge_slot(w, state, offset):
    """The place of (state, offset) in the index of outcomes, taken or free."""
    p = w.p[0]
    j = ((state * 0x9E3779B1 + offset * 0x85EBCA77) >> 7) & p.edge_mask
    while w.edge_index[j] >= 0:
        O = w.outcome[w.edge_index[j]]
        if O.state == state and O.offset == offset:
            break
        j = (j + 1) & p.edge_mask
    return j


@called
def draws_alike(w, table, a, at):
    """Whether partition `a` draws the same random numbers as the one that made the outcome whose keys stand there."""
    A = w.part[a]
    for j in range(A.flows):
        f = int64(w.lists[A.flows_at + j])
        if w.arena[at] != table.draw_key[f] or w.arena[at + 1] != w.flow[f].base or w.arena[at + 2] != w.flow[f].sends:
            return False
        at += 3
    return True


@called
def find_outcome(w, table, a, offset):
    """The outcome of partition `a`'s state, uninterrupted or after `offset`; -1 where it is not known."""
    o = int64(w.edge_index[edge_slot(w, w.part[a].state, offset)])
    while o >= 0:
        O = w.outcome[o]
        if O.drew == 0 or draws_alike(w, table, a, O.drew):
            return o
        o = O.next
    return int64(-1)


@called
def keep_outcome(w, state, offset):
    """A new outcome of (state, offset); its fields are still to be filled."""
    p = w.p[0]
    j = edge_slot(w, state, offset)
    o = p.outcomes
    p.outcomes += 1
    O = w.outcome[o]
    O.next = w.edge_index[j]
    w.edge_index[j] = o
    O.state = state
    O.offset = offset
    O.uses = 0
    O.drew = 0
    return o


@called
def add_to_series(w, q, at, began, until):
    """Spread what port `q` carried over the time bins of the episode."""
    p = w.p[0]
    total = w.arena[at]
    marks = w.arena[at + 3]
    paused = w.arena[at + 5]
    queue = w.arena[at + 2]
    row = w.port[q].bin_row
    first = began >> p.bin_shift
    last = until >> p.bin_shift
    span = max(int64(1), until - began)
    sent = int64(0)
    held = int64(0)
    for b in range(first, last + 1):
        share = min(until, (b + 1) << p.bin_shift) - began
        upto = int64(total * (share / span))
        held_upto = int64(paused * (share / span))
        if b == last:
            upto = total
            held_upto = paused
        B = w.bins[row + b * p.bin_rows]
        B.tx_bytes += upto - sent
        B.paused_ps += held_upto - held
        B.max_queue = max(int64(B.max_queue), queue)
        sent = upto
        held = held_upto
    w.bins[row + last * p.bin_rows].marks += marks


@called
def note_errors(w, a, at, dt, variance):
    """How long flows now take for a packet, and what an estimated stretch adds to their uncertainty (packets squared x that time).

    A flow that is so many packets late makes up for them at its last pace, and what others are late by shifts it too: together
    about the geometric mean of its pace over the stretch and its last one.
    """
    A = w.part[a]
    moving = int64(0)
    total = int64(0)
    for j in range(A.flows):
        if w.arena[at + j * PER_FLOW] >= PACE_PACKETS:
            moving += 1
            total += w.arena[at + j * PER_FLOW]
    for j in range(A.flows):
        F = w.flow[w.lists[A.flows_at + j]]
        if w.arena[at + j * PER_FLOW] >= PACE_PACKETS:
            F.pace = max(float(dt) / w.arena[at + j * PER_FLOW], float(dt) * moving / total)
        F.variance += variance * F.pace


@called
def await_event(w, a):
    """Look at partition `a` again when its outcome has the next event, or ends."""
    A = w.part[a]
    O = w.outcome[A.outcome]
    dt = O.dt
    if A.told < w.arena[O.at]:
        dt = w.arena[O.at + 2 + w.arena[O.at + 1] + 2 * A.told]
    A.next_at = A.began + dt
    push_part(w, A.next_at, a)


@called
def tell_events(w, d, a):
    """Tell the player what partition `a` reports at this instant, unless its outcome ends now (False)."""
    p = w.p[0]
    A = w.part[a]
    O = w.outcome[A.outcome]
    dt = p.now - A.began
    if dt >= O.dt:
        return False
    first = O.at + 2 + w.arena[O.at + 1]
    while A.told < w.arena[O.at] and w.arena[first + 2 * A.told] == dt:
        x = w.arena[first + 2 * A.told + 1]
        A.told += 1
        finish(d, d.p[0].tasks + int64(w.lists[A.flows_at + (x >> 2)]), x & 3, p.now)
    p.last_event = p.now
    return True


@called
def play_outcome(w, d, a, o):
    """Partition `a` has lived through outcome `o`: credit its flows and ports, tell the player, go on from what it leaves."""
    p = w.p[0]
    A = w.part[a]
    O = w.outcome[o]
    A.outcome = o
    now = A.began + O.dt
    while (now >> p.bin_shift) >= p.bins:
        halve_bins(w.bins, p.bins, p.bin_rows)
        p.bin_shift += 1
    log_episode(w, a, now, O.uses)
    p.credited += O.hops + O.skipped
    p.data_packets += O.data_packets
    p.marks += O.marks
    p.pauses += O.pauses
    p.drops += O.drops
    p.losses += O.losses
    p.retransmits += O.retransmits
    p.timeouts += O.timeouts
    if O.uses > 0:
        p.hits += 1
        p.replayed += O.hops + O.skipped
    else:
        p.fresh_hops += O.hops
        p.skipped_hops += O.skipped
    O.uses += 1
    at = O.at
    events = w.arena[at]
    comps = w.arena[at + 1]
    blocks = at + 2
    at = blocks + comps
    first_event = at
    at += 2 * events
    if p.level == BOUNDED:
        note_errors(w, a, at, O.dt, O.variance)
    for j in range(A.flows):
        f = int64(w.lists[A.flows_at + j])
        w.flow[f].base += w.arena[at]
        w.flow[f].sends += w.arena[at + 1]
        if d.flow[f].acked < 0 or d.flow[f].acked > A.began:
            d.flow[f].marks += w.arena[at + 2]
            d.flow[f].retransmits += w.arena[at + 3]
        at += PER_FLOW
    for j in range(A.ports):
        q = int64(w.lists[A.ports_at + j])
        if w.arena[at + 1] > 0 or w.arena[at + 2] > 0 or w.arena[at + 4] > 0 or w.arena[at + 5] > 0 or w.arena[at + 6] > 0:
            Q = w.port[q]
            Q.tx_bytes += w.arena[at]
            Q.tx_packets += w.arena[at + 1]
            Q.max_queue = max(Q.max_queue, w.arena[at + 2])
            Q.marks += w.arena[at + 3]
            Q.pauses += w.arena[at + 4]
            Q.paused_ps += w.arena[at + 5]
            Q.drops += w.arena[at + 6]
            add_to_series(w, q, at, A.began, now)
        at += PER_PORT
    flows_at = A.flows_at
    ports_at = A.ports_at
    ident = A.id
    told = A.told if O.offset == MAIN else events
    end_part(w, a)  # its record may be taken by what follows
    for c in range(comps):
        at = w.arena[blocks + c]
        flows = w.arena[at + 1]
        ports = w.arena[at + 2]
        b = form_part(w, w.arena[at], flows, ports, now)
        B = w.part[b]
        B.id = ident
        if comps > 1:
            B.id = p.ids
            p.ids += 1
        at += 3
        for j in range(flows):
            w.lists[B.flows_at + j] = w.lists[flows_at + w.arena[at + j]]
        at += flows
        for j in range(ports):
            w.lists[B.ports_at + j] = w.lists[ports_at + w.arena[at + j]]
        own_ports(w, b)
    if comps > 1:
        p.splits += 1
    for j in range(told, events):
        x = w.arena[first_event + 2 * j + 1]
        f = int64(w.lists[flows_at + (x >> 2)])
        finish(d, d.p[0].tasks + f, x & 3, now)
    if events > 0:
        p.last_event = now
