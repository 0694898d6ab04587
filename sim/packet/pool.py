"""The packet pool: a free list threaded through the records."""

from sim.jit import kernel
from sim.packet.layout import NEVER


@kernel
def take_packet(s):
    g = s.g[0]
    k = g.free_packet
    g.free_packet = s.packet[k].next
    g.free_packets -= 1
    return k


@kernel
def free_packet(s, k):
    """Give a packet back; the flow it belonged to has one less in the network."""
    g = s.g[0]
    K = s.packet[k]
    if K.flow >= 0:
        s.flow[K.flow].in_flight -= 1
    K.next = g.free_packet
    g.free_packet = k
    g.free_packets += 1


@kernel
def push_cut(s, at):
    """Remember an instant at which a flow may be delivered or acknowledged (binary heap)."""
    g = s.g[0]
    heap = s.cuts
    i = g.cut_count
    g.cut_count += 1
    while i > 0:
        up = (i - 1) >> 1
        if heap[up] <= at:
            break
        heap[i] = heap[up]
        i = up
    heap[i] = at


@kernel
def pop_cut(s):
    g = s.g[0]
    heap = s.cuts
    g.cut_count -= 1
    n = g.cut_count
    at = heap[n]
    i = 0
    while True:
        low = 2 * i + 1
        if low >= n:
            break
        if low + 1 < n and heap[low + 1] < heap[low]:
            low += 1
        if at <= heap[low]:
            break
        heap[i] = heap[low]
        i = low
    heap[i] = at


@kernel
def next_cut(s):
    return s.cuts[0] if s.g[0].cut_count > 0 else NEVER
