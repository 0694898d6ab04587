"""Who must be looked at when: a calendar of ports' next starts and links' next arrivals.

Entry `2 p` is the head of the link behind port p, entry `2 p + 1` the port's own next start. A bucket
is one lookahead window wide; what lies beyond the wheel waits in one far list that is sorted in once
per revolution. Everything here follows from the rest of the state and holds none of its own.
"""

from sim.jit import kernel
from sim.packet.layout import NEVER, WHEEL_BUCKETS

FAR = WHEEL_BUCKETS
MASK = WHEEL_BUCKETS - 1


@kernel
def unschedule(s, e):
    D = s.due[e]
    if D.bucket < 0:
        return
    g = s.g[0]
    if D.prev >= 0:
        s.due[D.prev].next = D.next
    else:
        s.buckets[D.bucket] = D.next
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
    if ahead < g.width:
        b = g.cursor
    elif ahead < 2 * g.width:
        b = (g.cursor + 1) & MASK
    else:
        j = ahead // g.width
        b = (g.cursor + j) & MASK if j < WHEEL_BUCKETS else FAR
    if b == FAR:
        g.in_far += 1
    else:
        g.in_wheel += 1
    head = s.buckets[b]
    D.bucket = b
    D.prev = -1
    D.next = head
    if head >= 0:
        s.due[head].prev = e
    s.buckets[b] = e


@kernel
def reschedule(s, e, at):
    D = s.due[e]
    if D.bucket >= 0:
        if D.at == at:
            return
        unschedule(s, e)
    if at < NEVER:
        schedule(s, e, at)


@kernel
def sort_in_far(s):
    e = s.buckets[FAR]
    while e >= 0:
        after = s.due[e].next
        at = s.due[e].at
        if at - s.g[0].wheel_start < s.g[0].width * WHEEL_BUCKETS:
            unschedule(s, e)
            schedule(s, e, at)
        e = after


@kernel
def earliest_far(s):
    earliest = NEVER
    e = s.buckets[FAR]
    while e >= 0:
        earliest = min(earliest, s.due[e].at)
        e = s.due[e].next
    return earliest


@kernel
def turn_to_work(s, until):
    """Move the cursor to the first bucket with an entry; False where nothing is scheduled before `until`.

    The wheel never starts later than `until`, so that what enters then still finds a whole window.
    """
    g = s.g[0]
    while s.buckets[g.cursor] < 0:
        if g.in_wheel == 0:
            earliest = earliest_far(s) if g.in_far > 0 else until
            g.wheel_start = max(g.wheel_start, min(earliest, until))
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


@kernel
def set_width(s, width):
    """Change the window: every entry is sorted in anew."""
    g = s.g[0]
    g.width = width
    count = 0
    for b in range(WHEEL_BUCKETS + 1):
        e = s.buckets[b]
        while e >= 0:
            s.links_due[count] = e
            count += 1
            e = s.due[e].next
        s.buckets[b] = -1
    g.cursor = 0
    g.in_wheel = 0
    g.in_far = 0
    for n in range(count):
        e = s.links_due[n]
        s.due[e].bucket = -1
        schedule(s, e, s.due[e].at)
