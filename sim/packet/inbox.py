"""What has arrived for a port within the window, in the order in which it is to be handled."""

from numpy import int64

from sim.jit import called, kernel
from sim.packet.ties import comes_after


@kernel
def put_in_inbox(s, p, k):
    """Packet `k` has arrived for port `p`."""
    P = s.port[p]
    s.packet[k].next = -1
    if P.inbox_head < 0:
        P.inbox_head = k
    else:
        s.packet[P.inbox_tail].next = k
    P.inbox_tail = k


@kernel
def append_inbox(s, p, runs, count):
    """Move port `p`'s inbox to the end of the sort list, extending the list of ascending runs."""
    P = s.port[p]
    k = int64(P.inbox_head)
    while k >= 0:
        if count > 0 and comes_after(s, int64(s.sort[count - 1].order), k):
            s.sort[runs].run = count
            runs += 1
        s.sort[count].order = k
        count += 1
        k = int64(s.packet[k].next)
    P.inbox_head = -1
    P.inbox_tail = -1
    return runs, count


@called
def merge_runs(s, runs, count):
    """Natural merge sort of the first `count` of the sort list, whose ascending runs begin at 0 and the `runs` listed."""
    starts = runs + 1
    while starts > 1:
        s.sort[starts - 1].run = count
        merged = int64(0)
        low = int64(0)
        r = int64(0)
        while r < starts:
            mid = int64(s.sort[r].run)
            high = int64(s.sort[r + 1].run) if r + 1 < starts else mid
            a = low
            b = mid
            for j in range(low, high):
                take_a = b >= high
                if not take_a and a < mid:
                    take_a = comes_after(s, int64(s.sort[b].order), int64(s.sort[a].order))
                if take_a:
                    s.sort[j].other = s.sort[a].order
                    a += 1
                else:
                    s.sort[j].other = s.sort[b].order
                    b += 1
            s.sort[merged].run = high
            merged += 1
            low = high
            r += 2
        for j in range(count):
            s.sort[j].order = s.sort[j].other
        starts = merged
