"""The event loop of the wormhole kernel: one complete instant after the other, packets only for what is not known yet.

A partition always stands at a state of the graph, at the instant it got there. The loop goes to the
earliest instant at which a partition has something to report, a timer is due, or a flow starts; each
partition concerned moves along the graph. Where the graph ends, the partition is solved by packets.
"""

from numpy import int64

from sim.jit import called, kernel
from sim.packet.layout import IDLE, NEED_PACKETS, NEVER, RUNNING
from sim.player.loop import FINISHED, LIMIT, STALLED, finish, pop_time
from sim.wormhole.divide import can_divide, divide
from sim.wormhole.effort import SHORTEST_CHUNK, is_lost_labour, note_chunk, pause_after
from sim.wormhole.join import group_ready, join_group, take_ready
from sim.wormhole.layout import ACTIVE, ADVANCE, BOUNDED, EVENT, EXACT, PAUSE_POINT
from sim.wormhole.load import load_state
from sim.wormhole.outcome import MAIN, await_event, edge_slot, find_outcome, play_outcome, tell_events
from sim.wormhole.partition import end_part, next_part, pop_part
from sim.wormhole.room import has_room
from sim.wormhole.solve import begin_solve, conclude, log_events
from sim.wormhole.statistical import sample
from sim.wormhole.steady_state import probe

SOLVING, NEED_ROOM, GUARD, HALTED, OFFER, AWAIT = range(20, 26)
CHOOSE, ADVANCING, JOINING, SETTLING, HALTING, LOADING, PACKETS, DIVIDING, ENTERING = range(9)
LEAST_OFFERED_HOPS = 4096  # to another thread: a pause so soon after is found out before that has begun
BOUNDED_CHUNKS = 1 << 13, 1 << 21  # at level bounded: after an interrupt, and after a pause that none came before


@called
def handle_instant_of_parts(w, d):
    """Everything known to happen at this instant: partitions' events, then timers."""
    p = w.p[0]
    while next_part(w) <= p.now:
        a = w.heap[0].part
        pop_part(w)
        if p.level == BOUNDED and w.outcome[w.part[a].outcome].kind == PAUSE_POINT:
            p.chunk = BOUNDED_CHUNKS[1]
        if tell_events(w, d, a):
            await_event(w, a)
        else:
            play_outcome(w, d, a, w.part[a].outcome)
    while d.p[0].heap > 0 and d.heap[0].at <= p.now:
        code = pop_time(d)
        finish(d, code >> 2, code & 3, p.now)


@called
def choose(s, w, d):
    """Go to the next instant at which something happens; there must be room for the flows that it starts before they enter."""
    p = w.p[0]
    if d.p[0].ready == 0:
        if d.p[0].left == 0:
            return FINISHED
        at = next_part(w)
        if d.p[0].heap > 0:
            at = min(at, d.heap[0].at)
        if at == NEVER:
            return STALLED
        if at >= p.limit:
            return LIMIT
        p.now = at
        d.p[0].now = at
        p.fresh = 0
        handle_instant_of_parts(w, d)
    p.phase = ENTERING
    return SOLVING


@called
def bring_to_now(s, w, d, table, a):
    """Move partition `a` to this instant; False if packets must be simulated for it."""
    p = w.p[0]
    A = w.part[a]
    if A.began == p.now:
        return True
    o = find_outcome(w, table, a, p.now - A.began)
    p.pending -= A.owed
    A.owed = 0
    if o < 0:
        p.misses += 1
        begin_solve(s, w, table, a, p.now - A.began)
        return False
    play_outcome(w, d, a, o)
    return True


@kernel
def leads_to_unknown(w, o):
    """Whether outcome `o`, just found, ends in a pause, and what follows is worth to be found out by another thread."""
    O = w.outcome[o]
    if O.kind != PAUSE_POINT or O.uses > 0 or O.hops < LEAST_OFFERED_HOPS or w.arena[O.at + 1] != 1:
        return False
    state = w.arena[w.arena[O.at + 2]]
    return w.state[state].ahead == 0 and w.edge_index[edge_slot(w, state, MAIN)] < 0


@called
def settle(s, w, table, a):
    """Find out when partition `a` has its next event: RUNNING, or what must be done first or besides."""
    p = w.p[0]
    A = w.part[a]
    o = find_outcome(w, table, a, MAIN)
    if o < 0 and w.state[A.state].ahead:
        p.offered = a
        return AWAIT
    if o < 0:
        p.misses += 1
        begin_solve(s, w, table, a, NEVER)
        return SOLVING
    A.outcome = o
    if w.outcome[o].uses == 0:
        A.owed = w.outcome[o].hops
        p.pending += A.owed
    if w.outcome[o].dt < NEVER:
        A.told = 0
        await_event(w, a)
    if p.offers and leads_to_unknown(w, o):
        A.pausing = 1
        p.pausing += 1
        if p.pausing > 1:  # alone it is needed at once
            p.offered = a
            return OFFER
    return RUNNING


