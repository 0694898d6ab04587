"""Play a graph of tasks and flows over a packet simulation, one complete instant at a time.

Order within an instant: what the network delivered, then tasks that end, then flows that start, the
latter in order of their number. Nothing here depends on how the run is sliced.
"""

from numpy import int64

from sim.jit import entry, kernel
from sim.packet.flows import start_flow
from sim.packet.layout import DELIVERED, NEED_FLOWS, NEED_PACKETS, NEVER, RUNNING
from sim.packet.loop import IDLE, advance
from sim.player.tables import ACKED_NOW, BEGIN, END

FINISHED, STALLED, LIMIT = 10, 11, 12


@kernel
def push_time(d, at, code):
    p = d.p[0]
    i = p.heap
    p.heap += 1
    while i > 0:
        up = (i - 1) >> 1
        if d.heap_at[up] <= at:
            break
        d.heap_at[i] = d.heap_at[up]
        d.heap_code[i] = d.heap_code[up]
        i = up
    d.heap_at[i] = at
    d.heap_code[i] = code


@kernel
def pop_time(d):
    p = d.p[0]
    code = d.heap_code[0]
    p.heap -= 1
    n = p.heap
    at = d.heap_at[n]
    last = d.heap_code[n]
    i = int64(0)
    while True:
        low = 2 * i + 1
        if low >= n:
            break
        if low + 1 < n and d.heap_at[low + 1] < d.heap_at[low]:
            low += 1
        if at <= d.heap_at[low]:
            break
        d.heap_at[i] = d.heap_at[low]
        d.heap_code[i] = d.heap_code[low]
        i = low
    d.heap_at[i] = at
    d.heap_code[i] = last
    return code


@kernel
def push_ready(d, node):
    """Flows that start at this instant, smallest number first."""
    p = d.p[0]
    i = p.ready
    p.ready += 1
    while i > 0:
        up = (i - 1) >> 1
        if d.ready[up] <= node:
            break
        d.ready[i] = d.ready[up]
        i = up
    d.ready[i] = node


@kernel
def pop_ready(d):
    p = d.p[0]
    node = d.ready[0]
    p.ready -= 1
    n = p.ready
    last = d.ready[n]
    i = int64(0)
    while True:
        low = 2 * i + 1
        if low >= n:
            break
        if low + 1 < n and d.ready[low + 1] < d.ready[low]:
            low += 1
        if last <= d.ready[low]:
            break
        d.ready[i] = d.ready[low]
        i = low
    d.ready[i] = last
    return node


@kernel
def begin(d, node, now):
    """Node `node` has nothing left to wait for: start it, or wait for its own start time."""
    p = d.p[0]
    if d.start_ps[node] > now:
        push_time(d, d.start_ps[node], node * 4 + BEGIN)
        return
    if node < p.tasks:
        d.started[node] = now
        push_time(d, now + d.duration_ps[node], node * 4 + END)
    elif d.zero_ps[node - p.tasks, 0] >= 0:
        d.started[node] = now
        push_time(d, now + d.zero_ps[node - p.tasks, 0], node * 4 + END)
        push_time(d, now + d.zero_ps[node - p.tasks, 1], node * 4 + ACKED_NOW)
    else:
        push_ready(d, node)


@kernel
def release(d, succ, lo, hi, now):
    for j in range(lo, hi):
        node = int64(succ[j])
        d.waiting[node] -= 1
        if d.waiting[node] == 0:
            begin(d, node, now)


@kernel
def end_node(d, node, now):
    """A task ends, or a flow's last data packet has arrived."""
    p = d.p[0]
    d.ended[node] = now
    if node < p.tasks:
        p.left -= 1
    release(d, d.done_succ, d.done_ptr[node], d.done_ptr[node + 1], now)


@kernel
def acknowledge_flow(d, node, now):
    p = d.p[0]
    d.acked[node - p.tasks] = now
    p.left -= 1
    p.finished_flows += 1
    release(d, d.acked_succ, d.acked_ptr[node], d.acked_ptr[node + 1], now)


@kernel
def handle_instant(s, d, now):
    """All that the network reports and all timers due at `now`."""
    g = s.g[0]
    p = d.p[0]
    for j in range(g.events):
        E = s.events[j]
        node = p.tasks + E.flow_id
        if E.kind == DELIVERED:
            end_node(d, node, now)
        else:
            F = s.flow[E.order]
            d.marks[E.flow_id] = F.marks
            d.retransmits[E.flow_id] = F.retransmits
            acknowledge_flow(d, node, now)
    g.events = 0
    while p.heap > 0 and d.heap_at[0] <= now:
        code = pop_time(d)
        node = code >> 2
        what = code & 3
        if what == END:
            end_node(d, node, now)
        elif what == BEGIN:
            begin(d, node, now)
        else:
            acknowledge_flow(d, node, now)
    p.now = now


@kernel
def start_ready(s, d, table):
    """Start the flows of this instant while there is room for them."""
    p = d.p[0]
    while p.ready > 0:
        if s.g[0].free_flows == 0 or s.g[0].free_regions == 0:
            return False
        node = pop_ready(d)
        d.started[node] = p.now
        start_flow(s, table, node - p.tasks, p.now)
    return True


@entry
def open_play(d):
    """Begin every node that waits for nothing, at time 0."""
    p = d.p[0]
    for node in range(p.nodes):
        if d.waiting[node] == 0:
            begin(d, node, int64(0))


@entry
def play(s, d, table, limit, hop_limit):
    """Play until everything has ended, to time `limit` (excluded), or past `hop_limit` packet-hops.

    Returns FINISHED, RUNNING (hop limit), LIMIT, STALLED (nothing can happen any more), NEED_FLOWS or NEED_PACKETS.
    """
    g = s.g[0]
    p = d.p[0]
    while True:
        if not start_ready(s, d, table):
            return NEED_FLOWS
        if p.left == 0:
            return FINISHED
        if g.packet_hops >= hop_limit:
            return RUNNING
        timer = d.heap_at[0] if p.heap > 0 else NEVER
        status = advance(s, min(timer + 1, limit), hop_limit)
        if status == NEED_PACKETS:
            return NEED_PACKETS
        if g.events > 0 or (status == IDLE and timer + 1 <= limit and g.now == timer + 1):
            handle_instant(s, d, g.now - 1)
        elif status == IDLE:
            return STALLED if timer == NEVER and g.active_flows == 0 else LIMIT
