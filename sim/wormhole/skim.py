"""Read what a kept state's flows and ports are (paths and port classes), walking over what changes from moment to moment.

The words are those that `canonical.put_state` writes and `load.load_state` reads.
"""

from numpy import int64

from sim.jit import called, entry
from sim.packet.layout import DATA
from sim.rows import bundle_of
from sim.wormhole.canonical import ZERO
from sim.wormhole.load import LOW


@called
def after_telemetry(r, at, rows):
    """Where reading goes on after that many telemetry rows."""
    for _ in range(rows):
        at += 1 if r.arena[at] == ZERO else 3
    return at


@called
def after_path(r, at, to):
    """Copy a path, its end mark included; returns where reading and writing go on."""
    while r.arena[at] >= 0:
        r.out[to] = r.arena[at]
        at += 1
        to += 1
    r.out[to] = -1
    return at + 1, to + 1


@called
def after_packets(r, at, flows_at, on_wire, at_switch):
    """Where reading goes on after a list of packets; `hops` of each flow stand in `out` from `flows_at` on."""
    F = r.form[0]
    while r.arena[at] >= 0:
        x = r.arena[at]
        local = (x & LOW) - 1
        at += 3 + F.has_loss + F.timed
        if on_wire:
            at += 3
        elif at_switch and local >= 0:
            at += 1
        if F.telemetry and local >= 0:
            rows = r.out[flows_at + local] - 1
            if ((x >> 24) & 15) == DATA:
                rows = min(rows, max(int64(0), ((x >> 28) & 255) - (0 if on_wire else 1)))
            at = after_telemetry(r, at, rows) + rows
    return at + 1


@called
def after_port(r, at, flows_at):
    """Where reading goes on after a port."""
    F = r.form[0]
    at_switch = r.is_nic[r.arena[at]] == 0
    at += 7 + F.tied
    if not at_switch:
        at += 3
        while r.arena[at] > 0:
            at += 1
        at += 2 + F.has_loss
    at = after_packets(r, at, flows_at, False, at_switch)
    at = after_packets(r, at, flows_at, False, at_switch)
    return after_packets(r, at, flows_at, True, at_switch)


@called
def skim_state(r, at, to):
    """Write one state's pattern to `out`; returns where the pattern ends, the bytes left end, and where reading ended."""
    F = r.form[0]
    begin = to
    n = r.arena[at] & 0xFFFFFFFF
    ports = r.arena[at] >> 32
    at += 1
    used = int64(-1)
    r.out[to] = n
    to += 2
    flows_at = to + r.scratch[0]  # far enough behind what is written before it is read
    left_at = flows_at + n
    for j in range(n):
        first = to
        at, to = after_path(r, at, to)
        r.out[flows_at + j] = to - first - 1
        at, to = after_path(r, at, to)
        for m in range(first, to):
            used = max(used, r.out[m])
        r.out[left_at + j] = r.arena[at + F.bytes_column]
        at += F.columns
        if F.telemetry:
            at = after_telemetry(r, at, r.out[flows_at + j] - 1)
    used += 1
    r.out[begin + 1] = used
    for j in range(ports):
        if j < used:
            r.out[to] = r.arena[at]
            to += 1
        at = after_port(r, at, flows_at)
    for j in range(n):
        r.out[to + j] = r.out[left_at + j]
    return to, to + n, at


@entry
def skim(r):
    """Read every state that `r.ask` lists, the patterns one behind the other into `r.out`."""
    _skim(bundle_of(r))


@called
def _skim(r):
    to = int64(0)
    for j in range(r.scratch[1]):
        A = r.ask[j]
        A.begin = to
        r.scratch[0] = A.words
        A.end, to, A.read_to = skim_state(r, A.at, to)
