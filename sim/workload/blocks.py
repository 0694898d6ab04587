"""Blocks of tasks, flows and edges as arrays: what the builders make and a Dag is put together from."""

from dataclasses import dataclass, fields
from enum import IntEnum

import numpy as np


class TaskKind(IntEnum):
    """What a rank does for a known time; the head (final norm, logits, loss) is layer number `layers`."""

    FORWARD = 0
    BACKWARD = 1
    TP = 2  # tensor-parallel all-reduces of a layer in one direction, over NVLink
    OPTIMIZER = 3


class FlowKind(IntEnum):
    """Why a message crosses the network."""

    TRAFFIC = 0  # a flow of a plain pattern
    DP = 1  # gradients and parameters among data-parallel ranks
    PP = 2  # activations and their gradients between pipeline stages
    TP = 3  # tensor parallelism over the network
    EMBEDDING = 4  # gradients of the tied embedding, first stage and last


NO_COLLECTIVE = -1
NO_MICROBATCH = -1


class Block:
    """Equally long columns; join() puts blocks one after the other."""

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))

    @classmethod
    def join(cls, blocks: list) -> "Block":
        return cls(*(
            np.concatenate([getattr(block, column.name) for block in blocks] or [np.empty(0)]).astype(COLUMN_TYPES[column.name], copy=False)
            for column in fields(cls)
        ))  # fmt: skip


@dataclass(frozen=True)
class Tasks(Block):
    """Columns of compute tasks, one entry per task; types in COLUMN_TYPES."""
    rank: np.ndarray
    kind: np.ndarray
    duration_ps: np.ndarray
    n_bytes: np.ndarray
    layer: np.ndarray
    microbatch: np.ndarray


@dataclass(frozen=True)
class Flows(Block):
    """Columns of flows, one entry per flow; hosts as ranks, types in COLUMN_TYPES."""
    src: np.ndarray
    dst: np.ndarray
    n_bytes: np.ndarray
    kind: np.ndarray
    collective: np.ndarray
    step: np.ndarray
    microbatch: np.ndarray
    draw_key: np.ndarray
    start_ps: np.ndarray

    @classmethod
    def of(cls, src, dst, n_bytes, kind, *, draw_key, collective=NO_COLLECTIVE, step=0, microbatch=NO_MICROBATCH, start_ps=0) -> "Flows":
        """Flows with every argument broadcast against the others and flattened in C order."""
        columns = np.broadcast_arrays(src, dst, n_bytes, int(kind), collective, step, microbatch, draw_key, start_ps)
        return cls(*(values.ravel().astype(COLUMN_TYPES[column.name]) for values, column in zip(columns, fields(cls))))


COLUMN_TYPES = {
    "rank": np.int32, "kind": np.int8, "duration_ps": np.int64, "n_bytes": np.int64, "layer": np.int16,
    "microbatch": np.int16, "src": np.int32, "dst": np.int32, "collective": np.int32, "step": np.int32,
    "draw_key": np.int64, "start_ps": np.int64,
}  # fmt: skip


class Edges:
    """A growing list of "the second waits for the first", node ids in arrays of any shape."""

    def __init__(self) -> None:
        self._before: list[np.ndarray] = []
        self._after: list[np.ndarray] = []

    def add(self, before, after) -> None:
        """Edges before[i] -> after[i], the arguments broadcast against each other."""
        before, after = np.broadcast_arrays(before, after)
        self._before.append(before.ravel())
        self._after.append(after.ravel())

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        if not self._before:
            return np.empty(0, np.int32), np.empty(0, np.int32)
        return np.concatenate(self._before).astype(np.int32), np.concatenate(self._after).astype(np.int32)
