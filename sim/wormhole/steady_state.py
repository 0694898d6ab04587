"""Exactly periodic steady state: a partition whose canonical state recurs, but for what is left to send, repeats until a flow ends.

Timers that tick without effect (DCQCN's while nothing is marked, alpha's decay) take no part in it: they are caught up
after the skip. A timer that changes a rate ends it.

From time to time a burst of instants is looked at, those at which one flow's ACKs arrive. The first one's state
is kept as words; a later one with the same fingerprint is compared word by word. Between bursts
nothing is done, and nothing while packets are being marked, so a search in vain costs little.
"""

from numpy import int64

from sim.jit import called, kernel
from sim.packet.layout import DATA, NEVER, PAUSE
from sim.packet.wheel import next_due
from sim.wormhole.canonical import FAR, put_state
from sim.wormhole.graph import same_words
from sim.wormhole.layout import NUMBER, NUMBER_OR_ZERO, QUIET_TIME

FIRST_PROBE = 1.1  # base round trips after an episode's start
LATER_PROBES = 1.3  # times the previous one
FIRST_BURST = 24  # instants
LONGEST_BURST = 1 << 14


@called
def begin_probing(s, w):
    """Plan the first burst of an episode that has just been loaded; `probe_at` is in time since the reference."""
    p = w.p[0]
    p.probing = 0
    p.found = 0
    p.periods = 0
    p.skip_from = 0
    p.burst = FIRST_BURST
    p.probe_acked = -1
    p.probe_flow = -1
    rtt = int64(0)
    for j in range(p.slots):
        F = s.flow[w.tmp[j].slot]
        rtt = max(rtt, F.base_rtt_ps)
        if p.probe_flow < 0 and F.done == 0 and F.next_packet < F.packets:
            p.probe_flow = w.tmp[j].slot
    p.probe_pause = int64(FIRST_PROBE * rtt)
    p.probe_at = p.probe_pause
    p.probe_marks = s.g[0].marks
    if p.use_skip == 0 or p.probe_flow < 0:
        p.probe_at = NEVER


@called
def may_recur(s, w):
    """Whether every flow still has packets to send; nothing recurs while one is running out."""
    p = w.p[0]
    for j in range(p.slots):
        F = s.flow[w.tmp[j].slot]
        if F.flow_id >= 0 and F.next_packet < F.packets:
            return True
    return False


@called
def next_instant(s, w):
    """The probed flow's next ACK arrival, or the farthest instant before which none can come."""
    g = s.g[0]
    F = s.flow[w.p[0].probe_flow]
    at = int64(F.ack_path) + F.ack_hops - 1
    k = int64(s.port[s.paths[at]].wire_head)
    while k >= 0:
        K = s.packet[k]
        if K.flow == w.p[0].probe_flow and K.kind != DATA and K.kind < PAUSE and K.arrival >= g.now:
            return K.arrival
        k = int64(K.next)
    return min(NEVER, max(g.now, next_due(s)) + g.width) - 1


@kernel
def fingerprint(s, w, t):
    """A number that equal states share; cheap, and not more than a filter."""
    p = w.p[0]
    x = int64(0)
    for j in range(p.slots):
        F = s.flow[w.tmp[j].slot]
        x = x * 1000003 + (F.next_packet - F.acked_packets)
        x = x * 1000003 + F.rate_bps
        x = x * 1000003 + F.window_bytes
        x = x * 1000003 + F.in_flight
        P = s.port[F.nic]
        x = x * 1000003 + max(P.free_at - t, int64(-1))
    return x


@kernel
def paused_by(P, t):
    """Paused time of a port until `t`, a pause that lasts included: it may have begun before a period, and end behind it."""
    return P.paused_ps + (t - P.paused_since if P.paused else 0)


@called
def remember(s, w, t):
    """Note what flows and ports have done so far, to know what one period does."""
    p = w.p[0]
    g = s.g[0]
    for j in range(p.slots):
        F = s.flow[w.tmp[j].slot]
        T = w.tmp[j]
        T.four[0] = F.next_packet
        T.four[1] = F.sends
        T.four[2] = F.marks
        T.four[3] = F.dctcp_windows
    for j in range(p.loaded):
        P = s.port[w.tmp[j].loaded]
        T = w.tmp[j]
        T.of_port[0] = P.tx_bytes
        T.of_port[1] = P.tx_packets
        T.of_port[2] = P.marks
        T.of_port[3] = P.pauses
        T.of_port[4] = paused_by(P, t)
    p.lap_hops = g.packet_hops
    p.lap_data = g.data_packets
    p.lap_draws = g.draws
    p.lap_drops = g.drops + g.losses + g.retransmits + g.timeouts
    p.lap_marks = g.marks
    p.lap_pauses = g.pauses


@called
def shift_numbers(s, k, p, w):
    """Packets of a list get the numbers that they have after the skipped periods."""
    while k >= 0:
        K = s.packet[k]
        if K.flow >= 0:
            T = w.tmp[s.packet[k].flow]
            K.number += T.start
            K.send += T.of_flow
        k = int64(K.next)


@called
def renumber_port(s, w, P):
    """All packets of a port get the numbers that they have after the skip."""
    p = w.p[0]
    shift_numbers(s, int64(P.queue_head), p, w)
    shift_numbers(s, int64(P.first_head), p, w)
    shift_numbers(s, int64(P.wire_head), p, w)


