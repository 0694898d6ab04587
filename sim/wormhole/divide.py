"""Divide a packet simulation of the whole network into partitions again, where nothing is left that no state can hold.

A state knows one path per flow and the ports on it. So a flow that has changed its path must have no packet on the old one,
and no telemetry of it; and a port that no flow uses must be as in an idle network.
"""

from numpy import int64

from sim.jit import called, kernel
from sim.packet.port import book_pause
from sim.wormhole.canonical import number_ports, put_state, stamped_hops
from sim.wormhole.effort import labour
from sim.wormhole.graph import keep_state
from sim.wormhole.join import sort_slots
from sim.wormhole.partition import form_part, own_ports
from sim.wormhole.solve import split


@called
def list_slots(s, w):
    """List the slots of all flows under way in order of entry; whether any of them has changed its path."""
    p = w.p[0]
    g = s.g[0]
    moved = False
    p.slots = 0
    for i in range(g.free_flows + g.active_flows):
        F = s.flow[i]
        if F.flow_id >= 0:
            w.tmp[p.slots].slot = i
            p.slots += 1
            moved = moved or s.paths[F.region] >= 0
    sort_slots(s, w)
    return moved


@called
def knows_its_path(s, i, row, rows):
    """Whether telemetry is of the ports that flow slot `i` crosses now."""
    for h in range(rows):
        T = s.telemetry[row + h]
        if T.time_ps != 0 and T.port != s.paths[s.flow[i].path + h + 1]:
            return False
    return True


@called
def fits_list(s, k, on_wire):
    """Whether all packets of a list are on their flow's present path, with telemetry of it."""
    g = s.g[0]
    while k >= 0:
        K = s.packet[k]
        if K.flow >= 0:
            place = int64(K.place) - s.flow[K.flow].region
            if place < 0 or place >= g.region_size:
                return False
            if g.telemetry and not knows_its_path(s, int64(K.flow), k * g.hops_max, stamped_hops(s, k, on_wire)):
                return False
        k = int64(K.next)
    return True


@kernel
def is_as_new(P, now):
    """Whether a port that no flow uses is as in an idle network."""
    empty = P.queue_head < 0 and P.first_head < 0 and P.wire_head < 0 and P.ingress_bytes == 0 and P.headroom_used == 0
    return empty and not P.paused and not P.ingress_paused and P.free_at < now


@called
def can_divide(s, w):
    """Whether what the packet simulation holds can be put into states."""
    p = w.p[0]
    g = s.g[0]
    if g.now < 1 or g.mid_window or g.events > 0:
        return False
    moved = list_slots(s, w)
    if moved and g.telemetry and g.telemetry_tx_quantum > 1:
        return False  # counters of ports on the old path start anew when the flow leaves
    number_ports(s, w, p.slots)
    for q in range(g.bucket_zero // 2):
        P = s.port[q]
        if w.port[q].stamp != p.stamp:
            if not is_as_new(P, g.now):
                return False
        elif not fits_list(s, int64(P.queue_head), False) or not fits_list(s, int64(P.first_head), False) or not fits_list(s, int64(P.wire_head), True):
            return False
    for j in range(p.slots):
        i = int64(w.tmp[j].slot)
        if g.telemetry and not knows_its_path(s, i, g.telemetry_flows + i * g.hops_max, int64(s.flow[i].hops) - 1):
            return False
    return True


@called
def take_over(s, w, d):
    """What flows and ports have done so far, in the books of the graph; the flows are listed for `split`."""
    p = w.p[0]
    g = s.g[0]
    t = g.now - 1
    for j in range(p.slots):
        i = w.tmp[j].slot
        w.tmp[j].old = i
        F = s.flow[i]
        W = w.flow[F.flow_id]
        W.order = F.order
        W.base = F.acked_packets
        W.sends = F.sends
        if F.done == 0:
            d.flow[F.flow_id].marks = F.marks
            d.flow[F.flow_id].retransmits = F.retransmits
    for q in range(g.bucket_zero // 2):
        P = s.port[q]
        if P.paused:
            P.paused_ps += t - P.paused_since
            book_pause(s, q, P.paused_since, t)
    p.order = g.entries
    p.now = t


@called
def divide(s, w, d):
    """Make partitions of all flows under way; the instant before `now` is complete."""
    p = w.p[0]
    take_over(s, w, d)
    n = p.slots
    p.fresh = 0
    split(s, w, n)
    for r in range(n):
        if w.tmp[r].group < 0:
            continue
        m = int64(0)
        j = int64(w.tmp[r].group)
        while j >= 0:
            w.tmp[m].slot = w.tmp[j].old
            m += 1
            j = int64(w.tmp[j].member)
        begin = put_state(s, w, m, p.now, False)
        ports = p.ports
        b = form_part(w, keep_state(w, begin, m), m, ports, p.now)
        B = w.part[b]
        B.id = p.ids
        p.ids += 1
        for j in range(m):
            w.lists[B.flows_at + j] = s.flow[w.tmp[j].slot].flow_id
        for j in range(ports):
            w.lists[B.ports_at + j] = w.tmp[j].port
        own_ports(w, b)
    p.slots = 0
    p.loaded = 0
    p.spent_before = labour(w)
    p.credited_before = p.credited
