"""Who comes first at one instant: the ancestry of events, by the times at which each became certain.

A transmission is caused by an event (an arrival, the end of the previous transmission, a timer) that
became certain at some earlier time, through an event that became certain earlier still, and so on. Of
two packets that arrive together and were sent together, the one whose ancestry is older comes first;
where the ancestries agree as far as they are kept, the order of entry of the flows at their roots decides,
then that of their own flows (on the picosecond clock data goes before ACKs first, which keeps a ring of
equal flows symmetric: each member's data meets the same ACKs). That is ns-3's order of insertion
expressed without a counter: it depends on nothing outside the partition.

`tie_depth` generations are kept beyond a packet's `sent` and `cause`: none on the picosecond clock, where
ties are rare, and REFERENCE_DEPTH on the 1 ns clock, where they decide single flows. The ancestry array
holds the current event's row, two rows per port (its transmitter's, its timer's), then one per packet.
"""

from sim.jit import kernel

REFERENCE_DEPTH = 48


@kernel
def recall(s, row):
    """The current event is the one whose ancestry stands in `row`."""
    depth = s.g[0].tie_depth
    for j in range(depth):
        s.ancestry[j] = s.ancestry[row * depth + j]


@kernel
def transmitter_row(p):
    """Row of port `p`'s last transmission."""
    return 1 + 2 * p


@kernel
def timer_row(p):
    """Row of NIC `p`'s pacing timer."""
    return 2 + 2 * p


@kernel
def packet_row(s, k):
    """Row of packet `k`'s last sending."""
    return s.g[0].ancestry_packets + k


@kernel
def record(s, row, cause):
    """Something follows from the current event, which became certain at `cause`: it goes to `row`."""
    depth = s.g[0].tie_depth
    if depth > 0:
        for j in range(1, depth - 1):
            s.ancestry[row * depth + j] = s.ancestry[j - 1]
        s.ancestry[row * depth] = cause
        s.ancestry[row * depth + depth - 1] = s.ancestry[depth - 1]


@kernel
def keep(s, row):
    """Put the current event's own ancestry into `row`."""
    depth = s.g[0].tie_depth
    for j in range(depth):
        s.ancestry[row * depth + j] = s.ancestry[j]


@kernel
def begin_ancestry(s, row, now, order):
    """The `order`-th flow enters: there is no older ancestry than `now`, and it is the root of what follows."""
    depth = s.g[0].tie_depth
    if depth > 0:
        for j in range(depth - 1):
            s.ancestry[row * depth + j] = now
        s.ancestry[row * depth + depth - 1] = order


@kernel
def comes_after(s, a, b):
    """Whether packet `a` is to be handled after packet `b`."""
    A = s.packet[a]
    B = s.packet[b]
    if A.arrival != B.arrival:
        return A.arrival > B.arrival
    if A.sent != B.sent:
        return A.sent > B.sent
    if A.cause != B.cause:
        return A.cause > B.cause
    depth = s.g[0].tie_depth
    row_a = packet_row(s, a) * depth
    row_b = packet_row(s, b) * depth
    for j in range(1, depth):
        if s.ancestry[row_a + j] != s.ancestry[row_b + j]:
            return s.ancestry[row_a + j] > s.ancestry[row_b + j]
    if A.flow != B.flow:
        if A.flow < 0 or B.flow < 0:
            return A.flow >= 0
        if depth == 0 and A.kind != B.kind:
            return A.kind > B.kind
        return s.flow[A.flow].order > s.flow[B.flow].order
    if A.kind != B.kind:
        return A.kind > B.kind
    if A.hop != B.hop:
        return A.hop > B.hop
    return A.send > B.send  # of one flow over two ways, after a change of path
