"""A partition's state in canonical form: written to the arena.

Flows are numbered by order of start, ports by first use, times are relative to the instant, packet
numbers to what is acknowledged; what can no longer act is left out. Equal words mean equal futures.
"""

from numpy import int64

from sim.congestion import dispatch
from sim.jit import called, kernel
from sim.packet.layout import DATA, NEVER
from sim.packet.nic import RETRIES
from sim.packet.queue_pair import timeout_of
from sim.wormhole.layout import (
    BYTES,
    FREE,
    NUMBER,
    NUMBER_OR_ZERO,
    QUIET_TIME,
    REMAINING,
    SATURATING,
    TIME,
    TIME_NOT_PAST,
)

ZERO = -(int64(1) << int64(62))
FAR = int64(1) << int64(60)


@kernel
def put(w, x):
    """Append a word to the arena; what would not fit is counted only, and found out by `memory.check_arena`."""
    p = w.p[0]
    if p.arena_end < p.capacity_arena:
        w.arena[p.arena_end] = x
    else:
        p.overflow += 1
    p.arena_end += 1


@kernel
def add_port(w, q, count):
    """Give port `q` the next local number unless it has one."""
    p = w.p[0]
    if w.port[q].stamp != p.stamp:
        w.port[q].stamp = p.stamp
        w.port[q].place = count
        w.tmp[count].port = q
        count += 1
    return count


@called
def number_ports(s, w, n):
    """Number the ports of the first `n` listed slots by first use; returns how many there are.

    With PFC the other direction of each link belongs to them (pause frames travel there), with a shared
    buffer one port that stands for each switch.
    """
    p = w.p[0]
    p.stamp += 1
    count = int64(0)
    for j in range(n):
        i = int64(w.tmp[j].slot)
        w.tmp[i].local = j
        at = int64(s.flow[i].region)
        ends = 0
        while ends < 2:
            at += 1
            q = int64(s.paths[at])
            if q < 0:
                ends += 1
            else:
                count = add_port(w, q, count)
    if p.by_link:
        for j in range(count):
            count = add_port(w, int64(w.tmp[j].port) ^ 1, count)
    if p.by_node:
        for j in range(count):
            N = s.node[s.port[w.tmp[j].port].node]
            if N.buffered:
                count = add_port(w, s.port[N.first_port].by_node, count)
    return count


