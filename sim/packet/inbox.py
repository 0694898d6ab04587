"""What has arrived for a port within the window, in the order in which it is to be handled."""

from sim.jit import kernel
from sim.packet.ties import comes_after


@kernel
def put_in_inbox(s, p, k):
    P = s.port[p]
    s.packet[k].next = -1
    if P.inbox_head < 0:
        P.inbox_head = k
    else:
        s.packet[P.inbox_tail].next = k
    P.inbox_tail = k


@kernel
def merge_runs(s, runs, count):
    """Natural merge sort of `order[:count]`, whose `runs` ascending runs begin at `s.runs[:runs]`."""
    while runs > 1:
        s.runs[runs] = count
        merged = 0
        for r in range(0, runs, 2):
            low = s.runs[r]
            mid = s.runs[r + 1]
            if r + 1 == runs:
                for j in range(low, count):
                    s.order2[j] = s.order[j]
            else:
                high = s.runs[r + 2]
                a = low
                b = mid
                for j in range(low, high):
                    if b >= high or (a < mid and not comes_after(s, s.order[a], s.order[b])):
                        s.order2[j] = s.order[a]
                        a += 1
                    else:
                        s.order2[j] = s.order[b]
                        b += 1
            s.runs[merged] = low
            merged += 1
        for j in range(count):
            s.order[j] = s.order2[j]
        runs = merged


@kernel
def append_inbox(s, p, runs, count):
    """Move port `p`'s inbox to the end of `s.order`, extending the list of ascending runs."""
    P = s.port[p]
    k = P.inbox_head
    while k >= 0:
        if count == 0 or comes_after(s, s.order[count - 1], k):
            s.runs[runs] = count
            runs += 1
        s.order[count] = k
        count += 1
        k = s.packet[k].next
    P.inbox_head = -1
    P.inbox_tail = -1
    return runs, count


@kernel
def sorted_inbox(s, p):
    """Fill `s.order` with port `p`'s arrivals in order and return how many there are."""
    runs, count = append_inbox(s, p, 0, 0)
    merge_runs(s, runs, count)
    return count
