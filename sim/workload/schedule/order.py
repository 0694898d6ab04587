"""What a pipeline stage does, pass by pass: the common form of all schedules."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np


class Op(IntEnum):
    """A pass of one micro-batch through the layers that a stage has of one virtual stage (chunk)."""

    FORWARD = 0
    BACKWARD = 1  # with the gradients of the weights, unless the schedule keeps them apart
    WEIGHT = 2


@dataclass(frozen=True)
class Order:
    """The passes of a stage, in order."""

    op: np.ndarray  # int8[passes], Op
    micro_batch: np.ndarray  # int64[passes]
    chunk: np.ndarray  # int64[passes]

    @classmethod
    def of(cls, op, micro_batch, chunk=0) -> "Order":
        columns = np.broadcast_arrays(np.asarray(op, np.int8), np.asarray(micro_batch, np.int64), np.asarray(chunk, np.int64))
        return cls(*(np.ascontiguousarray(column) for column in columns))

    def __len__(self) -> int:
        return len(self.op)


def alternating(forward: Order, backward: Order, warm: int) -> Order:
    """`warm` forwards, then one forward and one backward in turn, then the backwards that are left."""
    n = len(forward)
    warm = min(warm, n)
    at_forward = np.concatenate([np.arange(warm), warm + 2 * np.arange(n - warm)])
    at_backward = np.concatenate([warm + 1 + 2 * np.arange(n - warm), np.arange(2 * n - warm, 2 * n)])
    columns = []
    for name in ("op", "micro_batch", "chunk"):
        column = np.empty(2 * n, np.int64)
        column[at_forward], column[at_backward] = getattr(forward, name), getattr(backward, name)
        columns.append(column)
    return Order.of(*columns)

