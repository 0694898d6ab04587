"""Play a graph of tasks and flows, one complete instant at a time.

Order within an instant: what the network delivered, then tasks that end, then flows that start, the
latter in order of their number. Nothing here depends on how the run is sliced.
"""

from numpy import int64

from sim.jit import called, entry, kernel
from sim.packet.flows import start_flow
from sim.packet.layout import DELIVERED
from sim.player.tables import ACKED_NOW, BEGIN, END
from sim.rows import bundle_of

FINISHED, STALLED, LIMIT = 10, 11, 12


@kernel
def push_time(d, at, code):
    """Something is due at `at` (binary heap)."""
    p = d.p[0]
    i = p.heap
    p.heap += 1
    while i > 0:
        up = (i - 1) >> 1
        if d.heap[up].at <= at:
            break
        d.heap[i].at = d.heap[up].at
        d.heap[i].code = d.heap[up].code
        i = up
    d.heap[i].at = at
    d.heap[i].code = code


@kernel
def pop_time(d):
    """The code of what is due first."""
    p = d.p[0]
    code = d.heap[0].code
    p.heap -= 1
    n = p.heap
    at = d.heap[n].at
    last = d.heap[n].code
    i = int64(0)
    while True:
        low = 2 * i + 1
        if low >= n:
            break
        if low + 1 < n and d.heap[low + 1].at < d.heap[low].at:
            low += 1
        if at <= d.heap[low].at:
            break
        d.heap[i].at = d.heap[low].at
        d.heap[i].code = d.heap[low].code
        i = low
    d.heap[i].at = at
    d.heap[i].code = last
    return code


@kernel
def push_ready(d, node):
    """Flows that start at this instant, smallest number first."""
    p = d.p[0]
    i = p.ready
    p.ready += 1
    while i > 0:
        up = (i - 1) >> 1
        if d.node[up].ready <= node:
            break
        d.node[i].ready = d.node[up].ready
        i = up
    d.node[i].ready = node


@kernel
def pop_ready(d):
    """The flow with the smallest number."""
    p = d.p[0]
    node = int64(d.node[0].ready)
    p.ready -= 1
    n = p.ready
    last = d.node[n].ready
    i = int64(0)
    while True:
        low = 2 * i + 1
        if low >= n:
            break
        if low + 1 < n and d.node[low + 1].ready < d.node[low].ready:
            low += 1
        if last <= d.node[low].ready:
            break
        d.node[i].ready = d.node[low].ready
        i = low
    d.node[i].ready = last
    return node


@called
def begin(d, node, now):
    """Node `node` has nothing left to wait for: start it, or wait for its own start time."""
    p = d.p[0]
    N = d.node[node]
    at = now
    code = node * 4 + BEGIN
    if N.start_ps > now:
        at = N.start_ps
    elif node < p.tasks:
        N.started = now
        at = now + N.duration_ps
        code = node * 4 + END
    elif d.flow[node - p.tasks].empty_done_ps >= 0:
        N.started = now
        at = now + d.flow[node - p.tasks].empty_done_ps
        code = node * 4 + END
    else:
        push_ready(d, node)
        return
    push_time(d, at, code)


@called
def finish(d, node, what, now):
    """A task or flow ends, a last ACK arrives, or a start time is reached: note it and begin what waited for it."""
    p = d.p[0]
    N = d.node[node]
    lo = N.done_from
    hi = N.acked_from
    if what == END:
        N.ended = now
        if node < p.tasks:
            p.left -= 1
        elif d.flow[node - p.tasks].empty_done_ps >= 0:
            push_time(d, N.started + d.flow[node - p.tasks].empty_acked_ps, node * 4 + ACKED_NOW)
    elif what == ACKED_NOW:
        d.flow[node - p.tasks].acked = now
        p.left -= 1
        p.finished_flows += 1
        lo = N.acked_from
        hi = N.acked_to
    j = lo - 1 if what == BEGIN else lo
    while j < hi:
        ready = node
        if j >= lo:
            ready = int64(d.successors[j])
            d.node[ready].waiting -= 1
        j += 1
        if d.node[ready].waiting == 0:
            begin(d, ready, now)
        if what == BEGIN:
            break


@called
def handle_instant(s, d, now):
    """All that the network reports and all timers due at `now`."""
    g = s.g[0]
    p = d.p[0]
    j = int64(0)
    while True:
        if j < g.events:
            E = s.events[j]
            j += 1
            node = p.tasks + E.event_flow
            what = int64(END)
            if E.event_kind != DELIVERED:
                what = int64(ACKED_NOW)
                F = s.flow[E.event_slot]
                d.flow[E.event_flow].marks = F.marks
                d.flow[E.event_flow].retransmits = F.retransmits
        elif p.heap > 0 and d.heap[0].at <= now:
            code = pop_time(d)
            node = code >> 2
            what = code & 3
        else:
            break
        finish(d, node, what, now)
    g.events = 0
    p.now = now


@kernel
def start_ready(s, d, table):
    """Start the flows of this instant while there is room for them."""
    p = d.p[0]
    while p.ready > 0:
        if s.g[0].free_flows == 0 or s.g[0].free_regions == 0:
            return False
        node = pop_ready(d)
        d.node[node].started = p.now
        start_flow(s, table, node - p.tasks, p.now)
    return True


@called
def _open(d):
    p = d.p[0]
    for node in range(int64(0), p.nodes):
        if d.node[node].waiting == 0:
            begin(d, node, int64(0))


@entry
def open_play(d):
    """Begin every node that waits for nothing, at time 0."""
    _open(bundle_of(d))
