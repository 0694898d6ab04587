"""A collective among n members as a template: what is sent, and what waits for what, once for all groups that do the same.

An algorithm (one file each beside this one) makes a Template; `instantiate` puts it to work on many groups, again and again,
with array operations only.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sim.workload.blocks import NO_COLLECTIVE, NO_MICROBATCH, FlowKind, Flows, TaskKind, Tasks
from sim.workload.collect import Counted, Tally, Work

NONE = np.zeros(0, np.int64)
FEW_LAST = 2  # edges from one collective to the next, per member, that cost less than a task to meet at
CONNECTION_BYTES = 4 << 20  # NCCL_BUFFSIZE's default: what a connection holds that is sent but not yet taken


@dataclass(frozen=True)
class Template:
    """M messages among `n` members, in the order in which they are numbered.

    A message moves ceil(elements x part / parts) elements, `elements` being what one member contributes to, or has after,
    the collective (as NCCL counts: all of an all-reduce's buffer, the whole input of a reduce-scatter, the whole output of an
    all-gather, everything that a member has to send in an all-to-all, its own share included).

    What it carries: the data are cut into blocks; it carries `count` of them, `block`, `block` + `stride`, ..., modulo `cycle` within
    their multiple of `cycle`. The receiver adds them to its own (`adds`) or takes them as they are. Block b belongs to member b % n
    in a reduce-scatter and an all-gather; in an all-to-all block dst x n + src goes from src to dst.

    A row from a member to itself is no message but a task: a meeting of messages that takes no time, or, where it carries blocks, a
    member's share of an in-node collective that the NVSwitch does (see `nvls`).
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
    block: np.ndarray | int = 0  # int[M], the first block carried
    count: np.ndarray | int = 1  # int[M]
    stride: np.ndarray | int = 1  # int[M]
    adds: np.ndarray | bool = False  # bool[M]
    cycle: int = 1
    earlier: np.ndarray = field(default_factory=lambda: NONE)  # int[T]: message that goes ...
    later: np.ndarray = field(default_factory=lambda: NONE)  # int[T]: ... right before this one on the same queue pair

    def __len__(self) -> int:
        return len(self.src)

    @cached_property
    def is_message(self) -> np.ndarray:
        """bool[M]: the rows that are messages."""
        return self.src != self.dst

    @cached_property
    def second_next(self) -> tuple[np.ndarray, np.ndarray]:
        """(message, the next but one on its queue pair)."""
        next_of = np.full(len(self), -1)
        next_of[self.earlier] = self.later
        after = next_of[self.later]
        return self.earlier[after >= 0], after[after >= 0]

    @cached_property
    def parting(self) -> np.ndarray:
        """int[]: the rows of every member's last step."""
        final = np.full(self.n, -1)
        np.maximum.at(final, self.src, self.step)
        return np.flatnonzero(self.step == final[self.src])

    @cached_property
    def opening(self) -> np.ndarray:
        """int[..]: the rows with which members begin: own data that wait for no message, or else a member's first own rows."""
        free = self.own.copy()
        free[self.then] = False
        first = np.full(self.n, np.iinfo(np.int64).max)
        np.minimum.at(first, self.src[self.own], self.step[self.own])
        begun = np.zeros(self.n, bool)
        begun[self.src[free]] = True
        return np.flatnonzero(free | (self.own & ~begun[self.src] & (self.step == first[self.src])))

    def carried(self) -> tuple[np.ndarray, np.ndarray]:
        """(row, block) int64[..]: every block that every row carries, row by row."""
        count = np.broadcast_to(self.count, len(self))
        row = np.repeat(np.arange(len(self)), count)
        place = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
        first, stride = np.broadcast_to(self.block, len(self))[row], np.broadcast_to(self.stride, len(self))[row]
        return row, first // self.cycle * self.cycle + (first + place * stride) % self.cycle

    def message_bytes(self, elements, element_bytes: int) -> np.ndarray:
        """int64[..., M]: bytes of every message for int64[...] elements."""
        share = np.asarray(elements, np.int64)[..., None] * self.part
        return -(-share // self.parts) * element_bytes


def send() -> Template:
    """One message from the first of two members to the second."""
    one, none = np.ones(1, np.int64), np.zeros(0, np.int64)
    return Template(
        n=2, src=one - 1, dst=one, step=one - 1, part=one, parts=one, own=one > 0, before=none, then=none, last_member=one, last_message=one - 1
    )


@dataclass(frozen=True)
class Placed:
    """Messages of a template on `series` x `groups`: node ids int64[series, groups, M]; None where they are only counted."""

    template: Template
    node: np.ndarray | None
    hosts: np.ndarray | None = None  # int[groups, n], of the members
    series: int = 1

    def finish(self, work: Work, waits: np.ndarray) -> None:
        """Let node waits[series, groups, n] wait until its member has all that it gets."""
        if self.node is not None:
            waits = np.broadcast_to(waits, (*self.node.shape[:2], self.template.n))
            work.done.add(self.node[:, :, self.template.last_message], waits[:, :, self.template.last_member])

    def sent_before(self, work: Work, waits: np.ndarray) -> None:
        """Let node waits[groups, n] wait until the last collective of the series has left its member: what comes next shares queue pairs."""
        if self.node is not None:
            rows = self.template.parting
            work.done.add(self.node[-1][:, rows], waits[:, self.template.src[rows]])

    def in_turn(self, work: Work, order: np.ndarray) -> None:
        """Every message waits for the same one of the collective before it, in the given order of the series: one queue pair."""
        if self.node is not None:
            work.done.add(self.node[order[:-1]], self.node[order[1:]])

    def follow(self, work: Work) -> None:
        """Members begin a collective of the series when they are done with the one before (they share a stream): when all has
        arrived that they get, and what they sent in their last step has arrived too (they share queue pairs)."""
        template, first, sent = self.template, self.template.opening, self.template.parting
        begins = template.src[first]
        ends, after = joined(template.last_member, begins, template.n)
        if len(ends) <= FEW_LAST * template.n:  # no place to meet is needed
            if self.node is not None:
                work.done.add(self.node[:-1][:, :, template.last_message[ends]], self.node[1:][:, :, first[after]])
                before, after = joined(template.src[sent], begins, template.n)
                work.done.add(self.node[:-1][:, :, sent[before]], self.node[1:][:, :, first[after]])
            return
        wait = tasks_on(work, np.broadcast_to(self.hosts, (self.series - 1, *self.hosts.shape)), TaskKind.WAIT)
        if self.node is not None:
            Placed(template, self.node[:-1]).finish(work, wait)
            work.done.add(self.node[:-1][:, :, sent], wait[:, :, template.src[sent]])
            work.done.add(wait[:, :, begins], self.node[1:][:, :, first])


def joined(left: np.ndarray, right: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions (i, j) of all pairs with left[i] == right[j], values below n."""
    order = np.argsort(left, kind="stable")
    first = np.concatenate(([0], np.cumsum(np.bincount(left, minlength=n))))
    count = first[right + 1] - first[right]
    j = np.repeat(np.arange(len(right)), count)
    place = np.arange(len(j)) - np.repeat(np.cumsum(count) - count, count)
    return order[first[right[j]] + place], j


def instantiate(
    work: Work, template: Template, members: np.ndarray, elements: np.ndarray, element_bytes: int, kind: FlowKind, *,
    ready: np.ndarray | None = None, names: Callable[[int, int], str] | None = None, microbatch: np.ndarray | int = -1,
    sizes: np.ndarray | None = None, draw: int | None = None, switch_ps: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> Placed:  # fmt: skip
    """Add a series of equal collectives on several groups to `work`.

    Parameters
    ----------
    members : int[groups, n], hosts of the members
    elements : int64[series]; ignored where `sizes` is given
    ready : node ids that broadcast to [series, groups, n]: what a member waits for before it sends its own data
    names : name of a collective from its place in the series and its group; None: messages of no collective
    microbatch : int, or int[series]
    sizes : int64[series, groups or 1, M], bytes of each message instead
    draw : draw key of all messages instead of the template's
    switch_ps : how long a member's share of so many bytes takes in the NVSwitch, added up or not, for templates that use it
    """
    groups = len(members)
    if sizes is None:
        sizes = template.message_bytes(elements, element_bytes)[:, None, :]
    series = len(sizes)
    shape = (series, groups, len(template))
    src, dst = members[:, template.src], members[:, template.dst]
    sent = slice(None) if template.is_message.all() else np.flatnonzero(template.is_message)
    if isinstance(work, Tally):
        work.n_flows += series * groups * int(template.is_message.sum())
        work.n_tasks += series * groups * int((~template.is_message).sum())
        work.counted.append(Counted(kind, src[:, sent], dst[:, sent], sizes[..., sent]))
        return Placed(template, None, members, series)
    collective = NO_COLLECTIVE
    if names is not None:
        first = work.name([names(index, group) for index in range(series) for group in range(groups)])
        collective = first + np.arange(series * groups).reshape(series, groups, 1)
    flows = Flows.of(
        np.broadcast_to(src, shape)[:, :, sent], dst[:, sent], sizes[..., sent], kind,
        draw_key=np.broadcast_to(template.draw, len(template))[sent] if draw is None else draw,
        collective=collective, step=template.step[sent], microbatch=np.reshape(microbatch, (-1, 1, 1)),
    )  # fmt: skip
    node = np.empty(shape, np.int64)
    node[:, :, sent] = work.add_flows(flows).reshape(series, groups, -1)
    if isinstance(sent, np.ndarray):
        _add_tasks(work, template, members, sizes, switch_ps, node)
    work.done.add(node[:, :, template.before], node[:, :, template.then])
    _in_turn(work, template, node, sizes)
    if ready is not None:
        own = np.flatnonzero(template.own)
        work.done.add(np.broadcast_to(ready, (series, groups, template.n))[:, :, template.src[own]], node[:, :, own])
    return Placed(template, node, members, series)


def _in_turn(work: Work, template: Template, node: np.ndarray, sizes: np.ndarray) -> None:
    """Messages on one queue pair: one at a time, or two where both fit the buffers of a connection."""
    if not len(template.earlier):
        return
    small = (sizes <= CONNECTION_BYTES).all(axis=(1, 2))
    for series, (earlier, later) in ((~small, (template.earlier, template.later)), (small, template.second_next)):
        mine = node[series]
        work.done.add(mine[:, :, earlier], mine[:, :, later])


def _add_tasks(work: Work, template: Template, members: np.ndarray, sizes: np.ndarray, switch_ps, node: np.ndarray) -> None:
    count = np.broadcast_to(template.count, len(template))
    for rows, kind in ((~template.is_message & (count == 0), TaskKind.WAIT), (~template.is_message & (count > 0), TaskKind.IN_SWITCH)):
        at = np.flatnonzero(rows)
        hosts = np.broadcast_to(members[:, template.src[at]], (*node.shape[:2], len(at)))
        duration = switch_ps(sizes[..., at], np.broadcast_to(template.adds, len(template))[at]) if len(at) and kind == TaskKind.IN_SWITCH else 0
        node[:, :, at] = tasks_on(work, hosts, kind, duration)


def tasks_on(work: Work, hosts: np.ndarray, kind: TaskKind, duration_ps=0, iteration: int = 0) -> np.ndarray:
    """int64[as hosts]: node ids of a task on each host, of no layer and no micro-batch."""
    size, flat = hosts.size, hosts.ravel().astype(np.int32)
    duration_ps = np.broadcast_to(duration_ps, hosts.shape).ravel().astype(np.int64)
    none = np.full(size, NO_MICROBATCH, np.int16)
    tasks = Tasks(flat, np.full(size, kind, np.int8), duration_ps, np.zeros(size, np.int64), none, none, iteration=np.full(size, iteration, np.int16))
    return work.add_tasks(tasks).reshape(hosts.shape)
