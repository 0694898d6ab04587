"""A switch's egress port on its own: FIFO, marking, one walk over a window's arrivals.

Ports of one switch meet only in its buffer. Where no threshold of the buffer can be reached within
the window this walk is exact; elsewhere `switch.py` walks all ports of the switch together.
"""

from sim.jit import kernel
from sim.packet.inbox import sorted_inbox
from sim.packet.layout import ACK, DATA, NEVER, PAUSE, PFC_OFF, RESUME
from sim.packet.pool import free_packet
from sim.packet.ties import ancestry_of_packet, ancestry_of_port
from sim.packet.wheel import reschedule
from sim.packet.wire import mark, stamp_telemetry, transmit


@kernel
def is_priority(g, K):
    return K.control or (g.ack_priority and K.kind != DATA)


@kernel
def enqueue(s, p, k, now):
    P = s.port[p]
    K = s.packet[k]
    K.next = -1
    if is_priority(s.g[0], K):
        if P.first_head < 0:
            P.first_head = k
        else:
            s.packet[P.first_tail].next = k
        P.first_tail = k
        return
    if P.queue_head < 0:
        P.queue_head = k
    else:
        s.packet[P.queue_tail].next = k
    P.queue_tail = k
    P.queue_bytes += K.size
    if P.queue_bytes > P.max_queue:
        P.max_queue = P.queue_bytes
    B = s.bins[s.bin_row[p], now >> s.g[0].bin_shift]
    if P.queue_bytes > B.max_queue:
        B.max_queue = P.queue_bytes


@kernel
def can_start(P):
    return P.first_head >= 0 or (P.queue_head >= 0 and not P.paused)


@kernel
def is_idle(P, now, sent):
    """Whether the port's transmission has ended when a packet arrives that was `sent` then.

    Of two events at one instant the one comes first that became certain first.
    """
    return P.free_at < now or (P.free_at == now and P.since < sent)


@kernel
def start_next(s, p, now, cause):
    """Take the next packet (priority first), mark and stamp it, and send it; returns the packet."""
    g = s.g[0]
    P = s.port[p]
    if P.first_head >= 0:
        k = P.first_head
        P.first_head = s.packet[k].next
        if s.packet[k].control:
            transmit(s, p, k, now, cause)
            return k
    else:
        k = P.queue_head
        P.queue_head = s.packet[k].next
        P.queue_bytes -= s.packet[k].size
        mark(s, p, k, now)
    if g.telemetry:
        stamp_telemetry(s, p, k, now)
    transmit(s, p, k, now, cause)
    return k


@kernel
def start_and_leave(s, p, now, cause, buffered):
    """Start the next packet; its ingress accounting is plain, as no threshold is near."""
    K = s.packet[start_next(s, p, now, cause)]
    if buffered and not is_priority(s.g[0], K):
        s.port[K.ingress].ingress_bytes -= K.size
        s.node[s.port[p].node].used_bytes -= K.size


@kernel
def set_paused(s, p, paused, now):
    P = s.port[p]
    if paused and not P.paused:
        P.paused = 1
        P.pauses += 1
        P.paused_since = now
        s.g[0].pauses += 1
    elif P.paused and not paused:
        P.paused = 0
        P.paused_ps += now - P.paused_since
        book_pause(s, p, P.paused_since, now)


@kernel
def book_pause(s, p, since, until):
    """Spread a pause over the time bins it covers."""
    shift = s.g[0].bin_shift
    row = s.bin_row[p]
    b = since >> shift
    while since < until:
        end = min(until, (b + 1) << shift)
        s.bins[row, b].paused_ps += end - since
        since = end
        b += 1


@kernel
def walk_port(s, p, end):
    """Handle port `p` up to (excluding) `end`: arrivals and starts merged in order of time."""
    P = s.port[p]
    g = s.g[0]
    buffered = g.pfc != PFC_OFF or s.node[P.node].buffer_bytes > 0
    count = sorted_inbox(s, p) if P.inbox_head >= 0 else 0
    for j in range(count):
        k = s.order[j]
        K = s.packet[k]
        now = K.arrival
        while is_idle(P, now, K.sent) and can_start(P):
            ancestry_of_port(s, p)
            start_and_leave(s, p, P.free_at, P.since, buffered)
        sent = K.sent
        ancestry_of_packet(s, k)
        if K.kind >= PAUSE:
            set_paused(s, p, K.kind == PAUSE, now)
            free_packet(s, k)
        elif not P.up:
            P.drops += 1
            g.drops += 1
            free_packet(s, k)
        else:
            enqueue(s, p, k, now)
            if buffered and not is_priority(g, K):
                s.port[K.ingress].ingress_bytes += K.size
                s.node[P.node].used_bytes += K.size
        if is_idle(P, now, sent) and can_start(P):
            start_and_leave(s, p, now, sent, buffered)
    while P.free_at < end and can_start(P):
        ancestry_of_port(s, p)
        start_and_leave(s, p, P.free_at, P.since, buffered)
    reschedule(s, 2 * p + 1, P.free_at if can_start(P) else NEVER)
