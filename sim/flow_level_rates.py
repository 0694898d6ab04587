"""Max-min fair rates of fluid flows (Bertsekas and Gallager, Data Networks, 2nd ed., section 6.5.2: progressive filling).

Flow f takes `weight` times its rate of every port it crosses: 1 of those of its data, the share of its ACKs of those of
its ACKs. All rates of a set of flows that share ports rise together until a port is full; the flows of that port
stay there, the others rise on. When flows come or go, only what is connected with them over shared ports is filled
anew. Times are int64 ps, rates bit/s, volumes bits.
"""

from collections import namedtuple

import numpy as np
from numpy import int64

from sim.jit import entry, kernel
from sim.packet.layout import NEVER
from sim.packet.state import records
from sim.rows import rows_of

Fluid = namedtuple("Fluid", "g port flow hop ports flows active finish bins")
Fluid.__doc__ = """A row of totals; rows of ports, flows and hops; scratch lists; flows under way and when each is served; bits per bin and port."""

G = np.dtype([("active", "i8"), ("stamp", "i8"), ("n_ports", "i8"), ("n_flows", "i8"), ("bin_shift", "i8"), ("bins", "i8")])
PORT = np.dtype(
    [
        ("capacity", "f8"), ("rate", "f8"), ("since", "i8"), ("first", "i8"),
        ("left", "f8"), ("load", "f8"), ("rising", "i8"), ("seen", "i8"),
    ]
)  # fmt: skip
FLOW = np.dtype(
    [
        ("rate", "f8"), ("bits", "f8"), ("since", "i8"), ("slot", "i8"),
        ("hops_from", "i8"), ("hops_to", "i8"), ("level", "f8"), ("seen", "i8"),
    ]
)  # fmt: skip
HOP = np.dtype([("port", "i8"), ("flow", "i8"), ("before", "i8"), ("after", "i8"), ("weight", "f8")])

SAME_LEVEL = 1 + 1e-9  # ports whose levels differ by less than rounding fill up together
SAME_RATE = 1e-12  # a rate that changes by less has not changed
FAR_PS, FAR_BPS = 4e18, 1e30


def make_fluid(flows: int, capacity_bps: np.ndarray, bins: int, bin_shift: int) -> Fluid:
    """Memory for `flows` flows over ports of that capacity; nothing is under way."""
    g, port, flow = records(1, G), records(len(capacity_bps), PORT), records(max(1, flows), FLOW)
    g["bin_shift"], g["bins"] = bin_shift, bins
    port["capacity"], port["first"] = capacity_bps, -1
    return Fluid(
        g, port, flow, records(1, HOP), np.zeros(port.size, np.int64), np.zeros(flow.size, np.int64),
        np.zeros(flow.size, np.int64), np.full(flow.size, NEVER), np.zeros(port.size * bins),
    )  # fmt: skip


def with_paths(fluid: Fluid, table, ack_share: np.ndarray) -> Fluid:
    """The same flows on the paths of `table`; `ack_share` is the bits of ACKs per bit of data."""
    data, ack = np.diff(table.data_ptr), np.diff(table.ack_ptr)
    first = np.concatenate(([0], np.cumsum(data + ack))).astype(np.int64)
    hop = records(max(1, int(first[-1])), HOP)
    flows = np.arange(len(data))
    for ports, ptr, lengths, begin, weight in (
        (table.data_ports, table.data_ptr, data, first[:-1], np.ones(len(data))),
        (table.ack_ports, table.ack_ptr, ack, first[:-1] + data, ack_share),
    ):
        at = np.repeat(begin - ptr[:-1], lengths) + np.arange(ptr[-1])
        hop["port"][at], hop["flow"][at], hop["weight"][at] = ports[: ptr[-1]], np.repeat(flows, lengths), np.repeat(weight, lengths)
    fluid.flow["hops_from"][: len(data)], fluid.flow["hops_to"][: len(data)] = first[:-1], first[1:]
    return fluid._replace(hop=hop)


@kernel
def _book(d, p, now):
    """Port `p` has sent at its rate until now."""
    g = d.g[0]
    P = d.port[p]
    t = int64(P.since)
    while P.rate > 0 and t < now:
        b = t >> g.bin_shift
        until = (b + 1) << g.bin_shift
        if until > now:
            until = now
        d.bins[p * g.bins + b] += P.rate * (until - t) * 1e-12
        t = until
    P.since = now


