"""The packet pool, a free list threaded through the records; and the heap of instants that end a window."""

from numpy import int64

from sim.jit import called, kernel
from sim.packet.layout import NEVER


@kernel
def take_packet(s):
    """A free packet record."""
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


@called
def push_cut(s, at):
    """Remember an instant at which a flow may be delivered or acknowledged (binary heap)."""
    g = s.g[0]
    i = g.cut_count
    g.cut_count += 1
    while i > 0:
        up = (i - 1) >> 1
        if s.sort[up].cut <= at:
            break
        s.sort[i].cut = s.sort[up].cut
        i = up
    s.sort[i].cut = at


@called
def pop_cut(s):
    """Forget the earliest instant."""
    g = s.g[0]
    g.cut_count -= 1
    n = g.cut_count
    at = s.sort[n].cut
    i = int64(0)
    while True:
        low = 2 * i + 1
        if low >= n:
            break
        if low + 1 < n and s.sort[low + 1].cut < s.sort[low].cut:
            low += 1
        if at <= s.sort[low].cut:
            break
        s.sort[i].cut = s.sort[low].cut
        i = low
    s.sort[i].cut = at


@kernel
def next_cut(s):
    """The earliest instant at which a flow may be delivered or acknowledged."""
    return s.sort[0].cut if s.g[0].cut_count > 0 else NEVER
