"""Empty the packet simulation in which partitions are solved."""

from numpy import int64

from sim.jit import called
from sim.packet.flows import leave
from sim.packet.layout import NEVER
from sim.packet.pool import free_packet
from sim.packet.wheel import unschedule


@called
def free_list(s, k):
    """Give a list of packets back."""
    while k >= 0:
        after = int64(s.packet[k].next)
        free_packet(s, k)
        k = after


@called
def clear_port(s, q):
    """Port `q` as it is in an idle network."""
    P = s.port[q]
    free_list(s, int64(P.queue_head))
    free_list(s, int64(P.first_head))
    free_list(s, int64(P.wire_head))
    unschedule(s, 2 * q)
    unschedule(s, 2 * q + 1)
    P.queue_head = -1
    P.queue_tail = -1
    P.first_head = -1
    P.first_tail = -1
    P.wire_head = -1
    P.wire_tail = -1
    P.queue_bytes = 0
    P.free_at = 0
    P.since = 0
    P.paused = 0
    P.frames = 0
    P.ingress_paused = 0
    P.kicked = 0
    P.ingress_bytes = 0
    P.headroom_used = 0
    P.ready_at = NEVER
    P.timer_at = NEVER
    P.timer_since = 0
    P.timeout_at = NEVER
    P.tx_bytes = 0
    P.tx_packets = 0
    P.max_queue = 0
    P.marks = 0
    P.pauses = 0
    P.paused_ps = 0
    P.drops = 0
    for n in (P.node, P.far_node):
        s.node[n].used_bytes = 0
        s.node[n].paused_ingresses = 0


@called
def unload(s, w):
    """Empty the packet simulation of whatever was loaded."""
    p = w.p[0]
    g = s.g[0]
    for j in range(p.loaded):
        clear_port(s, int64(w.tmp[j].loaded))
    for j in range(p.slots):
        i = int64(w.tmp[j].slot)
        if s.flow[i].flow_id >= 0:
            leave(s, i)
    for j in range(p.loaded):
        P = s.port[w.tmp[j].loaded]
        P.qp_first = -1
        P.qp_last = -1
    g.cut_count = 0
    g.departing = -1
    g.events = 0
    g.unsent_packets = 0
    p.slots = 0
    p.loaded = 0
