"""All ports of one switch in one walk, where its shared buffer may pause or drop.

Ingress accounting, thresholds and headroom follow the switch model of the HPCC simulator: an ingress
is paused when its bytes beyond a reserve reach the threshold (fixed, or a fraction of what is left of
the shared pool), resumed below it; what arrives meanwhile goes to the headroom.
"""

from sim.jit import kernel
from sim.packet.inbox import append_inbox, merge_runs
from sim.packet.layout import NEVER, PAUSE, PAUSE_FRAME_BYTES, PFC_DYNAMIC, PFC_FIXED, PFC_OFF, RESUME
from sim.packet.pool import free_packet, take_packet
from sim.packet.port import can_start, enqueue, is_priority, set_paused, start_next, is_idle
from sim.packet.ties import ancestry_of_packet, ancestry_of_port
from sim.packet.wheel import reschedule


@kernel
def needs_care(s, n):
    """Whether a threshold of switch `n` could be reached in this window."""
    g = s.g[0]
    N = s.node[n]
    if g.always_careful or N.paused_ingresses > 0:
        return True
    if g.pfc == PFC_DYNAMIC:
        return N.worst_ingress - N.reserve_bytes >= (N.pool_bytes - N.used_bytes - N.arriving_bytes) >> N.shift
    if g.pfc == PFC_FIXED:
        return N.worst_ingress >= N.xoff_floor
    return N.buffer_bytes > 0 and N.used_bytes + N.arriving_bytes > N.buffer_bytes


@kernel
def threshold(g, N, L):
    """Bytes beyond the reserve at which ingress `L` is paused."""
    if g.pfc == PFC_DYNAMIC:
        return (N.pool_bytes - N.shared_bytes) >> L.shift
    return L.xoff_bytes


@kernel
def admit(g, N, L, size):
    """Account an arriving packet on its ingress; False where it finds no room."""
    if g.pfc == PFC_OFF:
        if N.buffer_bytes > 0 and N.used_bytes + size > N.buffer_bytes:
            return False
        L.ingress_bytes += size
    else:
        limit = threshold(g, N, L)
        beyond = max(0, L.ingress_bytes + size - N.reserve_bytes)
        if beyond > limit:
            if L.headroom_used + size > L.headroom_bytes:
                return False
            L.headroom_used += size
        else:
            N.shared_bytes += beyond - max(0, L.ingress_bytes - N.reserve_bytes)
            L.ingress_bytes += size
    N.used_bytes += size
    return True


@kernel
def release(N, L, size):
    """Account a departing packet: the headroom empties first."""
    from_headroom = min(L.headroom_used, size)
    L.headroom_used -= from_headroom
    before = max(0, L.ingress_bytes - N.reserve_bytes)
    L.ingress_bytes -= size - from_headroom
    N.shared_bytes -= before - max(0, L.ingress_bytes - N.reserve_bytes)
    N.used_bytes -= size


@kernel
def should_pause(g, N, L):
    return L.headroom_used > 0 or max(0, L.ingress_bytes - N.reserve_bytes) >= threshold(g, N, L)


@kernel
def should_resume(g, N, L):
    if L.headroom_used > 0:
        return False
    if g.pfc == PFC_FIXED:
        return L.ingress_bytes <= L.xon_bytes
    beyond = max(0, L.ingress_bytes - N.reserve_bytes)
    return beyond == 0 or beyond + g.resume_below <= threshold(g, N, L)


@kernel
def send_control(s, ingress, kind, now, cause):
    """Queue a pause or resume frame towards the sender at the far end of link `ingress`."""
    p = ingress ^ 1
    P = s.port[p]
    k = take_packet(s)
    K = s.packet[k]
    K.flow = -1
    K.kind = kind
    K.control = 1
    K.size = PAUSE_FRAME_BYTES
    K.ecn = 0
    K.last = 0
    K.hop = 0
    K.place = 0
    K.ingress = p
    enqueue(s, p, k, now)
    if is_idle(P, now, cause):
        start_next(s, p, now, cause)


@kernel
def depart(s, n, p, now, cause):
    """Start port `p`'s next packet, free its buffer, and resume its ingress where that is due."""
    g = s.g[0]
    k = start_next(s, p, now, cause)
    K = s.packet[k]
    if is_priority(g, K):
        return
    N = s.node[n]
    L = s.port[K.ingress]
    release(N, L, K.size)
    if L.ingress_paused and should_resume(g, N, L):
        L.ingress_paused = 0
        N.paused_ingresses -= 1
        send_control(s, K.ingress, RESUME, now, cause)


@kernel
def arrive(s, n, k, now):
    g = s.g[0]
    K = s.packet[k]
    sent = K.sent
    ancestry_of_packet(s, k)
    if K.kind >= PAUSE:
        p = K.ingress ^ 1
        set_paused(s, p, K.kind == PAUSE, now)
        free_packet(s, k)
    else:
        p = s.paths[K.place]
        P = s.port[p]
        counted = not is_priority(g, K)
        N = s.node[n]
        L = s.port[K.ingress]
        if not P.up or (counted and not admit(g, N, L, K.size)):
            P.drops += 1
            g.drops += 1
            free_packet(s, k)
            return
        if counted and g.pfc != PFC_OFF and not L.ingress_paused and should_pause(g, N, L):
            L.ingress_paused = 1
            N.paused_ingresses += 1
            send_control(s, K.ingress, PAUSE, now, K.sent)
        enqueue(s, p, k, now)
    if is_idle(s.port[p], now, sent) and can_start(s.port[p]):
        depart(s, n, p, now, sent)


@kernel
def walk_switch(s, n, end):
    """Handle every port of switch `n` up to (excluding) `end`, all events merged in order of time."""
    N = s.node[n]
    runs = 0
    count = 0
    N.shared_bytes = 0
    first = s.node_ptr[n]
    last = s.node_ptr[n + 1]
    for m in range(first, last):
        q = s.node_ports[m]
        runs, count = append_inbox(s, q, runs, count)
        N.shared_bytes += max(0, s.port[q ^ 1].ingress_bytes - N.reserve_bytes)
    merge_runs(s, runs, count)
    j = 0
    while True:
        best = -1
        start = NEVER
        for m in range(first, last):
            P = s.port[s.node_ports[m]]
            if P.free_at < start and can_start(P):
                start = P.free_at
                best = s.node_ports[m]
        arrival = s.packet[s.order[j]].arrival if j < count else NEVER
        if min(start, arrival) >= end:
            break
        if start < arrival or (start == arrival and is_idle(s.port[best], arrival, s.packet[s.order[j]].sent)):
            ancestry_of_port(s, best)
            depart(s, n, best, start, s.port[best].since)
        else:
            arrive(s, n, s.order[j], arrival)
            j += 1
    for m in range(first, last):
        q = s.node_ports[m]
        reschedule(s, 2 * q + 1, s.port[q].free_at if can_start(s.port[q]) else NEVER)
