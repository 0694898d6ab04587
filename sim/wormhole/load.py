"""A kept state back in a packet simulation: slots, packets, ports and calendar as they were, relative to the instant."""

from numpy import int64

from sim.jit import called
from sim.packet.flows import count_ports, join_ring, take_region
from sim.packet.layout import LAST, NEVER
from sim.packet.nic import next_start
from sim.packet.pool import push_cut, take_packet
from sim.packet.port import can_start, is_priority
from sim.packet.wheel import reschedule, schedule
from sim.wormhole.canonical import FAR, ZERO, stamped_hops
from sim.wormhole.layout import BYTES, NUMBER, NUMBER_OR_ZERO, QUIET_TIME, REMAINING, TIME, TIME_NOT_PAST

LOW = (int64(1) << int64(24)) - 1


@called
def load_telemetry(s, w, i, row, rows, at, t):
    """Put telemetry rows back; returns where reading goes on."""
    for h in range(rows):
        T = s.telemetry[row + h]
        x = w.arena[at]
        at += 1
        T.time_ps = 0
        T.tx_bytes = 0
        T.queue_bytes = 0
        T.port = s.paths[s.flow[i].path + h + 1]
        T.flow = i
        if x != ZERO:
            T.time_ps = x + t
            T.tx_bytes = w.arena[at]
            T.queue_bytes = w.arena[at + 1]
            at += 2
    return at


@called
def load_flow(s, w, table, f, ports_at, at, t):
    """Give flow `f` a slot and its state at `t`; returns where reading goes on."""
    p = w.p[0]
    g = s.g[0]
    i = g.free_flow
    F = s.flow[i]
    g.free_flow = F.qp_next
    g.free_flows -= 1
    g.active_flows += 1
    w.tmp[p.slots].slot = i
    p.slots += 1
    F.flow_id = f
    F.order = w.flow[f].order
    base = w.flow[f].base
    F.acked_packets = base
    F.sends = w.flow[f].sends
    F.draw_key = table.draw_key[f]
    F.marks = 0
    F.retransmits = 0
    F.requested = 0
    F.last_wire_bytes = 0
    F.progress_at = t
    F.start_ps = t
    r = take_region(s)
    s.paths[r] = -1
    F.region = r
    F.path = r + 1
    to = r + 1
    while w.arena[at] >= 0:
        s.paths[to] = w.lists[ports_at + w.arena[at]]
        to += 1
        at += 1
    F.hops = to - F.path
    turn = to
    to += 1
    at += 1
    F.ack_path = to
    while w.arena[at] >= 0:
        s.paths[to] = w.lists[ports_at + w.arena[at]]
        to += 1
        at += 1
    F.ack_hops = to - F.ack_path
    at += 1
    F.nic = s.paths[F.path]
    F.ack_nic = s.paths[F.ack_path]
    s.paths[turn] = ~F.ack_nic
    s.paths[to] = ~F.nic
    for c in range(p.columns):
        C = w.column[c]
        x = w.arena[at]
        at += 1
        if C.kind == NUMBER or C.kind == REMAINING:
            x += base
        elif C.kind == NUMBER_OR_ZERO:
            x = x + base if x != ZERO else int64(0)
        elif C.kind == TIME or C.kind == QUIET_TIME:
            if x > -FAR and x < FAR:
                x += t
        elif C.kind == TIME_NOT_PAST:
            x += t
        elif C.kind == BYTES:
            x += base * g.payload
        w.words[i * p.words_per_flow + C.word] = x
    if g.telemetry:
        at = load_telemetry(s, w, i, g.telemetry_flows + i * g.hops_max, int64(F.hops) - 1, at, t)
    g.unsent_packets += F.packets - F.next_packet
    count_ports(s, int64(F.region), 1)
    if F.done:
        F.qp_next = g.departing
        g.departing = i
    return at


@called
def load_packet(s, w, q, first, ports_at, at, t, on_wire, at_switch):
    """Put a packet back, its flow being one of those listed from `first` on; returns it and where reading goes on."""
    p = w.p[0]
    g = s.g[0]
    k = take_packet(s)
    K = s.packet[k]
    x = w.arena[at]
    local = (x & LOW) - 1
    K.kind = (x >> 24) & 15
    K.hop = (x >> 28) & 255
    K.ecn = (x >> 36) & 1
    K.last = (x >> 37) & 7
    K.wire_bytes = x >> 40
    K.next = -1
    K.flow = -1
    K.number = 0
    K.place = 0
    K.send = 0
    K.ingress = q
    i = int64(-1)
    if local < 0:
        s.port[q ^ 1].frames += 1
    else:
        i = int64(w.tmp[first + local].slot)
        F = s.flow[i]
        K.flow = i
        K.number = w.arena[at + 1] + F.acked_packets
        K.place = w.arena[at + 2] + F.region
        K.send = F.sends
    at += 3
    if p.has_loss:
        K.send += w.arena[at]
        at += 1
    K.arrival = t
    K.sent = t
    K.cause = t
    if on_wire:
        K.arrival = t + w.arena[at]
        K.sent = t + w.arena[at + 1]
        K.cause = t + w.arena[at + 2]
        at += 3
        if K.last & LAST and local >= 0 and s.paths[K.place + 1] < 0:
            push_cut(s, K.arrival)
    elif at_switch and local >= 0:
        K.ingress = w.lists[ports_at + w.arena[at]]
        at += 1
    K.stamp = t
    if p.timed:
        K.stamp = t + w.arena[at]
        at += 1
    if g.telemetry and local >= 0:
        rows = stamped_hops(s, k, on_wire)
        at = load_telemetry(s, w, i, k * g.hops_max, rows, at, t)
        for h in range(rows):
            s.telemetry[k * g.hops_max + h].rate_bps = w.arena[at]
            at += 1
    return k, at


