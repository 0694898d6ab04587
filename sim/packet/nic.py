"""A host's NIC: queue pairs in turn, windows and pacing, ACKs, go-back-N and its timeout."""

from numpy import int64

from sim.congestion import dispatch
from sim.congestion.payload import payload_sent
from sim.jit import kernel
from sim.congestion.clock import pacing_ps
from sim.packet.inbox import sorted_inbox
from sim.packet.layout import ACK, ACKED, DATA, DELIVERED, NACK, NEVER, PAUSE
from sim.packet.pool import free_packet, take_packet
from sim.packet.port import is_idle, set_paused
from sim.packet.ties import ancestry_of_packet, ancestry_of_port, ancestry_of_timer, record_timer
from sim.packet.wheel import reschedule
from sim.packet.wire import transmit

RETRIES = 7  # timeouts in a row after which a queue pair gives up (IB retry count, InfiniBand spec 9.7.6)


@kernel
def emit(s, i, kind, now):
    g = s.g[0]
    E = s.events[g.events]
    E.flow_id = s.flow[i].flow_id
    E.order = i
    E.at = now
    E.kind = kind
    g.events += 1


@kernel
def next_start(g, P):
    """When the NIC may next put something on the wire, as far as is known now."""
    if not P.up:
        return NEVER
    if P.paused:
        return P.free_at if g.ack_priority and P.first_head >= 0 else NEVER
    if P.first_head >= 0:
        return P.free_at
    return max(P.free_at, P.ready_at)


@kernel
def allow_at(s, p, at, now, cause):
    """A queue pair may send from `at` on: the NIC's timer is only ever moved earlier."""
    P = s.port[p]
    if at < P.ready_at:
        P.ready_at = at
        P.timer_since = now
        record_timer(s, p, cause)