@kernel
def _enter(d, f):
    """Flow `f` is under way; its rate comes with the filling."""
    g = d.g[0]
    F = d.flow[f]
    F.slot = g.active
    d.active[g.active] = f
    d.finish[g.active] = NEVER
    g.active += 1
    for e in range(int64(F.hops_from), int64(F.hops_to)):
        H = d.hop[e]
        P = d.port[H.port]
        H.before = -1
        H.after = P.first
        if P.first >= 0:
            d.hop[P.first].before = e
        P.first = e


@kernel
def _leave(d, f):
    """Flow `f` is no longer under way."""
    g = d.g[0]
    F = d.flow[f]
    g.active -= 1
    last = int64(d.active[g.active])
    d.active[F.slot] = last
    d.finish[F.slot] = d.finish[g.active]
    d.flow[last].slot = F.slot
    F.slot = -1
    for e in range(int64(F.hops_from), int64(F.hops_to)):
        H = d.hop[e]
        if H.before >= 0:
            d.hop[H.before].after = H.after
        else:
            d.port[H.port].first = H.after
        if H.after >= 0:
            d.hop[H.after].before = H.before


@kernel
def _gather(d, now):
    """Every flow and port connected with the flows listed so far; the ports are emptied."""
    g = d.g[0]
    i = int64(0)
    j = int64(0)
    while i < g.n_ports or j < g.n_flows:
        if j < g.n_flows:
            F = d.flow[d.flows[j]]
            j += 1
            F.level = -1.0
            for e in range(int64(F.hops_from), int64(F.hops_to)):
                H = d.hop[e]
                P = d.port[H.port]
                if P.seen != g.stamp:
                    P.seen = g.stamp
                    d.ports[g.n_ports] = H.port
                    g.n_ports += 1
                    _book(d, int64(H.port), now)
                    P.left = P.capacity
                    P.load = 0.0
                    P.rising = 0
                if F.slot >= 0:
                    P.load += H.weight
                    P.rising += 1
        else:
            e = int64(d.port[d.ports[i]].first)
            i += 1
            while e >= 0:
                F = d.flow[d.hop[e].flow]
                if F.seen != g.stamp:
                    F.seen = g.stamp
                    d.flows[g.n_flows] = d.hop[e].flow
                    g.n_flows += 1
                e = int64(d.hop[e].after)


@kernel
def _fill(d):
    """Raise all levels together until every flow is stopped by a full port."""
    g = d.g[0]
    while g.n_ports > 0:
        n = int64(0)
        lowest = FAR_BPS
        for i in range(int64(0), int64(g.n_ports)):
            p = int64(d.ports[i])
            P = d.port[p]
            if P.rising > 0:
                d.ports[n] = p
                n += 1
                level = P.left / P.load
                if level < lowest:
                    lowest = level
            else:
                P.rate = P.capacity - P.left
        g.n_ports = n
        if lowest < 0:
            lowest = 0.0
        for i in range(int64(0), n):
            P = d.port[d.ports[i]]
            if P.rising == 0 or P.left / P.load > lowest * SAME_LEVEL:
                continue
            e = int64(P.first)
            while e >= 0:
                F = d.flow[d.hop[e].flow]
                e = int64(d.hop[e].after)
                if F.level >= 0:
                    continue
                F.level = lowest
                for j in range(int64(F.hops_from), int64(F.hops_to)):
                    H = d.hop[j]
                    d.port[H.port].left -= H.weight * lowest
                    d.port[H.port].load -= H.weight
                    d.port[H.port].rising -= 1


@entry
def change(d, gone, come, now):
    """Flows leave and enter at `now`: new rates for all connected with them."""
    d = rows_of(d)
    g = d.g[0]
    g.stamp += 1
    g.n_ports = 0
    g.n_flows = gone.size + come.size
    for i in range(int64(0), int64(g.n_flows)):
        f = int64(gone[i] if i < gone.size else come[i - gone.size])
        d.flows[i] = f
        d.flow[f].seen = g.stamp
        if i < gone.size:
            _leave(d, f)
        else:
            _enter(d, f)
    _gather(d, now)
    _fill(d)
    for i in range(int64(0), int64(g.n_flows)):
        F = d.flow[d.flows[i]]
        rate = F.level if F.slot >= 0 else 0.0
        if F.slot < 0 or F.rate == 0 or abs(rate / F.rate - 1) > SAME_RATE:
            F.bits -= F.rate * (now - F.since) * 1e-12
            if F.bits < 0:
                F.bits = 0.0
            F.since = now
            F.rate = rate
            took = F.bits * 1e12 / rate if rate > 0 else FAR_PS
            if F.slot >= 0:
                d.finish[F.slot] = now + int64(took + 0.5) if took < FAR_PS - now else NEVER
