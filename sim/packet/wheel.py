"""Who must be looked at when: a calendar of ports' next starts and links' next arrivals.

Entry `2 p` is the head of the link behind port p, entry `2 p + 1` the port's own next start. A bucket
is one lookahead window wide; what lies beyond the wheel waits in one far list that is sorted in once
per revolution. The heads of the bucket lists are entries themselves, from `bucket_zero` on. Everything
here follows from the rest of the state and holds none of its own.
"""

from numpy import int64

from sim.jit import called, kernel
from sim.packet.layout import NEVER, WHEEL_BUCKETS

FAR = WHEEL_BUCKETS
MASK = WHEEL_BUCKETS - 1


@kernel
def unschedule(s, e):
    """Take entry `e` out of the calendar."""
    g = s.g[0]
    D = s.due[e]
    if D.bucket >= 0:
        s.due[D.prev].next = D.next
        if D.next >= 0:
            s.due[D.next].prev = D.prev
        if D.bucket == FAR:
            g.in_far -= 1
        else:
            g.in_wheel -= 1
        D.bucket = -1


@kernel
def schedule(s, e, at):
    """Put entry `e` into the bucket of time `at`; it must not be scheduled already."""
    g = s.g[0]
    D = s.due[e]
    D.at = at
    ahead = at - g.wheel_start
    b = g.cursor
    if ahead >= g.width:
        j = int64(1)
        if ahead >= 2 * g.width:
            j = ahead // g.width
        b = (g.cursor + j) & MASK if j < WHEEL_BUCKETS else int64(FAR)
    if b == FAR:
        g.in_far += 1
    else:
        g.in_wheel += 1
    head = g.bucket_zero + b
    D.bucket = b
    D.prev = head
    D.next = s.due[head].next
    if D.next >= 0:
        s.due[D.next].prev = e
    s.due[head].next = e


@kernel
def reschedule(s, e, at):
    """Move entry `e` to time `at` (NEVER: nowhere)."""
    D = s.due[e]
    if D.bucket >= 0:
        if D.at == at:
            return
        unschedule(s, e)
    if at < NEVER:
        schedule(s, e, at)


@called
def sort_in_far(s):
    """Bring what the wheel now reaches from the far list; returns the earliest time that list held."""
    g = s.g[0]
    earliest = NEVER
    e = int64(s.due[g.bucket_zero + FAR].next)
    while e >= 0:
        after = int64(s.due[e].next)
        at = s.due[e].at
        earliest = min(earliest, at)
        if at - g.wheel_start < g.width * WHEEL_BUCKETS:
            unschedule(s, e)
            schedule(s, e, at)
        e = after
    return earliest


@called
def next_due(s):
    """When anything is scheduled at the earliest; NEVER where nothing is."""
    g = s.g[0]
    b = int64(FAR)
    if g.in_wheel > 0:
        b = g.cursor
        while s.due[g.bucket_zero + b].next < 0:
            b = (b + 1) & MASK
    earliest = NEVER
    e = int64(s.due[g.bucket_zero + b].next)
    while e >= 0:
        earliest = min(earliest, s.due[e].at)
        e = int64(s.due[e].next)
    return earliest


@kernel
def turn_to_work(s, until):
    """Move the cursor to the first bucket with an entry; False where nothing is scheduled before `until`.

    The wheel never starts later than `until`, so that what enters then still finds a whole window.
    """
    g = s.g[0]
    while s.due[g.bucket_zero + g.cursor].next < 0:
        if g.in_wheel == 0:
            earliest = until
            e = int64(s.due[g.bucket_zero + FAR].next)
            while e >= 0:
                earliest = min(earliest, s.due[e].at)
                e = int64(s.due[e].next)
            g.wheel_start = max(g.wheel_start, earliest)
            g.cursor = 0
            sort_in_far(s)
            if earliest >= until:
                return False
            continue
        if g.wheel_start + g.width > until:
            return False
        g.cursor = (g.cursor + 1) & MASK
        g.wheel_start += g.width
        if g.cursor == 0 and g.in_far > 0:
            sort_in_far(s)
    return g.wheel_start < until


@called
def fit_width(s):
    """Make the window the shortest lookahead of any port in use; every entry is sorted in anew."""
    g = s.g[0]
    width = g.width
    for c in range(g.speed_classes):
        if s.events[c].speed_flows > 0:
            width = s.events[c].lookahead_ps
            break
    if width == g.width:
        return
    g.width = width
    count = int64(0)
    for b in range(WHEEL_BUCKETS + 1):
        e = int64(s.due[g.bucket_zero + b].next)
        while e >= 0:
            s.todo[count].entry = e
            count += 1
            e = int64(s.due[e].next)
        s.due[g.bucket_zero + b].next = -1
    g.cursor = 0
    g.in_wheel = 0
    g.in_far = 0
    for n in range(count):
        e = int64(s.todo[n].entry)
        s.due[e].bucket = -1
        schedule(s, e, s.due[e].at)
