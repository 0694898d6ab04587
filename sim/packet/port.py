"""A switch's egress port on its own: FIFO, marking, one walk over a window's arrivals.

Ports of one switch meet only in its buffer. Where no threshold of the buffer can be reached within
the window this walk is exact; elsewhere `switch.py` walks all ports of the switch together.
"""

from numpy import int64

from sim.jit import called, kernel
from sim.packet.inbox import append_inbox, merge_runs
from sim.packet.layout import DATA, NEVER, PAUSE
from sim.packet.pool import free_packet
from sim.packet.ties import packet_row, recall, transmitter_row
from sim.packet.wheel import reschedule
from sim.packet.wire import mark, stamp_telemetry, transmit


@kernel
def is_priority(g, K):
    """Whether a packet is served first and takes no part in queue, marking and pausing."""
    return K.kind >= PAUSE or (g.ack_priority and K.kind != DATA)


@kernel
def enqueue(s, p, k, now):
    """Put packet `k` at the end of its queue of port `p`."""
    g = s.g[0]
    P = s.port[p]
    K = s.packet[k]
    K.next = -1
    if is_priority(g, K):
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
    P.queue_bytes += K.wire_bytes
    if P.queue_bytes > P.max_queue:
        P.max_queue = P.queue_bytes
    B = s.bins[P.bin_row + (now >> g.bin_shift) * g.bin_rows]
    if P.queue_bytes > B.max_queue:
        B.max_queue = P.queue_bytes


@kernel
def can_start(P):
    """Whether the port has something that it may send."""
    return P.first_head >= 0 or (P.queue_head >= 0 and not P.paused)


@kernel
def is_idle(P, now, sent):
    """Whether the port's transmission has ended when a packet arrives that was `sent` then.

    Of two events at one instant the one comes first that became certain first.
    """
    return P.free_at < now or (P.free_at == now and P.since < sent)


@kernel
def take_queued(s, p, now):
    """Take the next packet of port `p`'s queue and mark it."""
    P = s.port[p]
    k = int64(P.queue_head)
    P.queue_head = s.packet[k].next
    P.queue_bytes -= s.packet[k].wire_bytes
    mark(s, p, k, now)
    return k


@kernel
def start_next(s, p, now, cause):
    """Take the next packet (priority first), mark and stamp it, and send it; returns the packet."""
    g = s.g[0]
    P = s.port[p]
    k = int64(P.first_head)
    if k >= 0:
        P.first_head = s.packet[k].next
    else:
        k = take_queued(s, p, now)
    if g.telemetry and s.packet[k].kind < PAUSE:
        stamp_telemetry(s, p, k, now)
    transmit(s, p, k, now, cause)
    return k


@kernel
def book_pause(s, p, since, until):
    """Spread a pause over the time bins it covers."""
    shift = s.g[0].bin_shift
    b = since >> shift
    while since < until:
        end = min(until, (b + 1) << shift)
        s.bins[s.port[p].bin_row + b * s.g[0].bin_rows].paused_ps += end - since
        since = end
        b += 1


@called
def set_paused(s, p, paused, now):
    """Obey a pause or resume frame."""
    P = s.port[p]
    P.frames -= 1
    if paused and not P.paused:
        P.paused = 1
        P.pauses += 1
        P.paused_since = now
        s.g[0].pauses += 1
    elif P.paused and not paused:
        P.paused = 0
        P.paused_ps += now - P.paused_since
        book_pause(s, p, P.paused_since, now)


@called
def walk_port(s, p, end):
    """Handle port `p` up to (excluding) `end`: arrivals and starts merged in order of time."""
    P = s.port[p]
    g = s.g[0]
    buffered = s.node[P.node].buffered
    runs, count = append_inbox(s, p, int64(0), int64(0))
    if runs > 0:
        merge_runs(s, runs, count)
    kick = False
    start = int64(0)
    cause = int64(0)
    j = int64(0)
    while True:
        k = int64(-1)
        now = end
        sent = -NEVER
        if j < count:
            k = int64(s.sort[j].order)
            now = s.packet[k].arrival
            sent = s.packet[k].sent
        while can_start(P) and (kick or is_idle(P, now, sent)):
            if not kick:
                start = P.free_at
                cause = P.since
                if g.tie_depth > 0:
                    recall(s, transmitter_row(p))
            kick = False
            K = s.packet[start_next(s, p, start, cause)]
            if buffered and not is_priority(g, K):
                s.port[K.ingress].ingress_bytes -= K.wire_bytes
                s.node[P.node].used_bytes -= K.wire_bytes
        if j == count:
            break
        j += 1
        K = s.packet[k]
        if g.tie_depth > 0:
            recall(s, packet_row(s, k))
        if K.kind >= PAUSE:
            set_paused(s, p, K.kind == PAUSE, now)
            free_packet(s, k)
        elif not P.up:
            P.drops += 1
            g.losses += 1
            free_packet(s, k)
        else:
            enqueue(s, p, k, now)
            if buffered and not is_priority(g, K):
                s.port[K.ingress].ingress_bytes += K.wire_bytes
                s.node[P.node].used_bytes += K.wire_bytes
        kick = is_idle(P, now, sent)
        start = now
        cause = sent
    reschedule(s, 2 * p + 1, P.free_at if can_start(P) else NEVER)