@called
def load_list(s, w, q, first, ports_at, at, t, on_wire, at_switch):
    """Put a list of packets back; returns its head, its tail and where reading goes on."""
    head = int64(-1)
    tail = int64(-1)
    while w.arena[at] >= 0:
        k, at = load_packet(s, w, q, first, ports_at, at, t, on_wire, at_switch)
        if head < 0:
            head = k
        else:
            s.packet[tail].next = k
        tail = k
    return head, tail, at + 1


@called
def load_nic(s, w, q, first, at, t):
    """Put back what only a NIC has; returns where reading goes on."""
    p = w.p[0]
    P = s.port[q]
    P.ready_at = w.arena[at] + t if w.arena[at] < NEVER else NEVER
    P.timer_at = w.arena[at + 1] + t if w.arena[at + 1] < NEVER else NEVER
    P.timer_since = w.arena[at + 2] + t
    at += 3
    P.qp_first = -1
    while w.arena[at] > 0:
        join_ring(s, int64(w.tmp[first + w.arena[at] - 1].slot))
        at += 1
    at += 1
    P.qp_last = w.tmp[first + w.arena[at]].slot if w.arena[at] >= 0 else -1
    at += 1
    P.timeout_at = NEVER
    if p.has_loss:
        P.timeout_at = w.arena[at] + t if w.arena[at] < NEVER else NEVER
        at += 1
    return at


@called
def load_port(s, w, q, first, ports_at, at, t):
    """Put port `q` back as it was, relative to `t`; returns where reading goes on."""
    g = s.g[0]
    P = s.port[q]
    free = w.arena[at + 1]
    P.free_at = t + free
    P.since = t + w.arena[at + 2]
    P.queue_bytes = w.arena[at + 3]
    flags = w.arena[at + 4]
    P.paused = flags & 1
    P.ingress_paused = (flags >> 2) & 1
    P.kicked = (flags >> 3) & 1
    P.telemetry_bytes = flags >> 8
    P.ingress_bytes = w.arena[at + 5]
    P.headroom_used = w.arena[at + 6]
    P.paused_since = t
    at += 7
    if w.p[0].by_link or w.p[0].by_node:
        at += 1
    if P.ingress_paused:
        s.node[P.far_node].paused_ingresses += 1
    at_switch = P.is_nic == 0
    if not at_switch:
        at = load_nic(s, w, q, first, at, t)
    head, tail, at = load_list(s, w, q, first, ports_at, at, t, False, at_switch)
    P.queue_head = head
    P.queue_tail = tail
    N = s.node[P.node]
    while head >= 0:
        if N.buffered and not is_priority(g, s.packet[head]):
            N.used_bytes += s.packet[head].wire_bytes
        head = int64(s.packet[head].next)
    head, tail, at = load_list(s, w, q, first, ports_at, at, t, False, at_switch)
    P.first_head = head
    P.first_tail = tail
    head, tail, at = load_list(s, w, q, first, ports_at, at, t, True, at_switch)
    P.wire_head = head
    P.wire_tail = tail
    if head >= 0:
        schedule(s, 2 * q, s.packet[head].arrival)
    if at_switch:
        reschedule(s, 2 * q + 1, P.free_at if can_start(P) else NEVER)
    else:
        reschedule(s, 2 * q + 1, min(next_start(g, P), P.timeout_at))
    return at


@called
def load_state(s, w, table, state, flows_at, ports_at, t):
    """Put a state into the packet simulation, at instant `t`, for the listed flows and ports; slots are listed in tmp."""
    p = w.p[0]
    at = w.state[state].at
    p.words_moved += w.state[state].words
    n = w.arena[at] & 0xFFFFFFFF
    m = w.arena[at] >> 32
    at += 1
    first = p.slots
    for j in range(n):
        at = load_flow(s, w, table, int64(w.lists[flows_at + j]), ports_at, at, t)
    for j in range(m):
        q = int64(w.lists[ports_at + j])
        w.tmp[p.loaded].loaded = q
        p.loaded += 1
        at = load_port(s, w, q, first, ports_at, at, t)
