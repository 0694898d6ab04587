"""All-to-all over NVLink first, receiver by receiver: PXN of NCCL 2.12 (NVIDIA, "Doubling all2all performance with NCCL 2.12").

What is for a GPU of another server on another rail crosses NVLink to the GPU of the own server on that rail. There the messages
of the whole server for one receiver go out as one, as soon as they are together, so that the first leaves before all have
arrived; `hierarchical` hands over all that is for a rail at once.
"""

import numpy as np

from sim.workload.collective.template import Template


def all_to_all(n: int, local: int) -> Template:
    """(local - 1) x (nodes - 1) small messages of a member over NVLink to its peers, then nodes - 1 large ones on its rail."""
    nodes, member = n // local, np.arange(n)
    node, place = member // local, member % local
    far, hop = np.arange(nodes - 1)[:, None, None], np.arange(local - 1)[None, :, None]
    rail = (place + hop + 1) % local
    peer = node * local + rail
    shape = (nodes - 1, local - 1, n)
    relayed = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    receiver = np.broadcast_to((node + far + 1) % nodes * local + rail, shape)
    first_hop, m = np.broadcast_to(peer, shape), relayed.size

    near_rows = np.arange((local - 1) * n).reshape(local - 1, n) + m
    sent = np.arange((nodes - 1) * n).reshape(nodes - 1, n) + m + near_rows.size
    across = np.broadcast_to((node + far[:, :, 0] + 1) % nodes * local + place, sent.shape)
    carries = relayed[far, hop, node * local + (place - hop - 1) % local] if m else relayed

    step = np.broadcast_to(far * (local - 1) + hop, shape)
    near_step = np.broadcast_to(hop[0] + (nodes - 1) * (local - 1), near_rows.shape)
    sent_step = np.broadcast_to(far[:, :, 0] + nodes * (local - 1), sent.shape)
    near = np.broadcast_to(peer[0], near_rows.shape)
    last = np.r_[near_rows.ravel(), sent.ravel()]
    src = np.r_[np.broadcast_to(member, shape).ravel(), np.tile(member, local - 1), np.tile(member, nodes - 1)]
    return Template(
        n=n, src=src, dst=np.r_[first_hop.ravel(), near.ravel(), across.ravel()],
        step=np.r_[step.ravel(), near_step.ravel(), sent_step.ravel()],
        part=np.r_[np.ones(m + near_rows.size, np.int64), np.full(sent.size, local)], parts=np.full(len(src), n), own=np.ones(len(src), bool),
        before=carries.ravel(), then=np.broadcast_to(sent[:, None, :], shape).ravel(),
        last_member=np.r_[near.ravel(), across.ravel()], last_message=last,
        draw=np.r_[step.ravel(), near_step.ravel(), np.broadcast_to(far[:, :, 0], sent.shape).ravel()],
        block=np.r_[(receiver * n + member).ravel(), (near * n + member).ravel(), (across * n + node * local).ravel()],
        count=np.r_[np.ones(m + near_rows.size, np.int64), np.full(sent.size, local)], cycle=n * n,
    )  # fmt: skip
