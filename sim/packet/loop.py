"""Advance a packet simulation in lookahead windows.

What reaches a node during [T, T + lookahead) has left its upstream port before T, where the lookahead
is the shortest delay plus frame time of any active link. So within a window every port and NIC is
handled on its own, each in one walk over its arrivals. A window ends early at the instant in which a
flow may be delivered or acknowledged: whoever drives the simulation then sees the complete instant.
"""

from numpy import int64

from sim.jit import called, kernel
from sim.packet.flows import leave_ring, reap
from sim.packet.inbox import put_in_inbox
from sim.packet.layout import ACKED, DATA, IDLE, NEED_PACKETS, PAUSE, RUNNING
from sim.packet.nic import walk_nic
from sim.packet.pool import free_packet, next_cut, pop_cut
from sim.packet.port import walk_port
from sim.packet.switch import most_pause_frames, needs_care, walk_switch
from sim.packet.wheel import fit_width, schedule, turn_to_work, unschedule
from sim.packet.wire import is_lost

WINDOWS_PER_FIT = 1024  # after which a window that has become too short is noticed


@called
def halve_bins(bins, count, rows):
    """Pairs of bins become one, in place; the later half is empty then."""
    for b in range(count // 2):
        for row in range(rows):
            A = bins[2 * b * rows + row]
            B = bins[(2 * b + 1) * rows + row]
            C = bins[b * rows + row]
            tx = A.tx_bytes + B.tx_bytes
            queue = max(A.max_queue, B.max_queue)
            marks = A.marks + B.marks
            paused = A.paused_ps + B.paused_ps
            C.tx_bytes = tx
            C.max_queue = queue
            C.marks = marks
            C.paused_ps = paused
    for j in range(count // 2 * rows, count * rows):
        Z = bins[j]
        Z.tx_bytes = 0
        Z.max_queue = 0
        Z.marks = 0
        Z.paused_ps = 0


@called
def coarsen_bins(s):
    """Halve the time resolution of the port series."""
    g = s.g[0]
    halve_bins(s.bins, g.bins, g.bin_rows)
    g.bin_shift += 1


@kernel
def list_port(s, q, listed):
    """Note port `q` as having something to do in this window."""
    P = s.port[q]
    if P.listed == 0:
        P.listed = 1
        s.todo[listed].port = q
        listed += 1
    return listed


@kernel
def touch_node(s, n, touched):
    """Note switch `n` as having something to do in this window."""
    N = s.node[n]
    if N.touched == 0:
        N.touched = 1
        N.arriving_bytes = 0
        N.worst_ingress = 0
        s.todo[touched].node = n
        touched += 1
    return touched


@kernel
def gather_link(s, p, end, listed, touched):
    """Hand over what reaches the far end of link `p` before `end`."""
    g = s.g[0]
    P = s.port[p]
    buffered = s.node[P.far_node].buffered
    arriving = int64(0)
    k = int64(P.wire_head)
    while k >= 0:
        K = s.packet[k]
        if K.arrival >= end:
            break
        after = int64(K.next)
        q = p ^ 1
        if g.has_loss and K.kind < PAUSE and is_lost(s, p, k):
            g.losses += 1
            P.drops += 1
            free_packet(s, k)
            k = after
            continue
        if K.kind < PAUSE:
            K.place += 1
            q = int64(s.paths[K.place])
            if q < 0:  # one NIC handles all that arrives for a flow, on whatever path
                F = s.flow[K.flow]
                q = int64(F.ack_nic if K.kind == DATA else F.nic)
            else:
                K.hop += 1
                K.ingress = p
                arriving += K.wire_bytes
        put_in_inbox(s, q, k)
        listed = list_port(s, q, listed)
        k = after
    P.wire_head = k
    if k < 0:
        P.wire_tail = -1
    else:
        schedule(s, 2 * p, s.packet[k].arrival)
    if buffered and arriving > 0:
        touched = touch_node(s, int64(P.far_node), touched)
        N = s.node[P.far_node]
        N.arriving_bytes += arriving
        N.worst_ingress = max(N.worst_ingress, P.ingress_bytes + arriving)
    return listed, touched


@kernel
def run_window(s, end):
    """Everything that happens before `end`, port by port."""
    g = s.g[0]
    links = int64(0)
    listed = int64(0)
    touched = int64(0)
    e = int64(s.due[g.bucket_zero + g.cursor].next)
    while e >= 0:
        after = int64(s.due[e].next)
        if s.due[e].at < end:
            unschedule(s, e)
            if e & 1:
                listed = list_port(s, e >> 1, listed)
            else:
                s.todo[links].link = e >> 1
                links += 1
        e = after
    for j in range(links):
        listed, touched = gather_link(s, int64(s.todo[j].link), end, listed, touched)
    for j in range(listed):
        P = s.port[s.todo[j].port]
        if s.node[P.node].buffered:
            touched = touch_node(s, int64(P.node), touched)
    for j in range(touched):
        n = int64(s.todo[j].node)
        s.node[n].touched = 0
        s.node[n].careful = needs_care(s, n)
    for j in range(listed):
        q = int64(s.todo[j].port)
        P = s.port[q]
        P.listed = 0
        if P.is_nic:
            walk_nic(s, q, end)
        elif not s.node[P.node].careful:
            walk_port(s, q, end)
    g.touched = touched
    g.walked = 0
    g.window_end = end


@kernel
def walk_switches(s):
    """The switches of this window that need care; False where the pool might not hold their pause frames."""
    g = s.g[0]
    while g.walked < g.touched:
        n = int64(s.todo[g.walked].node)
        if s.node[n].careful:
            if g.free_packets < most_pause_frames(s, n):
                return False
            walk_switch(s, n, g.window_end)
        g.walked += 1
    return True


@kernel
def end_departures(s):
    """Take acknowledged flows out of their NIC's ring; they leave once the network holds nothing of them."""
    g = s.g[0]
    for j in range(g.events):
        if s.events[j].event_kind == ACKED:
            i = int64(s.events[j].event_slot)
            leave_ring(s, i)
            s.flow[i].qp_next = g.departing
            g.departing = i
    if g.departing >= 0:
        reap(s)


@kernel
def room_for_window(s):
    """Whether the pool can take whatever one window may send."""
    g = s.g[0]
    frames = g.width * 1e-12 * g.sending_bps / (8.0 * (g.payload + g.header)) + 2 * g.sending_ports + g.active_flows
    if g.whole_ns:
        frames *= 2.0  # a truncated frame time is at least half of the exact one
    if not g.has_loss:
        frames = min(frames, float(g.unsent_packets))  # nothing is sent twice
    return g.free_packets > frames


@kernel
def advance(s, until, hop_limit):
    """Run to `until` (excluded), to the first complete instant with an event, or past `hop_limit` hops.

    Returns RUNNING, IDLE (nothing left to happen before `until`) or NEED_PACKETS.
    """
    g = s.g[0]
    if not g.mid_window:
        g.events = 0
    while g.mid_window or (g.events == 0 and g.packet_hops < hop_limit):
        if not g.mid_window:
            if g.refit or g.windows >= g.refit_at:
                g.refit = 0
                g.refit_at = g.windows + WINDOWS_PER_FIT
                fit_width(s)
            if g.now >= until or not turn_to_work(s, until):
                g.now = max(g.now, until)
                return IDLE
            end = min(g.wheel_start + g.width, min(next_cut(s) + 1, until))
            if not room_for_window(s):
                return NEED_PACKETS
            while (end >> g.bin_shift) >= g.bins:
                coarsen_bins(s)
            run_window(s, end)
        g.mid_window = 1
        if not walk_switches(s):
            return NEED_PACKETS
        g.mid_window = 0
        end = g.window_end
        g.now = end
        g.busy_until = end
        g.windows += 1
        while next_cut(s) < end:
            pop_cut(s)
        if g.events > 0 or g.departing >= 0:
            end_departures(s)
    return RUNNING