@called
def load_all(s, w, d, table):
    """Load every partition into a packet simulation that goes on from here packet by packet."""
    p = w.p[0]
    p.slots = 0
    p.loaded = 0
    for a in range(p.capacity_parts):
        A = w.part[a]
        if A.next == ACTIVE:
            load_state(s, w, table, A.state, A.flows_at, A.ports_at, p.now)
            end_part(w, a)
    for j in range(p.slots):
        F = s.flow[w.tmp[j].slot]
        F.marks = d.flow[F.flow_id].marks
        F.retransmits = d.flow[F.flow_id].retransmits
    s.g[0].entries = p.order
    p.phase = PACKETS


@called
def walk(s, w, d, table):
    """Move along the graph of states until packets are needed (SOLVING) or nothing more can be done here."""
    p = w.p[0]
    while True:
        if not has_room(s, w, d):
            return NEED_ROOM
        if p.phase == CHOOSE:
            p.budget -= 1
            if p.budget < 0:
                return RUNNING
            if p.guard and is_lost_labour(w):
                return GUARD
            if p.arena_end > p.forget_at:
                return NEED_ROOM
            code = choose(s, w, d)
            if code != SOLVING:
                return code
        elif p.phase == ENTERING:
            take_ready(s, w, d, table)
            p.cursor = 0
            p.phase = ADVANCING
        elif p.phase == ADVANCING:
            if p.cursor == p.touched:
                group_ready(s, w, table)
                p.cursor = 0
                p.phase = JOINING
                continue
            a = int64(w.tmp[p.cursor].touched)
            if p.interrupted == 0 and w.part[a].began < p.now:
                p.interrupts += 1
                p.interrupted = 1
                p.chunk = max(SHORTEST_CHUNK, p.chunk // 2) if p.level == EXACT else BOUNDED_CHUNKS[0]
            if not bring_to_now(s, w, d, table, a):
                return SOLVING
            w.part[a].touched = -1
            p.interrupted = 0
            p.cursor += 1
        elif p.phase == JOINING:
            if p.cursor == p.ready:
                p.ready = 0
                p.cursor = 0
                p.phase = SETTLING
            else:
                if w.tmp[p.cursor].group >= 0:
                    join_group(s, w, table, int64(w.tmp[p.cursor].group))
                p.cursor += 1
        elif p.phase == SETTLING:
            if p.cursor == p.fresh:
                p.phase = CHOOSE
            else:
                a = int64(w.tmp[p.cursor].fresh)
                code = settle(s, w, table, a) if w.part[a].next == ACTIVE and w.part[a].outcome < 0 else RUNNING
                if code in (RUNNING, OFFER):
                    p.cursor += 1
                if code != RUNNING:
                    return code
        elif p.phase == HALTING:
            while p.cursor < p.halt_parts and (w.part[p.cursor].next != ACTIVE or w.part[p.cursor].began == p.now):
                p.cursor += 1
            if p.cursor >= p.halt_parts:
                return HALTED
            if not bring_to_now(s, w, d, table, p.cursor):
                return SOLVING
        elif p.phase == LOADING:
            load_all(s, w, d, table)
            return RUNNING
        else:
            p.phase = PACKETS
            if can_divide(s, w):
                divide(s, w, d)
                p.cursor = 0
                p.phase = SETTLING
            p.slots = 0
            return RUNNING


@called
def stop_probing(w):
    """A flow has ended within the episode: nothing recurs any more in what is left of it."""
    p = w.p[0]
    if p.probing:
        p.arena_end = p.anchor
        p.probing = 0
    p.probe_at = NEVER


@called
def after_packets(s, w, d, table, status):
    """Packets have been simulated for the solved partition: see whether its outcome is known, or whether it has become periodic."""
    p = w.p[0]
    g = s.g[0]
    if status == NEED_PACKETS:
        return
    kind = int64(-1)
    if p.solve_until < NEVER:
        if g.now - 1 - p.reference + p.skipped_ps >= p.solve_until:
            kind = int64(ADVANCE)
        elif g.events > 0:
            stop_probing(w)
            return
    elif g.events > 0:
        if log_events(s, w, d, p.solving):
            stop_probing(w)
            return
        kind = int64(EVENT)
    elif status == IDLE and g.in_wheel + g.in_far == 0:
        kind = int64(EVENT)
    elif p.probing == 0 and g.packet_hops - p.hops_before > pause_after(w):
        kind = int64(PAUSE_POINT)
    if kind >= 0:
        stop_probing(w)
        if p.level == BOUNDED:
            p.arena_end = p.samples_at
        o = conclude(s, w, table, kind)
        if kind != ADVANCE and p.level == EXACT:
            note_chunk(w, o)
    elif g.now > p.reference + p.sample_at:
        sample(s, w)
    elif p.probing or g.now > p.reference + p.probe_at:
        probe(s, w)
