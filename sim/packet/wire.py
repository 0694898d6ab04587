"""A transmission: from the instant a packet leaves a port to its place among those in flight."""

from numpy import int64

from sim.congestion.clock import serialisation_ps
from sim.jit import kernel
from sim.packet.draw import unit_draw
from sim.packet.layout import DATA, LAST
from sim.packet.pool import push_cut
from sim.packet.ties import packet_row, record, transmitter_row
from sim.packet.wheel import schedule


@kernel
def transmit(s, p, k, now, cause):
    """Packet `k` starts on port `p` at `now`: busy until its end, then in flight for the link's delay.

    `cause` is when the event that let it start became certain: it orders simultaneous packets downstream.
    """
    g = s.g[0]
    P = s.port[p]
    K = s.packet[k]
    busy = serialisation_ps(g, P, int64(K.wire_bytes))
    P.free_at = now + busy
    P.since = now
    K.sent = now
    K.cause = cause
    if g.tie_depth > 0:
        record(s, packet_row(s, k), cause)
        record(s, transmitter_row(p), cause)
    K.arrival = now + busy + P.delay_ps
    K.next = -1
    if P.wire_head < 0:
        P.wire_head = k
        schedule(s, 2 * p, K.arrival)
    else:
        s.packet[P.wire_tail].next = k
    P.wire_tail = k
    P.tx_bytes += K.wire_bytes
    P.tx_packets += 1
    g.packet_hops += 1
    s.bins[P.bin_row + (now >> g.bin_shift) * g.bin_rows].tx_bytes += K.wire_bytes
    if K.last & LAST and s.paths[K.place + 1] < 0:
        push_cut(s, K.arrival)


@kernel
def mark(s, p, k, now):
    """RED at dequeue on the bytes left in the queue (Floyd and Jacobson 1993; the HPCC simulator's place for it).

    An ACK is marked and counted like any packet, but the echo that it carries stays as it is.
    """
    P = s.port[p]
    left = P.queue_bytes
    if left <= P.kmin_bytes:
        return
    g = s.g[0]
    K = s.packet[k]
    if left <= P.kmax_bytes:
        chance = P.pmax * (left - P.kmin_bytes) / float(P.kmax_bytes - P.kmin_bytes)
        hop = 2 * int64(K.hop) + (0 if K.kind == DATA else 1)
        g.draws += 1
        if unit_draw(g.seed, s.flow[K.flow].draw_key, int64(K.number), hop) >= chance:
            return
    if K.kind == DATA:
        if K.ecn == 0:
            s.flow[K.flow].marks += 1
        K.ecn = 1
    P.marks += 1
    g.marks += 1
    s.bins[P.bin_row + (now >> g.bin_shift) * g.bin_rows].marks += 1


@kernel
def stamp_telemetry(s, p, k, now):
    """In-band telemetry at a switch: time, bytes sent before this packet, queue left behind (HPCC section 3.1)."""
    g = s.g[0]
    P = s.port[p]
    K = s.packet[k]
    if K.kind == DATA:
        T = s.telemetry[k * g.hops_max + K.hop - 1]
        T.time_ps = now
        T.rate_bps = P.rate_bps
        T.port = p
        T.flow = K.flow
        T.tx_bytes = P.telemetry_bytes // g.telemetry_tx_quantum * g.telemetry_tx_quantum
        T.queue_bytes = P.queue_bytes // g.telemetry_queue_quantum * g.telemetry_queue_quantum
    P.telemetry_bytes += K.wire_bytes


@kernel
def is_lost(s, p, k):
    """Whether the link behind port `p` loses this packet; the draw is keyed by the send, so a repeat may pass."""
    P = s.port[p]
    if P.loss <= 0.0:
        return False
    K = s.packet[k]
    s.g[0].draws += 1
    hop = 1024 + 2 * int64(K.hop) + (0 if K.kind == DATA else 1)
    return unit_draw(s.g[0].seed, s.flow[K.flow].draw_key, int64(K.send), hop) < P.loss
