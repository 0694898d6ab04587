"""The stream of tasks that every rank of a pipeline stage works through in one iteration."""

from dataclasses import dataclass

import numpy as np

from sim.workload.blocks import NO_MICROBATCH, FlowKind, TaskKind, Tasks
from sim.workload.passes import Maker, Pass
from sim.workload.schedule.choose import order_of
from sim.workload.schedule.order import Op
from sim.workload.strategy import Strategy
from sim.workload.transformer import Shape, chunk_layers, stage_layers

TASKS_BY_LAYER_MAX = 4_000_000  # above, a pass is one task for all its layers (but the last backward)
NO_LAYER = -1


@dataclass(frozen=True)
class Crossings:
    """All that crosses the network within a stage for one purpose, K times; positions of tasks in the stream."""

    role: tuple[str, ...]  # [K]
    layer: np.ndarray  # int64[K]
    microbatch: np.ndarray  # int64[K]
    after: np.ndarray  # int64[K, 1 or steps]
    before: np.ndarray  # int64[K, 1 or steps]


@dataclass(frozen=True)
class Stream:
    """One rank's tasks, in order; positions are indices into the columns."""

    kind: np.ndarray
    duration_ps: np.ndarray
    n_bytes: np.ndarray
    layer: np.ndarray
    microbatch: np.ndarray
    by_experts: np.ndarray  # bool: done by routed experts, whose load may be uneven
    first: np.ndarray  # int64[Op, chunks, m]: position of the first task of each pass; -1 where there is no such pass
    last: np.ndarray
    passes: dict[tuple[int, int], Pass]  # (Op, chunk): its tasks, layers not merged
    final: np.ndarray  # int64[Op, chunks]: micro-batch of the last pass of its sort
    layers: list[int]  # of the stage, in the order of the model
    chunk_of: dict[int, int]  # layer, or the head: its chunk

    def __len__(self) -> int:
        return len(self.kind)

    def gradients_ready(self, layer: int, microbatch: int | None = None, experts: bool = False) -> int:
        """Position of the task after which a micro-batch's (default: the last's) gradients of a layer are there."""
        chunk = self.chunk_of[layer]
        op = Op.WEIGHT if (Op.WEIGHT, chunk) in self.passes else Op.BACKWARD
        made = self.passes[op, chunk]
        at = self.final[op, chunk] if microbatch is None else microbatch
        return int(self.first[op, chunk, at]) + (made.expert_computed if experts else made.computed)[layer]

    def backward_ends(self, chunk: int, microbatch: int | None = None) -> int:
        """Position of the last task of a backward pass."""
        op = Op.WEIGHT if (Op.WEIGHT, chunk) in self.passes else Op.BACKWARD
        return int(self.last[op, chunk, self.final[op, chunk] if microbatch is None else microbatch])

    def waits_for_messages(self, strategy: Strategy) -> np.ndarray:
        """int64[..]: positions of tasks that may have to wait for messages, in order; the first task is one."""
        found = [np.zeros(1, np.int64)]
        for (op, chunk), made in self.passes.items():
            within = [position for one in made.crossings for position in one.before]
            if strategy.optimizer == "zero-3" and op != Op.WEIGHT:
                within += made.begins.values()
            if strategy.pp > 1:
                within.append(0)
            found.append((self.first[op, chunk][:, None] + np.array(within, np.int64)).ravel())
        return np.unique(np.concatenate(found))

    def crossings(self, kind: FlowKind, form: tuple[str, ...] | None = None) -> Crossings | None:
        """What crosses the network for one purpose, in the order of the stream; `form` picks roles."""
        found = []
        for (op, chunk), made in self.passes.items():
            for one in made.crossings:
                if one.kind == kind and (form is None or one.role in form):
                    for microbatch in range(self.first.shape[2]):
                        start = int(self.first[op, chunk, microbatch])
                        found.append((start + one.after[0], one, microbatch, start))
        if not found:
            return None
        found.sort(key=lambda row: row[0])
        start = np.array([row[3] for row in found])[:, None]
        return Crossings(
            role=tuple(row[1].role for row in found), layer=np.array([row[1].layer for row in found]),
            microbatch=np.array([row[2] for row in found]),
            after=start + np.array([row[1].after for row in found]), before=start + np.array([row[1].before for row in found]),
        )  # fmt: skip


