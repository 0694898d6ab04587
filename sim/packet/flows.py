"""Flows entering and leaving a packet simulation: slots, paths, queue-pair rings, and the window they allow."""

from collections import namedtuple

from numpy import int64

from sim.congestion import dispatch
from sim.jit import called, kernel
from sim.packet.layout import NEVER, PFC_OFF
from sim.packet.ties import begin_ancestry, timer_row
from sim.packet.wheel import reschedule

FlowTable = namedtuple(
    "FlowTable", "size_bytes window_bytes base_rtt_ps draw_key data_ptr data_ports ack_ptr ack_ports"
)
FlowTable.__doc__ = """What is known of every flow before the run, one entry per flow; paths as CSR lists of ports."""


@kernel
def take_region(s):
    """A free region of the path store."""
    g = s.g[0]
    r = g.free_region
    g.free_region = s.paths[r]
    g.free_regions -= 1
    return r


@kernel
def give_region(s, r):
    """Region `r` is free again."""
    g = s.g[0]
    s.paths[r] = g.free_region
    g.free_region = r
    g.free_regions += 1


@kernel
def write_path(s, i, ports, lo, hi, ack_ports, ack_lo, ack_hi):
    """Put both paths of flow slot `i` into a fresh region; each ends with the port that takes over, as ~port."""
    F = s.flow[i]
    r = take_region(s)
    at = r + 1
    F.path = at
    for j in range(lo, hi):
        s.paths[at] = ports[j]
        at += 1
    s.paths[at] = ~ack_ports[ack_lo]
    at += 1
    F.ack_path = at
    for j in range(ack_lo, ack_hi):
        s.paths[at] = ack_ports[j]
        at += 1
    s.paths[at] = ~ports[lo]
    F.hops = hi - lo
    F.ack_hops = ack_hi - ack_lo
    F.nic = ports[lo]
    F.ack_nic = ack_ports[ack_lo]
    return r


@kernel
def count_ports(s, region, change):
    """Add `change` active flows to each port of the paths in a region; a port that falls idle forgets its telemetry."""
    g = s.g[0]
    j = region
    ends = 0
    while ends < 2:
        j += 1
        p = int64(s.paths[j])
        if p < 0:
            ends += 1
            continue
        P = s.port[p]
        P.flows += change
        s.events[P.speed_class].speed_flows += change
        if change > 0 and s.events[P.speed_class].lookahead_ps < g.width:
            g.refit = 1
        if P.flows == 0:
            P.telemetry_bytes = 0


@kernel
def join_ring(s, i):
    """Flow slot `i` takes the last place in its NIC's ring."""
    F = s.flow[i]
    P = s.port[F.nic]
    if P.qp_first < 0:
        P.qp_first = i
        F.qp_next = i
        F.qp_prev = i
    else:
        last = int64(s.flow[P.qp_first].qp_prev)
        F.qp_prev = last
        F.qp_next = P.qp_first
        s.flow[last].qp_next = i
        s.flow[P.qp_first].qp_prev = i


@kernel
def leave_ring(s, i):
    """Flow slot `i` leaves its NIC's ring; the turn stays where it was."""
    F = s.flow[i]
    P = s.port[F.nic]
    if F.qp_next == i:
        P.qp_first = -1
        P.qp_last = -1
        P.kicked = 0
        return
    s.flow[F.qp_prev].qp_next = F.qp_next
    s.flow[F.qp_next].qp_prev = F.qp_prev
    if P.qp_first == i:
        P.qp_first = F.qp_next
    if P.qp_last == i:
        P.qp_last = F.qp_prev


@kernel
def wake_nic(s, p, now, order):
    """The `order`-th flow entered or changed at NIC `p`: look at it at `now`, or when the wire is free."""
    P = s.port[p]
    if now < P.ready_at:
        P.ready_at = now
        if P.timer_at <= now or P.timer_at == NEVER:
            P.timer_since = now
            begin_ancestry(s, timer_row(p), now, order)
    if P.up and not P.paused:
        reschedule(s, 2 * p + 1, min(max(P.free_at, now), P.timeout_at))


@kernel
def forget_telemetry(s, i):
    """What an earlier flow in slot `i` was told is no news of this one."""
    g = s.g[0]
    if g.telemetry:
        row = g.telemetry_flows + i * g.hops_max
        for h in range(g.hops_max):
            s.telemetry[row + h].time_ps = 0
            s.telemetry[row + h].tx_bytes = 0
            s.telemetry[row + h].queue_bytes = 0


@called
def start_flow(s, table, f, now):
    """Flow `f` of the table enters at `now`: it takes a slot and may send from this instant on."""
    g = s.g[0]
    i = g.free_flow
    F = s.flow[i]
    g.free_flow = F.qp_next
    g.free_flows -= 1
    F.flow_id = f
    F.order = g.entries
    g.entries += 1
    g.active_flows += 1
    F.size_bytes = table.size_bytes[f]
    F.packets = (F.size_bytes + g.payload - 1) // g.payload
    g.unsent_packets += F.packets
    F.next_packet = 0
    F.acked_packets = 0
    F.next_at = now
    F.last_wire_bytes = 0
    F.expected = 0
    F.unacked_rx = 0
    F.rx_ecn = 0
    F.nack_out = 0
    F.done = 0
    F.in_flight = 0
    F.sends = 0
    F.requested = 0
    F.timeouts = 0
    F.marks = 0
    F.retransmits = 0
    F.progress_at = now
    F.start_ps = now
    F.draw_key = table.draw_key[f]
    F.window_bytes = table.window_bytes[f]
    F.base_rtt_ps = table.base_rtt_ps[f]
    F.region = write_path(
        s, i, table.data_ports, table.data_ptr[f], table.data_ptr[f + 1],
        table.ack_ports, table.ack_ptr[f], table.ack_ptr[f + 1],
    )
    s.paths[F.region] = -1
    P = s.port[F.nic]
    F.line_bps = P.rate_bps
    F.rate_bps = P.rate_bps
    count_ports(s, int64(F.region), 1)
    forget_telemetry(s, i)
    dispatch.start(s, i)
    join_ring(s, i)
    wake_nic(s, int64(F.nic), now, F.order)
    return i


@called
def leave(s, i):
    """Flow slot `i` is acknowledged and nothing of it is in the network: free its place."""
    g = s.g[0]
    F = s.flow[i]
    r = int64(F.region)
    while r >= 0:
        count_ports(s, r, -1)
        older = int64(s.paths[r])
        give_region(s, r)
        r = older
    F.flow_id = -1
    F.qp_next = g.free_flow
    g.free_flow = i
    g.free_flows += 1
    g.active_flows -= 1


@called
def is_quiet(s, region):
    """Whether no pause is left on the ports of a flow's paths, nor on its way to them: whoever comes next must not meet it."""
    while region >= 0:
        at = region
        ends = 0
        while ends < 2:
            at += 1
            p = int64(s.paths[at])
            if p < 0:
                ends += 1
            elif s.port[p].paused or s.port[p].frames > 0:
                return False
        region = int64(s.paths[region])
    return True


@kernel
def reap(s):
    """Let acknowledged flows leave whose last stray packets, and the pauses that they led to, are gone."""
    g = s.g[0]
    i = g.departing
    before = int64(-1)
    while i >= 0:
        after = int64(s.flow[i].qp_next)
        if s.flow[i].in_flight == 0 and (g.pfc == PFC_OFF or is_quiet(s, int64(s.flow[i].region))):
            if before >= 0:
                s.flow[before].qp_next = after
            else:
                g.departing = after
            leave(s, i)
        else:
            before = i
        i = after