@kernel
def window_open(s, i, now):
    """Whether payload sent but not acknowledged is below the window (scaled with the rate where asked)."""
    F = s.flow[i]
    window = F.window_bytes
    if window <= 0:
        return True
    g = s.g[0]
    if g.var_window:
        dispatch.catch_up(s, i, now)
        window = max(int64(1), window * (F.rate_bps // 1000) // (F.line_bps // 1000) if window > 20000000 else window * F.rate_bps // F.line_bps)
    outstanding = payload_sent(F, F.next_packet, g.payload) - payload_sent(F, F.acked_packets, g.payload)
    return outstanding < window


@kernel
def send_data(s, p, i, now, cause):
    g = s.g[0]
    P = s.port[p]
    F = s.flow[i]
    k = take_packet(s)
    K = s.packet[k]
    payload = min(g.payload, F.size_bytes - F.next_packet * g.payload)
    K.flow = i
    K.place = F.path
    K.size = payload + g.header
    K.hop = 0
    K.kind = DATA
    K.control = 0
    K.ecn = 0
    K.number = F.next_packet
    K.last = F.next_packet == F.packets - 1
    K.stamp = now
    K.send = F.sends
    if F.acked_packets == F.next_packet:
        F.progress_at = now
    F.sends += 1
    F.next_packet += 1
    F.in_flight += 1
    F.last_wire_bytes = K.size
    g.data_packets += 1
    dispatch.catch_up(s, i, now)
    F.next_at = now + pacing_ps(g, K.size, F.rate_bps) if g.rate_bound else now
    if g.has_loss:
        P.timeout_at = min(P.timeout_at, F.progress_at + g.timeout_ps)
    transmit(s, p, k, now, cause)


@kernel
def send_next(s, p, now, cause):
    """One packet: an ACK if there is one, else the next queue pair in turn that may send."""
    P = s.port[p]
    if P.first_head >= 0:
        k = P.first_head
        P.first_head = s.packet[k].next
        transmit(s, p, k, now, cause)
        return
    soonest = NEVER
    first = s.flow[P.qp_last].qp_next if P.qp_last >= 0 else P.qp_first
    i = first
    while i >= 0:
        F = s.flow[i]
        if F.next_packet < F.packets:
            if F.next_at <= now:
                if window_open(s, i, now):
                    send_data(s, p, i, now, cause)
                    P.qp_last = i
                    P.ready_at = now
                    return
            else:
                soonest = min(soonest, F.next_at)
        i = F.qp_next
        if i == first:
            break
    P.ready_at = soonest
    P.timer_since = now
    record_timer(s, p, cause)


@kernel
def acknowledge(s, p, k, kind, now):
    """Turn the received packet into an ACK or NACK of everything received in order."""
    g = s.g[0]
    P = s.port[p]
    K = s.packet[k]
    F = s.flow[K.flow]
    K.kind = kind
    K.number = F.expected
    K.last = F.expected == F.packets
    K.place = F.ack_path
    K.size = g.ack_bytes
    K.hop = 0
    K.next = -1
    if kind == ACK:
        K.ecn = F.rx_ecn
        F.rx_ecn = 0
        F.unacked_rx = 0
    if P.first_head < 0:
        P.first_head = k
    else:
        s.packet[P.first_tail].next = k
    P.first_tail = k


@kernel
def receive_data(s, p, k, now):
    K = s.packet[k]
    i = K.flow
    F = s.flow[i]
    if K.number == F.expected:
        F.expected += 1
        F.nack_out = 0
        F.unacked_rx += 1
        if K.ecn:
            F.rx_ecn = 1
        complete = F.expected == F.packets
        if F.unacked_rx >= s.g[0].ack_every or complete:
            acknowledge(s, p, k, ACK, now)
        else:
            free_packet(s, k)
        if complete:
            F.delivered = 1
            emit(s, i, DELIVERED, now)
    elif K.number < F.expected:
        acknowledge(s, p, k, ACK, now)
    elif F.nack_out:
        free_packet(s, k)
    else:
        F.nack_out = 1
        acknowledge(s, p, k, NACK, now)


@kernel
def go_back(s, i):
    """Go-back-N: the next packet is the first one not acknowledged."""
    F = s.flow[i]
    again = F.next_packet - F.acked_packets
    F.retransmits += again
    s.g[0].retransmits += again
    F.next_packet = F.acked_packets


@kernel
def receive_ack(s, p, k, now):
    P = s.port[p]
    K = s.packet[k]
    i = K.flow
    F = s.flow[i]
    if F.done == 0:
        if K.number > F.acked_packets:
            F.acked_packets = K.number
            F.next_packet = max(F.next_packet, K.number)
            F.progress_at = now
            F.timeouts = 0
        dispatch.catch_up(s, i, now)
        dispatch.on_ack(s, i, k, now)
        if K.kind == NACK:
            go_back(s, i)
        if F.acked_packets == F.packets:
            F.done = 1
            emit(s, i, ACKED, now)
        allow_at(s, p, max(now, F.next_at), now, K.sent)
    free_packet(s, k)


@kernel
def time_out(s, p, now):
    """Send again from the first unacknowledged packet of every queue pair whose timer has run out."""
    g = s.g[0]
    P = s.port[p]
    soonest = NEVER
    first = P.qp_first
    i = first
    while i >= 0:
        F = s.flow[i]
        if F.done == 0 and F.acked_packets < F.next_packet and F.timeouts < RETRIES:
            if F.progress_at + g.timeout_ps <= now:
                F.progress_at = now
                F.timeouts += 1
                g.timeouts += 1
                go_back(s, i)
                allow_at(s, p, max(now, F.next_at), now, now)
            else:
                soonest = min(soonest, F.progress_at + g.timeout_ps)
        i = F.qp_next
        if i == first:
            break
    P.timeout_at = soonest


@kernel
def receive(s, p, k, now):
    kind = s.packet[k].kind
    if kind == DATA:
        receive_data(s, p, k, now)
    elif kind < PAUSE:
        receive_ack(s, p, k, now)
    else:
        set_paused(s, p, kind == PAUSE, now)
        free_packet(s, k)


@kernel
def walk_nic(s, p, end):
    """Handle NIC `p` up to (excluding) `end`: what arrives, what may be sent, and timeouts, in order of time."""
    g = s.g[0]
    P = s.port[p]
    count = sorted_inbox(s, p) if P.inbox_head >= 0 else 0
    j = 0
    while True:
        arrival = NEVER
        sent = NEVER
        if j < count:
            arrival = s.packet[s.order[j]].arrival
            sent = s.packet[s.order[j]].sent
        start = next_start(g, P)
        timeout = P.timeout_at
        if min(start, arrival, timeout) >= end:
            break
        by_wire = start == P.free_at
        cause = P.since if by_wire else P.timer_since
        if start <= timeout and (start < arrival or (start == arrival and cause < sent)):
            if by_wire:
                ancestry_of_port(s, p)
            else:
                ancestry_of_timer(s, p)
            send_next(s, p, start, cause)
        elif arrival <= timeout:
            ancestry_of_packet(s, s.order[j])
            receive(s, p, s.order[j], arrival)
            j += 1
            if is_idle(P, arrival, sent) and next_start(g, P) <= arrival:
                send_next(s, p, arrival, sent)
        else:
            time_out(s, p, timeout)
    reschedule(s, 2 * p + 1, min(next_start(g, P), P.timeout_at))