@called
def credit_flow(s, w, i, packets, sends, quiet_ps):
    """Flow slot `i` has sent so many more packets; timers that tick without effect are `quiet_ps` further back."""
    p = w.p[0]
    F = s.flow[i]
    w.tmp[i].start = packets
    w.tmp[i].of_flow = sends
    F.acked_packets += packets
    s.g[0].unsent_packets -= packets
    F.sends += sends
    for c in range(p.columns):
        C = w.column[c]
        at = i * p.words_per_flow + C.word
        if C.kind == NUMBER or (C.kind == NUMBER_OR_ZERO and w.words[at] != 0):
            w.words[at] += packets
        elif C.kind == QUIET_TIME and w.words[at] < FAR:
            w.words[at] -= quiet_ps


@called
def skip_periods(s, w, count, period, t):
    """What `count` more periods do: to numbers, counters and statistics; times stay, the clock's offset moves."""
    p = w.p[0]
    g = s.g[0]
    for j in range(p.slots):
        i = int64(w.tmp[j].slot)
        F = s.flow[i]
        T = w.tmp[j]
        packets = (F.next_packet - T.four[0]) * count
        sends = (F.sends - T.four[1]) * count
        credit_flow(s, w, i, packets, sends, count * period)
        F.marks += (F.marks - T.four[2]) * count
        steps = (F.dctcp_windows - T.four[3]) * count
        while steps > 0:
            alpha = (1.0 - g.dctcp_gain) * F.dctcp_alpha + g.dctcp_gain * 0.0
            if alpha == F.dctcp_alpha:
                break
            F.dctcp_alpha = alpha
            steps -= 1
    for j in range(p.loaded):
        P = s.port[w.tmp[j].loaded]
        T = w.tmp[j]
        P.tx_bytes += (P.tx_bytes - T.of_port[0]) * count
        P.tx_packets += (P.tx_packets - T.of_port[1]) * count
        P.marks += (P.marks - T.of_port[2]) * count
        P.pauses += (P.pauses - T.of_port[3]) * count
        P.paused_ps += (paused_by(P, t) - T.of_port[4]) * count
        renumber_port(s, w, P)
    p.skipped += (g.packet_hops - p.lap_hops) * count
    p.skipped_data += (g.data_packets - p.lap_data) * count
    p.skipped_marks += (g.marks - p.lap_marks) * count
    p.skipped_pauses += (g.pauses - p.lap_pauses) * count
    p.periods = count


@called
def whole_periods(s, w, period):
    """How many more periods pass before a flow sends its last packet, or the time is up."""
    p = w.p[0]
    count = NEVER
    for j in range(p.slots):
        F = s.flow[w.tmp[j].slot]
        packets = F.next_packet - w.tmp[j].four[0]
        if packets > 0:
            count = min(count, (F.packets - 1 - F.next_packet) // packets)
    p.found = 1 if count < NEVER else 0
    if count == NEVER:
        return int64(0)
    for j in range(p.slots):
        F = s.flow[w.tmp[j].slot]
        if F.flow_id < 0 or F.dcqcn_started == 0:
            continue
        if F.dcqcn_mark_alpha or F.dcqcn_mark_decrease:
            return int64(0)
        at_line = F.rate_bps == F.line_bps and F.dcqcn_target_bps == F.line_bps and F.line_bps & 1 == 0
        before_timer = (F.dcqcn_increase_at - s.g[0].now) // period
        if not at_line and before_timer < count:
            count = before_timer
            p.found = 0
    if p.solve_until < NEVER:
        count = min(count, (p.solve_until - p.skipped_ps - (s.g[0].now - 1 - p.reference)) // period)
    return count


@called
def end_burst(s, w):
    """Nothing recurred: try again later, for longer."""
    p = w.p[0]
    p.probing = 0
    elapsed = s.g[0].now - p.reference
    p.probe_at = int64(LATER_PROBES * elapsed)
    p.burst = min(int64(LONGEST_BURST), int64(LATER_PROBES * p.burst))
    p.arena_end = p.anchor


@called
def probe(s, w):
    """Look at the present instant of a burst."""
    p = w.p[0]
    g = s.g[0]
    t = g.now - 1
    if p.probing == 0:
        quiet = g.marks == p.probe_marks
        p.probe_marks = g.marks
        if not quiet or not may_recur(s, w):
            p.probe_at = int64(LATER_PROBES * (g.now - p.reference))
            return
        p.probing = 1
        p.probe_left = p.burst
        p.anchor_print = 0
        p.anchor = p.arena_end
        p.anchor_words = 0
        return
    F = s.flow[p.probe_flow]
    if F.acked_packets == p.probe_acked and F.flow_id >= 0:
        return
    p.probe_acked = F.acked_packets
    p.probe_left -= 1
    x = fingerprint(s, w, t)
    if p.anchor_words == 0:
        p.anchor_print = x
        p.anchor_time = t
        put_state(s, w, p.slots, t, True)
        p.anchor_words = p.arena_end - p.anchor
        remember(s, w, t)
    elif x == p.anchor_print:
        again = put_state(s, w, p.slots, t, True)
        if p.arena_end - again == p.anchor_words and same_words(w, p.anchor, again, p.anchor_words):
            quiet = (
                g.draws == p.lap_draws
                and g.marks == p.lap_marks
                and g.drops + g.losses + g.retransmits + g.timeouts == p.lap_drops
            )
            period = t - p.anchor_time
            count = whole_periods(s, w, period) if quiet and period > 0 else int64(0)
            if count > 0:
                p.skip_from = t - p.reference
                skip_periods(s, w, count, period, t)
                p.skipped_ps += count * period
                p.found_periods += 1
            p.probing = 0
            p.probe_at = NEVER if p.found else t - p.reference + p.probe_pause
            p.arena_end = p.anchor
            return
        p.arena_end = again
    if p.probe_left <= 0 or g.marks != p.probe_marks or not may_recur(s, w):
        end_burst(s, w)
