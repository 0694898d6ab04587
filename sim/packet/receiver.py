"""The receiving side of a queue pair: in-order delivery, ACKs, and a NACK per gap (go-back-N)."""

from numpy import int64

from sim.jit import kernel
from sim.packet.layout import ACK, ASK, DELIVERED, LAST, NACK
from sim.packet.pool import free_packet


@kernel
def emit(s, i, kind, now):
    """Report that flow slot `i` has been delivered or acknowledged."""
    g = s.g[0]
    E = s.events[g.events]
    E.event_flow = s.flow[i].flow_id
    E.event_slot = i
    E.event_kind = kind
    g.events += 1


@kernel
def acknowledge(s, p, k, kind, now):
    """Turn the received packet into an ACK or NACK of everything received in order."""
    g = s.g[0]
    P = s.port[p]
    K = s.packet[k]
    F = s.flow[K.flow]
    K.kind = kind
    K.number = F.expected
    K.last = LAST if F.expected == F.packets else 0
    K.place = F.ack_path
    K.wire_bytes = g.ack_bytes
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
    """Take a data packet: in order, a repeat, or past a gap."""
    K = s.packet[k]
    i = int64(K.flow)
    F = s.flow[i]
    answer = -1
    if K.number == F.expected:
        F.expected += 1
        F.nack_out = 0
        F.unacked_rx += 1
        if K.ecn:
            F.rx_ecn = 1
        complete = F.expected == F.packets
        if F.unacked_rx >= s.g[0].ack_every or K.last & ASK or complete:
            answer = ACK
        if complete:
            emit(s, i, DELIVERED, now)
    elif K.number < F.expected:
        answer = ACK
    elif not F.nack_out:
        F.nack_out = 1
        answer = NACK
    if answer < 0:
        free_packet(s, k)
    else:
        acknowledge(s, p, k, answer, now)
