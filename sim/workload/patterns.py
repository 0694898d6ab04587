"""Plain traffic without a model: incast, ring, permutation, all-to-all, or flows one by one."""

import numpy as np

from sim.workload.blocks import FlowKind, Flows


def incast(senders: int, receiver: int, flow_bytes: int) -> Flows:
    """The first `senders` hosts other than the receiver send to it at once."""
    src = np.arange(senders)
    src += src >= receiver
    return Flows.of(src, receiver, flow_bytes, FlowKind.TRAFFIC, draw_key=np.arange(senders))


def ring(hosts: int, flow_bytes: int) -> Flows:
    """Every host sends to the next, the last to the first."""
    src = np.arange(hosts)
    return Flows.of(src, (src + 1) % hosts, flow_bytes, FlowKind.TRAFFIC, draw_key=src)


def permutation(hosts: int, flow_bytes: int, seed: int) -> Flows:
    """Every host sends to one other and receives from one other: one random cycle through all of them."""
    order = np.random.default_rng(seed).permutation(hosts)
    dst = np.empty(hosts, np.int64)
    dst[order] = np.roll(order, -1)
    return Flows.of(np.arange(hosts), dst, flow_bytes, FlowKind.TRAFFIC, draw_key=np.arange(hosts))


def all_to_all(hosts: int, flow_bytes: int) -> Flows:
    """Every host sends to every other; in position k of its list a host i has host i + k + 1."""
    src = np.repeat(np.arange(hosts), hosts - 1)
    step = np.tile(np.arange(hosts - 1), hosts)
    return Flows.of(src, (src + step + 1) % hosts, flow_bytes, FlowKind.TRAFFIC, draw_key=src * hosts + step)


def explicit(src, dst, n_bytes, start_ps) -> tuple[Flows, np.ndarray]:
    """Given flows sorted by start, and int64[F]: where each stood in the list."""
    order = np.argsort(start_ps, kind="stable")
    sorted_ps = np.asarray(start_ps)[order]
    draw_key = np.arange(len(order)) - np.searchsorted(sorted_ps, sorted_ps)  # what starts again later draws alike
    flows = Flows.of(
        np.asarray(src)[order], np.asarray(dst)[order], np.asarray(n_bytes)[order], FlowKind.TRAFFIC,
        draw_key=draw_key, start_ps=sorted_ps,
    )  # fmt: skip
    return flows, order
