"""A host's NIC: whose turn it is to send, pacing and retransmission timers, and one walk over a window's arrivals.

Where hosts forward, packets of others wait in the port's queue, without bound, for they lie in the host's memory: nothing is paused
or dropped for them. They are marked as at a switch, and take turns with the NIC's own queue pairs, packet by packet.
"""

from numpy import int64

from sim.congestion import dispatch
from sim.jit import called, kernel
from sim.packet.inbox import append_inbox, merge_runs
from sim.packet.layout import ACKED, DATA, FORWARDING_NIC, NACK, NEVER, PAUSE
from sim.packet.pool import free_packet
from sim.packet.port import enqueue, is_idle, set_paused, take_queued
from sim.packet.queue_pair import go_back, make_data, may_send, timeout_of
from sim.packet.receiver import emit, receive_data
from sim.packet.ties import packet_row, recall, record, timer_row, transmitter_row
from sim.packet.wheel import reschedule
from sim.packet.wire import stamp_telemetry, transmit

RETRIES = 7  # timeouts in a row after which a queue pair gives up (IB retry count, InfiniBand spec 9.7.6)


@kernel
def next_start(g, P):
    """When the NIC may next put something on the wire, as far as is known now."""
    if not P.up:
        return NEVER
    if P.paused:
        return P.free_at if g.ack_priority and P.first_head >= 0 else NEVER
    if P.first_head >= 0 or P.queue_head >= 0:
        return P.free_at
    return max(P.free_at, P.ready_at)


@kernel
def set_timer(s, p, at, now, cause):
    """Set the pacing timer of NIC `p`, because of an event that became certain at `cause`."""
    P = s.port[p]
    P.timer_at = at
    P.timer_since = now
    if s.g[0].tie_depth > 0:
        record(s, timer_row(p), cause)


@kernel
def look_again(s, p, i, moved, now, cause):
    """Queue pair `i` may send sooner than was known: try at once; if its pacing `moved`, a pending timer goes off earlier."""
    P = s.port[p]
    F = s.flow[i]
    pending = now < P.timer_at and P.timer_at < NEVER
    if moved and pending and F.next_at < P.timer_at:
        set_timer(s, p, max(now, F.next_at), now, cause)
        P.ready_at = min(P.ready_at, P.timer_at)
    if F.next_at <= now or not pending:
        P.ready_at = min(P.ready_at, now)


@called
def take_forwarded(s, p, now):
    """The next packet of others; the turn goes to NIC `p`'s own queue pairs, if there are any."""
    P = s.port[p]
    P.kicked = 1 if P.qp_first >= 0 else 0
    return take_queued(s, p, now)


@kernel
def next_packet(s, p, now, cause):
    """An ACK if there is one, else of what it forwards and its queue pairs in turn the next that may go; -1 where none may yet."""
    g = s.g[0]
    P = s.port[p]
    k = int64(P.first_head)
    if k >= 0:
        P.first_head = s.packet[k].next
        return k
    if P.queue_head >= 0 and (P.kicked == 0 or P.ready_at > now):
        return take_forwarded(s, p, now)
    P.kicked = 0
    soonest = NEVER
    first = int64(P.qp_first)
    if P.qp_last >= 0:
        first = int64(s.flow[P.qp_last].qp_next)
    i = first
    while i >= 0:
        F = s.flow[i]
        if F.next_packet < F.packets:
            if F.next_at > now:
                soonest = min(soonest, F.next_at)
            else:
                dispatch.catch_up(s, i, now)
                if may_send(g, F):
                    P.qp_last = i
                    P.ready_at = now
                    return make_data(s, p, i, now)
        i = int64(F.qp_next)
        if i == first:
            break
    if P.timer_at <= now or P.timer_at == NEVER:
        set_timer(s, p, soonest if soonest > now else NEVER, now, cause)
    P.ready_at = P.timer_at
    return take_forwarded(s, p, now) if P.queue_head >= 0 else int64(-1)


