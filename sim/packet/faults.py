"""Links that fail, recover or change, and flows that take another way, between two windows."""

import numpy as np
from numpy import int64

from sim.congestion import dispatch
from sim.jit import called, entry, kernel
from sim.packet.flows import count_ports, join_ring, leave_ring, wake_nic, write_path
from sim.packet.layout import NEVER, PAUSE, RESUME
from sim.packet.loop import coarsen_bins
from sim.packet.pool import free_packet
from sim.packet.port import book_pause, can_start, is_priority
from sim.packet.queue_pair import timeout_of
from sim.packet.switch import release, send_control, should_resume
from sim.packet.wheel import reschedule, unschedule
from sim.rows import bundle_of

DOWN, UP, OVER, DUE = range(4)  # in one entry, of which the machine code is made once


@kernel
def _drop_queue(s, p, k):
    g = s.g[0]
    P = s.port[p]
    while k >= 0:
        K = s.packet[k]
        after = int64(K.next)
        if not P.is_nic and K.kind < PAUSE and not is_priority(g, K):
            release(s.node[P.node], s.port[K.ingress], int64(K.wire_bytes))
        if K.kind < PAUSE:
            P.drops += 1
            g.losses += 1
        else:
            s.port[p ^ 1].frames -= 1
        free_packet(s, k)
        k = after


@kernel
def _drop_wire(s, p):
    g = s.g[0]
    P = s.port[p]
    k = int64(P.wire_head)
    while k >= 0:
        after = int64(s.packet[k].next)
        if s.packet[k].kind < PAUSE:
            P.drops += 1
            g.losses += 1
        else:
            s.port[p ^ 1].frames -= 1
        free_packet(s, k)
        k = after
    P.wire_head = -1
    P.wire_tail = -1
    unschedule(s, 2 * p)


@kernel
def _resume_ingresses(s, n, now):
    """What was queued at switch `n` is gone: resume whoever it kept paused."""
    g = s.g[0]
    N = s.node[n]
    N.shared_bytes = 0
    for m in range(N.first_port, N.end_port):
        N.shared_bytes += max(0, s.port[s.port[m].by_node ^ 1].ingress_bytes - N.reserve_bytes)
    for m in range(N.first_port, N.end_port):
        q = s.port[m].by_node
        L = s.port[q ^ 1]
        if L.ingress_paused and should_resume(g, N, L):
            L.ingress_paused = 0
            N.paused_ingresses -= 1
            P = s.port[q]
            if P.up:
                send_control(s, q ^ 1, RESUME, now, now)
                P.kicked = 0
                if P.free_at < now:
                    P.free_at = now
                    P.since = now
                reschedule(s, 2 * q + 1, P.free_at)


@called
def _take_down(s, ports, now):
    while (now >> s.g[0].bin_shift) >= s.g[0].bins:
        coarsen_bins(s)
    for j in range(ports.size):
        p = int64(ports[j])
        P = s.port[p]
        if P.up == 0:
            continue
        P.up = 0
        _drop_wire(s, p)
        _drop_queue(s, p, int64(P.queue_head))
        _drop_queue(s, p, int64(P.first_head))
        P.queue_head = -1
        P.queue_tail = -1
        P.first_head = -1
        P.first_tail = -1
        P.queue_bytes = 0
        if P.paused:
            P.paused = 0
            P.paused_ps += now - P.paused_since
            book_pause(s, p, P.paused_since, now)
        if P.ingress_paused:
            P.ingress_paused = 0
            s.node[P.far_node].paused_ingresses -= 1
            P.ingress_bytes += P.headroom_used
            P.headroom_used = 0
        if not P.is_nic:
            unschedule(s, 2 * p + 1)
            _resume_ingresses(s, int64(P.node), now)


@called
def _bring_up(s, ports, now):
    for j in range(ports.size):
        p = int64(ports[j])
        P = s.port[p]
        P.up = 1
        if P.free_at < now:
            P.free_at = now
            P.since = now  # when that became certain: what the port did before it failed is long past
        if P.is_nic:
            wake_nic(s, p, now, int64(0))
        else:
            reschedule(s, 2 * p + 1, P.free_at if can_start(P) else NEVER)


@called
def _take_path(s, i, ports, ack_ports, now):
    F = s.flow[i]
    old = F.region
    nic = F.nic
    moved = ports[0] != nic
    if moved:
        leave_ring(s, i)
    F.region = write_path(s, i, ports, int64(0), ports.size, ack_ports, int64(0), ack_ports.size)
    s.paths[F.region] = old
    count_ports(s, int64(F.region), 1)
    if moved:
        join_ring(s, i)
        s.port[F.nic].timeout_at = min(s.port[F.nic].timeout_at, max(now, F.progress_at + timeout_of(s.g[0], F)))
    wake_nic(s, int64(F.nic), now, F.order)


@called
def _apply(s, what, ports, ack_ports, i, now):
    if what == DOWN:
        _take_down(s, ports, now)
    elif what == UP:
        _bring_up(s, ports, now)
    elif what == OVER:
        _take_path(s, i, ports, ack_ports, now)
    else:
        dispatch.catch_up(s, i, now)


@entry
def _change(s, what, ports, ack_ports, i, now):
    _apply(bundle_of(s), what, ports, ack_ports, i, now)


def _numbers(ports):
    return np.ascontiguousarray(ports, np.int32)


def take_down(s, ports, now):
    """The links behind `ports` fail: what is queued for them and in flight on them is lost; pauses end."""
    _change(s, DOWN, _numbers(ports), _numbers(ports), 0, now)


def bring_up(s, ports, now):
    """The links behind `ports` work again."""
    _change(s, UP, _numbers(ports), _numbers(ports), 0, now)


def take_path(s, i, ports, ack_ports, now):
    """Flow slot `i` sends along `ports` from now on; what is under way stays on the old path."""
    _change(s, OVER, _numbers(ports), _numbers(ack_ports), i, now)


def catch_up(s, i, now):
    """Timers of flow slot `i` due at or before `now` do what they do, before what they work on is changed."""
    nothing = np.empty(0, np.int32)
    _change(s, DUE, nothing, nothing, i, now)
