"""Collectives in two stages, in the servers over NVLink and between servers on the rails (Jia et al., arXiv 1807.11205, section 3.3).

Members are numbered server by server, `local` in each. Those at the same place of every server form a rail, so that nothing
changes rails between servers. An all-reduce adds up in the server, then all-reduces 1/local of the data on each rail, then
gathers in the server; rings in all stages. An all-to-all hands what is for a rail to the member of the own server on that
rail, which sends it on, all for one receiver in one message (PXN of NCCL 2.12, message aggregation).
"""

import numpy as np

from sim.workload.collective import ring
from sim.workload.collective.compose import in_turn, on_groups
from sim.workload.collective.template import Template


def all_reduce(n: int, local: int) -> Template:
    """Reduce-scatter in the server, all-reduce on the rail, all-gather in the server."""
    return in_turn(_in_server(ring.reduce_scatter(local), n), on_rails(ring.all_reduce(n // local), n), _in_server(ring.all_gather(local), n))


def reduce_scatter(n: int, local: int) -> Template:
    """In the server, then on the rail."""
    return in_turn(_in_server(ring.reduce_scatter(local), n), on_rails(ring.reduce_scatter(n // local), n))


def all_gather(n: int, local: int) -> Template:
    """On the rail, then in the server."""
    return in_turn(on_rails(ring.all_gather(n // local), n), _in_server(ring.all_gather(local), n))


def _in_server(template: Template, n: int) -> Template:
    nodes = n // template.n
    return on_groups(template, np.arange(n).reshape(nodes, -1), n, count=nodes, stride=template.n)


def on_rails(template: Template, n: int) -> Template:
    """`template` on every rail, each with its own 1/local of the data."""
    local = n // template.n
    return on_groups(template, np.arange(n).reshape(-1, local).T, n, first=np.arange(local), scale=local, share=local)


def all_to_all(n: int, local: int) -> Template:
    """One message to each member of the own server, with all that is for its rail; then one to each other server on the rail."""
    nodes, member = n // local, np.arange(n)
    node, place = member // local, member % local
    hop, far = np.arange(local - 1)[:, None], np.arange(nodes - 1)[:, None]
    to = node * local + (place + hop + 1) % local
    across = (node + far + 1) % nodes * local + place
    m = to.size
    row = np.arange(m).reshape(to.shape)
    arriving = row[hop, np.broadcast_to(_sender(node, place, hop, local), to.shape)] if m else row
    sent = m + np.arange(across.size).reshape(across.shape)
    return Template(
        n=n, src=np.r_[np.tile(member, local - 1), np.tile(member, nodes - 1)], dst=np.r_[to.ravel(), across.ravel()],
        step=np.r_[np.repeat(hop, n), np.repeat(far, n) + local - 1], part=np.r_[np.full(m, nodes), np.full(sent.size, local)],
        parts=np.full(m + sent.size, n), own=np.ones(m + sent.size, bool),
        before=np.repeat(arriving[None], nodes - 1, axis=0).ravel(), then=np.repeat(sent[:, None], local - 1, axis=1).ravel(),
        last_member=np.r_[to.ravel(), across.ravel()], last_message=np.arange(m + sent.size),
        draw=np.r_[np.repeat(hop, n), np.repeat(far, n)],
        block=np.r_[(to % local * n + member).ravel(), (across * n + node * local).ravel()],
        count=np.r_[np.full(m, nodes), np.full(sent.size, local)],
        stride=np.r_[np.full(m, local * n), np.ones(sent.size, np.int64)], cycle=n * n,
    )  # fmt: skip


def _sender(node: np.ndarray, place: np.ndarray, hop: np.ndarray, local: int) -> np.ndarray:
    """Who sends to a member of the own server in position `hop` of its list."""
    return node * local + (place - hop - 1) % local
