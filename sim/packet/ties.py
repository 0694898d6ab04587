"""Who comes first at one instant: the ancestry of events, by the times at which each became certain.

A transmission is caused by an event (an arrival, the end of the previous transmission, a timer) that
became certain at some earlier time, through an event that became certain earlier still, and so on. Of
two packets that arrive together and were sent together, the one whose ancestry is older comes first;
where the ancestries agree, the order of entry of their flows decides. That is ns-3's order of insertion
expressed without a counter: it depends on nothing outside the partition.

`depth` generations are kept beyond a packet's `sent` and `cause`: none on the picosecond clock, where
ties are rare, and `REFERENCE_DEPTH` on the 1 ns clock, where they decide single flows.
"""

from sim.jit import kernel

REFERENCE_DEPTH = 16


@kernel
def ancestry_of_packet(s, k):
    """Make the ancestry of packet `k`'s sending the current one."""
    depth = s.g[0].tie_depth
    for j in range(depth):
        s.ancestry[j] = s.packet_ancestry[k * depth + j]


@kernel
def ancestry_of_port(s, p):
    """The current event is the end of port `p`'s transmission."""
    depth = s.g[0].tie_depth
    for j in range(depth):
        s.ancestry[j] = s.port_ancestry[2 * p * depth + j]


@kernel
def ancestry_of_timer(s, p):
    """The current event is the timer of NIC `p`."""
    depth = s.g[0].tie_depth
    for j in range(depth):
        s.ancestry[j] = s.port_ancestry[(2 * p + 1) * depth + j]


@kernel
def record_sending(s, p, k, cause):
    """Packet `k` leaves port `p` because of the current event, which became certain at `cause`."""
    depth = s.g[0].tie_depth
    if depth > 0:
        s.packet_ancestry[k * depth] = cause
        s.port_ancestry[2 * p * depth] = cause
        for j in range(1, depth):
            s.packet_ancestry[k * depth + j] = s.ancestry[j - 1]
            s.port_ancestry[2 * p * depth + j] = s.ancestry[j - 1]


@kernel
def record_timer(s, p, cause):
    """NIC `p`'s timer is set because of the current event."""
    depth = s.g[0].tie_depth
    if depth > 0:
        at = (2 * p + 1) * depth
        s.port_ancestry[at] = cause
        for j in range(1, depth):
            s.port_ancestry[at + j] = s.ancestry[j - 1]


@kernel
def start_ancestry(s, p, now):
    """A flow enters at NIC `p`: its timer has no older ancestry than `now`."""
    depth = s.g[0].tie_depth
    for j in range(depth):
        s.port_ancestry[(2 * p + 1) * depth + j] = now


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
    for j in range(1, depth):
        older_a = s.packet_ancestry[a * depth + j]
        older_b = s.packet_ancestry[b * depth + j]
        if older_a != older_b:
            return older_a > older_b
    if A.flow != B.flow:
        if A.flow < 0 or B.flow < 0:
            return A.flow >= 0
        return s.flow[A.flow].order > s.flow[B.flow].order
    if A.kind != B.kind:
        return A.kind > B.kind
    return A.hop > B.hop
