"""A collective among n members as a template: what is sent, and what waits for what, once for all groups that do the same.

An algorithm (one file each beside this one) makes a Template; `instantiate` puts it to work on many groups, again and again,
with array operations only.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.workload.blocks import FlowKind, Flows
from sim.workload.collect import Work


@dataclass(frozen=True)
class Template:
    """M messages among `n` members, in the order in which they are numbered.

    A message moves ceil(elements x part / parts) elements, `elements` being what one member contributes to, or has after,
    the collective (as NCCL counts: all of an all-reduce's buffer, the whole input of a reduce-scatter, the whole output of an
    all-gather, everything that a member has to send in an all-to-all, its own share included).
    """

    n: int
    src: np.ndarray  # int[M], member that sends
    dst: np.ndarray  # int[M], member that receives
    step: np.ndarray  # int[M]
    part: np.ndarray  # int[M]
    parts: np.ndarray  # int[M]
    own: np.ndarray  # bool[M]: carries the sender's own data, so that it waits until the sender is ready
    before: np.ndarray  # int[E]: message that must have arrived ...
    then: np.ndarray  # int[E]: ... before this one leaves
    last_member: np.ndarray  # int[Q]: a member is done ...
    last_message: np.ndarray  # int[Q]: ... when all these messages have arrived
    draw: np.ndarray | int = 0  # int[M], draw keys: messages that should see the same random marks have the same

    def __len__(self) -> int:
        return len(self.src)

    def message_bytes(self, elements, element_bytes: int) -> np.ndarray:
        """int64[..., M]: bytes of every message for int64[...] elements."""
        share = np.asarray(elements, np.int64)[..., None] * self.part
        return -(-share // self.parts) * element_bytes


@dataclass(frozen=True)
class Placed:
    """Messages of a template on `series` x `groups`: node ids int64[series, groups, M]."""

    template: Template
    node: np.ndarray

    def finish(self, work: Work, waits: np.ndarray) -> None:
        """Let node waits[series, groups, n] wait until its member has all that it gets."""
        work.done.add(self.node[:, :, self.template.last_message], np.asarray(waits)[:, :, self.template.last_member])

    def follow(self, work: Work) -> None:
        """Members begin a collective of the series when they are done with the one before (they share a stream)."""
        template = self.template
        first = np.flatnonzero(template.step == 0)
        ends, begins = np.nonzero(template.last_member[:, None] == template.src[first][None, :])
        work.done.add(self.node[:-1][:, :, template.last_message[ends]], self.node[1:][:, :, first[begins]])


def instantiate(
    work: Work, template: Template, members: np.ndarray, elements: np.ndarray, element_bytes: int, kind: FlowKind, *,
    ready: np.ndarray | None = None, names: Sequence[str], microbatch: np.ndarray | int = -1, sizes: np.ndarray | None = None,
) -> Placed:  # fmt: skip
    """Add a series of equal collectives on several groups to `work`.

    Parameters
    ----------
    members : int[groups, n], hosts of the members
    elements : int64[series]; ignored where `sizes` is given
    ready : node ids that broadcast to [series, groups, n]: what a member waits for before it sends its own data
    names : series x groups names of the collectives
    microbatch : int, or int[series]
    sizes : int64 that broadcasts to [series, groups, M], bytes of each message instead
    """
    groups = len(members)
    if sizes is None:
        sizes = template.message_bytes(elements, element_bytes)[:, None, :]
    series = len(sizes)
    shape = (series, groups, len(template))
    collective = work.name(names) + np.arange(series * groups).reshape(series, groups, 1)
    flows = Flows.of(
        np.broadcast_to(members[:, template.src], shape), members[:, template.dst], sizes, kind,
        draw_key=template.draw, collective=collective, step=template.step, microbatch=np.reshape(microbatch, (-1, 1, 1)),
    )  # fmt: skip
    node = work.add_flows(flows).reshape(shape)
    work.done.add(node[:, :, template.before], node[:, :, template.then])
    if ready is not None:
        own = np.flatnonzero(template.own)
        work.done.add(np.broadcast_to(ready, (series, groups, template.n))[:, :, template.src[own]], node[:, :, own])
    return Placed(template, node)