@called
def put_telemetry(s, w, i, row, rows, t):
    """Telemetry rows relative to the instant and to each port's counter."""
    quantum = s.g[0].telemetry_tx_quantum
    for h in range(rows):
        T = s.telemetry[row + h]
        P = s.port[s.paths[s.flow[i].path + h + 1]]
        if T.time_ps == 0:
            put(w, ZERO)
        else:
            put(w, T.time_ps - t)
            put(w, T.tx_bytes - P.telemetry_bytes // quantum * quantum)
            put(w, T.queue_bytes)


@called
def put_flow(s, w, i, t, probe):
    """The words of flow slot `i`; with `probe` those that differ from period to period are left out."""
    p = w.p[0]
    g = s.g[0]
    dispatch.catch_up(s, i, t)
    F = s.flow[i]
    at = int64(F.region)
    ends = 0
    while ends < 2:
        at += 1
        q = int64(s.paths[at])
        if q < 0:
            ends += 1
            put(w, -1)
        else:
            put(w, w.port[q].place)
    base = F.acked_packets
    all_sent = p.clear_sent and F.next_packet == F.packets
    for c in range(p.columns):
        C = w.column[c]
        x = w.words[i * p.words_per_flow + C.word]
        if C.kind == NUMBER:
            x -= base
        elif C.kind == NUMBER_OR_ZERO:
            x = x - base if x != 0 else ZERO
        elif C.kind == FREE or (C.kind == QUIET_TIME and probe):
            x = 0 if probe else x
        elif C.kind == TIME or C.kind == QUIET_TIME:
            if x > -FAR and x < FAR:
                x -= t
        elif C.kind == TIME_NOT_PAST:
            x = 0 if all_sent else max(x - t, 0)
        elif C.kind == SATURATING:
            x = min(x, C.limit)
        elif C.kind == REMAINING:
            x = 0 if probe else x - base
        elif C.kind == BYTES:
            x = 0 if probe else x - base * g.payload
        put(w, x)
    if g.telemetry:
        put_telemetry(s, w, i, g.telemetry_flows + i * g.hops_max, int64(F.hops) - 1, t)


@kernel
def stamped_hops(s, k, on_wire):
    """How many switches have put their telemetry into packet `k`; an ACK carries them all."""
    K = s.packet[k]
    rows = int64(s.flow[K.flow].hops) - 1
    if K.kind == DATA:
        rows = min(rows, max(int64(0), int64(K.hop) - (0 if on_wire else 1)))
    return rows


@called
def put_packet(s, w, k, t, on_wire, at_switch):
    """The words of packet `k`."""
    p = w.p[0]
    p.packets += 1
    g = s.g[0]
    K = s.packet[k]
    i = int64(K.flow)
    local = int64(-1)
    number = int64(0)
    place = int64(0)
    send = int64(0)
    if i >= 0:
        F = s.flow[i]
        local = int64(w.tmp[i].local)
        number = int64(K.number) - F.acked_packets
        place = int64(K.place) - F.region
        send = int64(K.send) - F.sends
    put(
        w,
        local
        + 1
        + (int64(K.kind) << 24)
        + (int64(K.hop) << 28)
        + (int64(K.ecn) << 36)
        + (int64(K.last) << 37)
        + (int64(K.wire_bytes) << 40),
    )
    put(w, number)
    put(w, place)
    if p.has_loss:
        put(w, send)
    if on_wire:
        put(w, K.arrival - t)
        put(w, K.sent - t)
        put(w, K.cause - t)
    elif at_switch and i >= 0:
        put(w, w.port[K.ingress].place)
    if p.timed:
        put(w, K.stamp - t if i >= 0 else int64(0))
    if g.telemetry and i >= 0:
        rows = stamped_hops(s, k, on_wire)
        put_telemetry(s, w, i, k * g.hops_max, rows, t)
        for h in range(rows):
            put(w, s.telemetry[k * g.hops_max + h].rate_bps)


@called
def put_list(s, w, k, t, on_wire, at_switch):
    """The packets of a list, in order, and its end."""
    while k >= 0:
        put_packet(s, w, k, t, on_wire, at_switch)
        k = int64(s.packet[k].next)
    put(w, -1)


@called
def put_nic(s, w, q, t):
    """What only a NIC has: next attempt, timers, ring of queue pairs and whose turn it is."""
    p = w.p[0]
    P = s.port[q]
    ready = P.ready_at - t if P.ready_at >= t else int64(-1)
    if P.ready_at == NEVER:
        ready = NEVER
    pending = P.timer_at > t and P.timer_at < NEVER
    put(w, ready)
    put(w, P.timer_at - t if pending else NEVER)
    put(w, P.timer_since - t if pending or (ready >= 0 and ready < NEVER) else int64(0))
    soonest = NEVER
    first = int64(P.qp_first)
    i = first
    while i >= 0:
        F = s.flow[i]
        put(w, int64(w.tmp[i].local) + 1)
        if F.done == 0 and F.acked_packets < F.next_packet and F.timeouts < RETRIES:
            soonest = min(soonest, F.progress_at + timeout_of(s.g[0], F))
        i = int64(F.qp_next)
        if i == first:
            break
    put(w, 0)
    put(w, int64(w.tmp[P.qp_last].local) if P.qp_last >= 0 else int64(-1))
    if p.has_loss:
        put(w, soonest - t if soonest < NEVER else NEVER)


@kernel
def neighbours(s, w, q):
    """Where the other direction of port `q`'s link and the port that stands for its switch are listed: pauses and buffers tie them to it."""
    p = w.p[0]
    found = int64(0)
    if p.by_link and w.port[q ^ 1].stamp == p.stamp:
        found = w.port[q ^ 1].place + 1
    N = s.node[s.port[q].node]
    if p.by_node and N.buffered:
        found += (w.port[s.port[N.first_port].by_node].place + 1) << 32
    return found


@called
def put_port(s, w, q, t):
    """The words of port `q`: transmitter, pausing, NIC, and its packets."""
    g = s.g[0]
    P = s.port[q]
    put(w, int64(w.port[q].class_))
    busy = P.free_at >= t
    put(w, P.free_at - t if busy else int64(-1))
    put(w, P.since - t if busy else int64(0))
    put(w, P.queue_bytes)
    phase = P.telemetry_bytes % g.telemetry_tx_quantum if g.telemetry else int64(0)
    put(w, int64(P.paused) + (int64(P.up) << 1) + (int64(P.ingress_paused) << 2) + (int64(P.kicked) << 3) + (phase << 8))
    put(w, P.ingress_bytes)
    put(w, P.headroom_used)
    if w.p[0].by_link or w.p[0].by_node:
        put(w, neighbours(s, w, q))
    at_switch = P.is_nic == 0
    if not at_switch:
        put_nic(s, w, q, t)
    put_list(s, w, int64(P.queue_head), t, False, at_switch)
    put_list(s, w, int64(P.first_head), t, False, at_switch)
    put_list(s, w, int64(P.wire_head), t, True, at_switch)


@called
def put_state(s, w, n, t, probe):
    """The canonical words of the `n` listed slots and all that is theirs, at the end of the arena; returns where they begin."""
    p = w.p[0]
    begin = p.arena_end
    p.ports = number_ports(s, w, n)
    p.packets = 0
    put(w, n + (p.ports << 32))
    for j in range(n):
        put_flow(s, w, int64(w.tmp[j].slot), t, probe)
    for j in range(p.ports):
        put_port(s, w, int64(w.tmp[j].port), t)
    return begin
