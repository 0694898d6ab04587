"""All ports of one switch in one walk, where its shared buffer may pause or drop.

Ingress accounting, thresholds and headroom follow the switch model of the HPCC simulator: an ingress
is paused when its bytes beyond a reserve reach the threshold (fixed, or a fraction of what is left of
the shared pool), resumed below it; what arrives meanwhile goes to the headroom.
"""

from numpy import int64

from sim.jit import called, kernel
from sim.packet.inbox import append_inbox, merge_runs
from sim.packet.layout import NEVER, PAUSE, PAUSE_FRAME_BYTES, PFC_DYNAMIC, PFC_FIXED, PFC_OFF, RESUME
from sim.packet.pool import free_packet, take_packet
from sim.packet.port import can_start, enqueue, is_idle, is_priority, set_paused, start_next
from sim.packet.ties import keep, packet_row, recall, transmitter_row
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
def most_pause_frames(s, n):
    """More pause and resume frames than switch `n` can send within a window: one per packet that comes or goes."""
    g = s.g[0]
    if g.pfc == PFC_OFF:
        return int64(0)
    N = s.node[n]
    frames = int64(0)
    for m in range(N.first_port, N.end_port):
        q = s.port[m].by_node
        bits = g.width * 1e-12 * (s.port[q].rate_bps + s.port[q ^ 1].rate_bps)
        frames += int64(bits / (8.0 * g.min_wire_bytes)) + 4
    return min(frames, (2 * N.arriving_bytes + N.used_bytes) // g.min_wire_bytes + 4)


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
    """Whether ingress `L` has reached its threshold."""
    return L.headroom_used > 0 or max(0, L.ingress_bytes - N.reserve_bytes) >= threshold(g, N, L)


@kernel
def should_resume(g, N, L):
    """Whether ingress `L` has fallen far enough below its threshold."""
    if L.headroom_used > 0:
        return False
    if g.pfc == PFC_FIXED:
        return L.ingress_bytes <= L.xon_bytes
    beyond = max(0, L.ingress_bytes - N.reserve_bytes)
    return beyond == 0 or beyond + g.resume_below <= threshold(g, N, L)


@kernel
def kick(s, p, now, cause):
    """Port `p` is idle and has been given something at `now`: it starts before anything else happens."""
    P = s.port[p]
    if is_idle(P, now, cause):
        P.kicked = 1
        P.free_at = now
        P.since = cause
        if s.g[0].tie_depth > 0:
            keep(s, transmitter_row(p))


@kernel
def send_control(s, ingress, kind, now, cause):
    """Queue a pause or resume frame towards the sender at the far end of link `ingress`."""
    p = ingress ^ 1
    k = take_packet(s)
    K = s.packet[k]
    K.flow = -1
    K.kind = kind
    K.wire_bytes = PAUSE_FRAME_BYTES
    K.ecn = 0
    K.last = 0
    K.hop = 0
    K.place = 0
    K.send = 0
    K.ingress = p
    s.port[ingress].frames += 1
    enqueue(s, p, k, now)
    kick(s, p, now, cause)


@kernel
def depart(s, n, p, now, cause):
    """Start port `p`'s next packet and free its buffer; returns the ingress to resume, or -1."""
    g = s.g[0]
    K = s.packet[start_next(s, p, now, cause)]
    if is_priority(g, K):
        return int64(-1)
    N = s.node[n]
    L = s.port[K.ingress]
    release(N, L, int64(K.wire_bytes))
    if L.ingress_paused and should_resume(g, N, L):
        L.ingress_paused = 0
        N.paused_ingresses -= 1
        return int64(K.ingress)
    return int64(-1)


@kernel
def arrive(s, n, k, now):
    """Take packet `k` in (or drop it), or obey a pause frame; returns the ingress to pause, or -1."""
    g = s.g[0]
    K = s.packet[k]
    sent = K.sent
    pause = int64(-1)
    if K.kind >= PAUSE:
        p = int64(K.ingress ^ 1)
        set_paused(s, p, K.kind == PAUSE, now)
        free_packet(s, k)
    else:
        p = int64(s.paths[K.place])
        P = s.port[p]
        counted = not is_priority(g, K)
        N = s.node[n]
        L = s.port[K.ingress]
        if not P.up:
            P.drops += 1
            g.losses += 1
            free_packet(s, k)
            return pause
        if counted and not admit(g, N, L, int64(K.wire_bytes)):
            P.drops += 1
            g.drops += 1
            free_packet(s, k)
            return pause
        if counted and g.pfc != PFC_OFF and not L.ingress_paused and should_pause(g, N, L):
            L.ingress_paused = 1
            N.paused_ingresses += 1
            pause = int64(K.ingress)
        enqueue(s, p, k, now)
    if can_start(s.port[p]):
        kick(s, p, now, sent)
    return pause


@kernel
def send_deferred(s, count, now, cause):
    """Queue the pause and resume frames that one instant's events have asked for."""
    for j in range(count):
        x = int64(s.todo[j].entry)
        send_control(s, x >> 1, RESUME if x & 1 else PAUSE, now, cause)


@called
def goes_before(s, p, q):
    """Which of two ports that may start at one instant does so first: as their packets' flows entered, whatever the ports' numbers."""
    P = s.port[p]
    Q = s.port[q]
    A = s.packet[P.first_head if P.first_head >= 0 else P.queue_head]
    B = s.packet[Q.first_head if Q.first_head >= 0 else Q.queue_head]
    if A.flow < 0 or B.flow < 0:
        return A.flow < B.flow
    if A.flow != B.flow:
        return s.flow[A.flow].order < s.flow[B.flow].order
    return A.kind < B.kind


@called
def walk_switch(s, n, end):
    """Handle every port of switch `n` up to (excluding) `end`, all events merged in order of time.

    On the picosecond clock what events of one time and certainty ask for is sent after the last of them, so that
    the order of a switch's ports decides nothing; on the 1 ns clock at once, in order of insertion.
    """
    g = s.g[0]
    N = s.node[n]
    runs = int64(0)
    count = int64(0)
    N.shared_bytes = 0
    for m in range(N.first_port, N.end_port):
        q = s.port[m].by_node
        runs, count = append_inbox(s, q, runs, count)
        N.shared_bytes += max(0, s.port[q ^ 1].ingress_bytes - N.reserve_bytes)
    merge_runs(s, runs, count)
    j = int64(0)
    deferred = int64(0)
    deferred_at = int64(0)
    deferred_cause = int64(0)
    while True:
        best = int64(-1)
        start = NEVER
        since = NEVER
        kicked = False
        for m in range(N.first_port, N.end_port):
            q = s.port[m].by_node
            P = s.port[q]
            first = P.free_at < start or (P.free_at == start and P.since < since)
            if best >= 0 and g.tie_depth == 0 and P.free_at == start and P.since == since and can_start(P):
                first = goes_before(s, q, best)
            if can_start(P) and (first if (P.kicked > 0) == kicked else P.kicked > 0):
                start = P.free_at
                since = P.since
                best = q
                kicked = P.kicked > 0
        now = NEVER
        cause = NEVER
        k = int64(-1)
        if j < count:
            k = int64(s.sort[j].order)
            now = s.packet[k].arrival
            cause = s.packet[k].sent
        departs = best >= 0 and (kicked or is_idle(s.port[best], now, cause))
        if deferred > 0 and not kicked:
            at = start if departs else now
            certain = since if departs else cause
            if at != deferred_at or certain != deferred_cause:
                send_deferred(s, deferred, deferred_at, deferred_cause)
                deferred = 0
                continue
        if not kicked and min(start, now) >= end:
            break
        kind = RESUME
        if departs:
            now = start
            cause = s.port[best].since
            s.port[best].kicked = 0
            if g.tie_depth > 0:
                recall(s, transmitter_row(best))
            ingress = depart(s, n, best, now, cause)
        else:
            kind = PAUSE
            j += 1
            if g.tie_depth > 0:
                recall(s, packet_row(s, k))
            ingress = arrive(s, n, k, now)
        if ingress >= 0 and g.tie_depth > 0:
            send_control(s, ingress, kind, now, cause)
        elif ingress >= 0:
            if deferred > 0 and (now != deferred_at or cause != deferred_cause):  # a kicked port's own time
                send_deferred(s, deferred, deferred_at, deferred_cause)
                deferred = 0
            s.todo[deferred].entry = ingress * 2 + (1 if kind == RESUME else 0)
            deferred += 1
            deferred_at = now
            deferred_cause = cause
    for m in range(N.first_port, N.end_port):
        q = s.port[m].by_node
        reschedule(s, 2 * q + 1, s.port[q].free_at if can_start(s.port[q]) else NEVER)
