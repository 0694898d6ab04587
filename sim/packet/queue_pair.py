"""The sending side of a queue pair: its window, its next packet with the pacing gap after it, going back after a loss."""

from numpy import int64

from sim.congestion.clock import pacing_ps
from sim.congestion.payload import payload_sent
from sim.jit import called, kernel
from sim.packet.layout import ASK, DATA, LAST
from sim.packet.pool import take_packet

TIMEOUT_ROUND_TRIPS = 4
SCALE_BITS = 10  # keeps window x rate within int64 for windows past 16 MiB


@kernel
def window_open(g, F):
    """Whether payload sent but not acknowledged is below the window (scaled with the rate where asked)."""
    window = F.window_bytes
    if window <= 0:
        return True
    if g.var_window:
        window = max(int64(1), window * (F.rate_bps >> SCALE_BITS) // (F.line_bps >> SCALE_BITS) if window >> 24 else window * F.rate_bps // F.line_bps)
    outstanding = payload_sent(F, F.next_packet, g.payload) - payload_sent(F, F.acked_packets, g.payload)
    return outstanding < window


@kernel
def timeout_of(g, F):
    """How long a queue pair waits for an ACK: never less than a few round trips of its path."""
    return max(g.timeout_ps, TIMEOUT_ROUND_TRIPS * F.base_rtt_ps)


@kernel
def request_ack(g, F, K):
    """Ask for an ACK at once where the window closes and none is on its way that could open it."""
    if F.next_packet - F.requested >= g.ack_every:
        F.requested = F.next_packet
    elif F.acked_packets >= F.requested and not window_open(g, F):
        K.last |= ASK
        F.requested = F.next_packet


@kernel
def may_send(g, F):
    """Whether the window is open; a closed one lets one packet through that asks, if no answer is under way."""
    return window_open(g, F) or (g.ack_every > 1 and F.acked_packets >= F.requested)


@kernel
def make_data(s, p, i, now):
    """The next packet of queue pair `i`; its pacing gap begins now."""
    g = s.g[0]
    P = s.port[p]
    F = s.flow[i]
    k = take_packet(s)
    K = s.packet[k]
    K.flow = i
    K.place = F.path
    K.wire_bytes = min(g.payload, F.size_bytes - F.next_packet * g.payload) + g.header
    K.hop = 0
    K.kind = DATA
    K.ecn = 0
    K.number = F.next_packet
    K.last = LAST if F.next_packet == F.packets - 1 else 0
    K.stamp = now
    K.send = F.sends
    if F.acked_packets == F.next_packet:
        F.progress_at = now
    F.sends += 1
    F.next_packet += 1
    if g.ack_every > 1 and F.window_bytes > 0:
        request_ack(g, F, K)
    F.in_flight += 1
    F.last_wire_bytes = K.wire_bytes
    g.data_packets += 1
    g.unsent_packets -= 1
    F.next_at = now + pacing_ps(g, F.last_wire_bytes, F.rate_bps) if g.rate_bound else now
    if g.has_loss:
        P.timeout_at = min(P.timeout_at, F.progress_at + timeout_of(g, F))
    return k


@called
def go_back(s, i):
    """Go-back-N: the next packet is the first one not acknowledged."""
    F = s.flow[i]
    again = F.next_packet - F.acked_packets
    F.retransmits += again
    s.g[0].unsent_packets += again
    s.g[0].retransmits += again
    F.next_packet = F.acked_packets
    F.requested = F.acked_packets