def merges_layers(shape: Shape, strategy: Strategy) -> bool:
    """Whether the layers of a pass are one task, to keep long gradient accumulation small."""
    per_rank = 2 * strategy.micro_batches * -(-shape.layers // strategy.pp) * (1 + (strategy.tp > 1))
    return per_rank * strategy.world > TASKS_BY_LAYER_MAX and strategy.optimizer not in ("zero-2", "zero-3")


def merged(made: Pass, head: int) -> Pass:
    """The layers of a pass as one task of each kind; a pass that crosses the network, or has experts of uneven load, stays as it is."""
    if made.crossings or made.experts:
        return made
    whole = Pass()
    rows = list(zip(made.kind, made.duration_ps, made.layer, made.n_bytes, strict=True))
    heads = [row for row in rows if row[2] == head]
    if heads and rows[0][2] == head:
        whole.task(heads[0][0], heads[0][1], head)
    body = [row for row in rows if row[2] != head]
    for kind in dict.fromkeys(row[0] for row in body):
        of_kind = [row for row in body if row[0] == kind]
        whole.task(kind, sum(row[1] for row in of_kind), body[0][2], sum(row[3] for row in of_kind))
    if heads and rows[0][2] != head:
        whole.task(heads[0][0], heads[0][1], head)
    return whole


def stream(maker: Maker, stage: int, optimizer_ps: int, merge: bool, start: bool, meet: bool) -> Stream:
    """Tasks of a stage: the passes of its schedule, then the optimizer.

    `start` and `meet` add points to wait at, before everything and between the last gradients and the optimizer.
    """
    shape, strategy = maker.shape, maker.strategy
    p, v, m = strategy.pp, strategy.chunks, strategy.micro_batches
    order = order_of(strategy.schedule, stage, p, m, v)
    layers = stage_layers(shape, p, stage, v)
    of_chunk = [list(chunk_layers(shape, p, stage, chunk, v)) for chunk in range(v)]
    fine: dict[tuple[int, int], Pass] = {}
    for chunk in range(v):
        head = stage == p - 1 and chunk == v - 1
        fine[Op.FORWARD, chunk] = maker.forward(of_chunk[chunk], head)
        apart = strategy.schedule == "zb-h1"
        fine[Op.BACKWARD, chunk] = maker.backward(of_chunk[chunk], head, weights=not apart)
        if apart:
            fine[Op.WEIGHT, chunk] = maker.weights(of_chunk[chunk], head)

    number = order.op * v + order.chunk
    final_pass = {int(code): int(np.flatnonzero(number == code)[-1]) for code in np.unique(number)}
    chosen, template = np.zeros(len(order), np.int64), []
    for code in final_pass:
        made = fine[Op(code // v), code % v]
        coarse = merged(made, maker.head) if merge else made
        mine = np.flatnonzero(number == code)
        chosen[mine] = len(template)
        chosen[final_pass[code]] = len(template) + 1
        template += [coarse, made if code // v != Op.FORWARD else coarse]
    length = np.array([len(made) for made in template])[chosen]
    begin = np.concatenate([[0], np.cumsum(length)])[:-1] + start
    total = int(length.sum()) + start + meet + 1
    columns = {name: np.zeros(total, np.int64) for name in ("kind", "duration_ps", "n_bytes", "layer", "microbatch")}
    by_experts = np.zeros(total, bool)
    for number_of, made in enumerate(template):
        mine = np.flatnonzero(chosen == number_of)
        at = begin[mine][:, None] + np.arange(len(made))
        for name in ("kind", "duration_ps", "n_bytes", "layer"):
            columns[name][at] = np.array(getattr(made, name), np.int64)
        columns["microbatch"][at] = order.micro_batch[mine][:, None]
        by_experts[at[:, made.experts]] = True

    extra = [0] * start + [total - 2] * meet
    for at, kind in [*((at, TaskKind.WAIT) for at in extra), (total - 1, TaskKind.OPTIMIZER)]:
        columns["kind"][at], columns["layer"][at], columns["microbatch"][at] = kind, NO_LAYER, NO_MICROBATCH
    columns["duration_ps"][-1] = optimizer_ps
    first, last = np.full((3, v, m), -1), np.full((3, v, m), -1)
    first[order.op, order.chunk, order.micro_batch] = begin
    last[order.op, order.chunk, order.micro_batch] = begin + length - 1
    final = np.full((3, v), -1)
    for code, at in final_pass.items():
        final[code // v, code % v] = order.micro_batch[at]
    chunk_of = {layer: chunk for chunk in range(v) for layer in of_chunk[chunk]}
    return Stream(
        **columns, by_experts=by_experts, first=first, last=last, passes=fine, final=final,
        layers=layers, chunk_of={**chunk_of, maker.head: v - 1},
    )  # fmt: skip


def tasks_of(line: Stream, hosts: np.ndarray) -> Tasks:
    """The stream once for every rank, rank after rank; `hosts` are the GPUs that the ranks run on."""
    copies, length = len(hosts), len(line)
    return Tasks(
        rank=np.repeat(hosts, length).astype(np.int32),
        kind=np.tile(line.kind, copies).astype(np.int8),
        duration_ps=np.tile(line.duration_ps, copies).astype(np.int64),
        n_bytes=np.tile(line.n_bytes, copies).astype(np.int64),
        layer=np.tile(line.layer, copies).astype(np.int16),
        microbatch=np.tile(line.microbatch, copies).astype(np.int16),
    )
