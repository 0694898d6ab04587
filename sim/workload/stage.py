"""The stream of tasks that every rank of a pipeline stage works through in one iteration."""

from dataclasses import dataclass

import numpy as np

from sim.workload.blocks import NO_MICROBATCH, TaskKind, Tasks
from sim.workload.schedule import one_f_one_b
from sim.workload.strategy import Strategy
from sim.workload.timing import Durations, tensor_bytes_per_pass
from sim.workload.transformer import Shape

TASKS_BY_LAYER_MAX = 4_000_000  # above, a pass is one task for all its layers (but the last backward)
NO_LAYER = -1


@dataclass(frozen=True)
class Stream:
    """One rank's tasks, in order; positions are indices into the columns."""

    kind: np.ndarray
    duration_ps: np.ndarray
    n_bytes: np.ndarray
    layer: np.ndarray
    microbatch: np.ndarray
    forward_first: np.ndarray  # int64[m]: position of the first task of each micro-batch's forward pass
    forward_last: np.ndarray
    backward_first: np.ndarray
    backward_last: np.ndarray
    gradients_ready: np.ndarray  # int64[1 + layers of the stage + 1]: head, layers from the last, embedding

    def __len__(self) -> int:
        return len(self.kind)


def merges_layers(shape: Shape, strategy: Strategy) -> bool:
    """Whether the layers of a pass are one task, to keep long gradient accumulation small."""
    per_rank = 2 * strategy.micro_batches * (shape.layers // strategy.pp) * (1 + (strategy.tp > 1))
    return per_rank * strategy.world > TASKS_BY_LAYER_MAX


def stream(shape: Shape, strategy: Strategy, stage: int, times: Durations, optimizer_ps: int, merge: bool) -> Stream:
    """Tasks of 1F1B on stage `stage`: each pass goes through the stage's layers, compute then all-reduce."""
    layers = shape.layers // strategy.pp
    first_layer = stage * layers
    head = stage == strategy.pp - 1
    per_layer = 1 + (strategy.tp > 1)
    backward, microbatch = one_f_one_b.order(stage, strategy.pp, strategy.micro_batches)

    groups = np.full(len(backward), 1 if merge else layers)
    groups[-1] = layers
    length = groups * per_layer + head
    end = np.cumsum(length)
    op = np.repeat(np.arange(len(backward)), length)
    position = np.arange(end[-1]) - np.repeat(end - length, length)
    back, group = backward[op], groups[op]

    is_head = (position == 0) & back if head else np.zeros(len(op), bool)
    if head:
        is_head |= ~back & (position == group * per_layer)
    depth = (position - (back & head)) // per_layer
    is_tp = ~is_head & ((position - (back & head)) % per_layer == 1)
    scale = np.where(is_head, 1, layers // group)
    layer = np.where(back, first_layer + layers - 1 - depth, first_layer + depth)
    layer[is_head] = shape.layers

    kind = np.where(is_tp, TaskKind.TP, np.where(back, TaskKind.BACKWARD, TaskKind.FORWARD))
    compute_ps = np.where(
        is_head,
        np.where(back, times.head_backward_ps, times.head_forward_ps),
        np.where(back, times.backward_ps, times.forward_ps),
    )
    duration_ps = np.where(is_tp, times.tp_ps, compute_ps) * scale
    n_bytes = np.where(is_tp, tensor_bytes_per_pass(shape, strategy), 0) * scale

    ops_in_order = np.argsort(microbatch, kind="stable")
    forward, backward_op = (ops_in_order[backward[ops_in_order] == which] for which in (False, True))
    last_layers = end[-1] - layers * per_layer + np.arange(layers) * per_layer
    ready = np.concatenate([[last_layers[0] - head], last_layers, [end[-1] - 1]])
    return Stream(
        kind=np.append(kind, TaskKind.OPTIMIZER),
        duration_ps=np.append(duration_ps, optimizer_ps),
        n_bytes=np.append(n_bytes, 0),
        layer=np.append(layer, NO_LAYER),
        microbatch=np.append(microbatch[op], NO_MICROBATCH),
        forward_first=(end - length)[forward],
        forward_last=end[forward] - 1,
        backward_first=(end - length)[backward_op],
        backward_last=end[backward_op] - 1,
        gradients_ready=ready,
    )


def tasks_of(line: Stream, ranks: np.ndarray) -> Tasks:
    """The stream once for every rank, rank after rank."""
    copies, length = len(ranks), len(line)
    return Tasks(
        rank=np.repeat(ranks, length).astype(np.int32),
        kind=np.tile(line.kind, copies).astype(np.int8),
        duration_ps=np.tile(line.duration_ps, copies).astype(np.int64),
        n_bytes=np.tile(line.n_bytes, copies).astype(np.int64),
        layer=np.tile(line.layer, copies).astype(np.int16),
        microbatch=np.tile(line.microbatch, copies).astype(np.int16),
    )