@kernel
def receive_ack(s, p, k, now):
    """Take an ACK or NACK: what is acknowledged, what the controller makes of it, whether the NIC may go on."""
    K = s.packet[k]
    i = int64(K.flow)
    F = s.flow[i]
    if F.done == 0:
        if K.number > F.acked_packets:
            F.acked_packets = K.number
            if K.number > F.next_packet:
                s.g[0].unsent_packets -= K.number - F.next_packet
                F.next_packet = K.number
            F.progress_at = now
            if F.timeouts >= RETRIES:  # it had given up: its timer runs again
                s.port[p].timeout_at = min(s.port[p].timeout_at, now + timeout_of(s.g[0], F))
            F.timeouts = 0
        dispatch.catch_up(s, i, now)
        next_at = F.next_at
        dispatch.on_ack(s, i, k, now)
        if K.kind == NACK:
            go_back(s, i)
        if F.acked_packets == F.packets:
            F.done = 1
            emit(s, i, ACKED, now)
        if F.next_packet < F.packets or next_at != F.next_at:
            look_again(s, p, i, next_at != F.next_at, now, K.sent)
    free_packet(s, k)


@called
def time_out(s, p, now):
    """Send again from the first unacknowledged packet of every queue pair whose timer has run out."""
    g = s.g[0]
    P = s.port[p]
    soonest = NEVER
    first = int64(P.qp_first)
    i = first
    while i >= 0:
        F = s.flow[i]
        if F.done == 0 and F.acked_packets < F.next_packet and F.timeouts < RETRIES:
            if F.progress_at + timeout_of(g, F) <= now:
                F.progress_at = now
                F.timeouts += 1
                g.timeouts += 1
                go_back(s, i)
                look_again(s, p, i, False, now, now)
                if P.ready_at == now:
                    P.timer_since = now
            else:
                soonest = min(soonest, F.progress_at + timeout_of(g, F))
        i = int64(F.qp_next)
        if i == first:
            break
    P.timeout_at = soonest


@called
def forward(s, p, k, now):
    """Packet `k` is on its way to somebody else, through NIC `p`; lost where its link has failed."""
    P = s.port[p]
    if P.up:
        enqueue(s, p, k, now)
    else:
        P.drops += 1
        s.g[0].losses += 1
        free_packet(s, k)


@kernel
def receive(s, p, k, now):
    """Take whatever has arrived for NIC `p`."""
    K = s.packet[k]
    kind = K.kind
    if s.port[p].is_nic == FORWARDING_NIC and kind < PAUSE and s.paths[K.place] >= 0:
        forward(s, p, k, now)
    elif kind == DATA:
        receive_data(s, p, k, now)
    elif kind < PAUSE:
        receive_ack(s, p, k, now)
    else:
        set_paused(s, p, kind == PAUSE, now)
        free_packet(s, k)


@called
def stamp(s, p, k, now):
    """What a NIC that forwards tells of its own packets by its counter, to those that it forwards by telemetry too."""
    if s.packet[k].hop > 0:
        stamp_telemetry(s, p, k, now)
    else:
        s.port[p].telemetry_bytes += s.packet[k].wire_bytes


@called
def walk_nic(s, p, end):
    """Handle NIC `p` up to (excluding) `end`: what arrives, what may be sent, and timeouts, in order of time."""
    g = s.g[0]
    P = s.port[p]
    runs, count = append_inbox(s, p, int64(0), int64(0))
    if runs > 0:
        merge_runs(s, runs, count)
    j = int64(0)
    while True:
        k = int64(-1)
        arrival = NEVER
        sent = NEVER
        if j < count:
            k = int64(s.sort[j].order)
            arrival = s.packet[k].arrival
            sent = s.packet[k].sent
        now = next_start(g, P)
        timeout = P.timeout_at
        if min(now, arrival, timeout) >= end:
            break
        by_wire = now == P.free_at
        cause = P.since if by_wire else P.timer_since
        send = now <= timeout and (now < arrival or (now == arrival and cause < sent))
        if send:
            if g.tie_depth > 0:
                recall(s, transmitter_row(p) if by_wire else timer_row(p))
        elif arrival <= timeout:
            j += 1
            if g.tie_depth > 0:
                recall(s, packet_row(s, k))
            receive(s, p, k, arrival)
            send = is_idle(P, arrival, sent) and next_start(g, P) <= arrival
            now = arrival
            cause = sent
        else:
            time_out(s, p, timeout)
        if send:
            k = next_packet(s, p, now, cause)
            if k >= 0:
                if P.is_nic == FORWARDING_NIC and g.telemetry:
                    stamp(s, p, k, now)
                transmit(s, p, k, now, cause)
    reschedule(s, 2 * p + 1, min(next_start(g, P), P.timeout_at))
