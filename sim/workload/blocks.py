"""Blocks of tasks, flows and edges as arrays: what the builders make and a Dag is put together from."""

from dataclasses import dataclass, fields, replace
from enum import IntEnum

import numpy as np


class TaskKind(IntEnum):
    """What a rank does for a known time; the head (final norm, logits, loss) is layer number `layers`."""

    FORWARD = 0
    BACKWARD = 1
    TP = 2  # tensor-parallel all-reduces of a layer in one direction, over NVLink
    OPTIMIZER = 3
    WEIGHT = 4  # gradients of a layer's weights, where the schedule keeps them apart from those of its inputs
    WAIT = 5  # takes no time: a point where a rank's work and its messages meet
    PROGRAM = 6  # a task of an imported graph
    RECOMPUTE = 7  # a forward pass again, for activations that were not kept
    IN_SWITCH = 8  # a GPU's share of an in-node collective that the NVSwitch does


class FlowKind(IntEnum):
    """Why a message crosses the network."""

    TRAFFIC = 0  # a flow of a plain pattern
    DP = 1  # gradients and parameters among data-parallel ranks
    PP = 2  # activations and their gradients between pipeline stages
    TP = 3  # tensor parallelism over the network
    EMBEDDING = 4  # gradients of the tied embedding, first stage and last
    EP = 5  # tokens to their experts and back
    CP = 6  # keys and values among context-parallel ranks
    BACKGROUND = 7  # traffic of others on the same network
    PROGRAM = 8  # a message of an imported graph
    COLLECTIVE = 9  # a message of a collective without a model around it


FLOW_BASE = 1 << 30  # node ids of flows begin here while a graph grows
NO_COLLECTIVE = -1
NO_MICROBATCH = -1


class Block:
    """Equally long columns; join() puts blocks one after the other. Columns left out are 0."""

    def __post_init__(self) -> None:
        for column in fields(self):
            if getattr(self, column.name) is None:
                object.__setattr__(self, column.name, np.zeros(len(self), COLUMN_TYPES[column.name]))

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
    job: np.ndarray | None = None
    iteration: np.ndarray | None = None


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
    job: np.ndarray | None = None
    iteration: np.ndarray | None = None

    @classmethod
    def of(cls, src, dst, n_bytes, kind, *, draw_key, collective=NO_COLLECTIVE, step=0, microbatch=NO_MICROBATCH, start_ps=0) -> "Flows":
        """Flows with every argument broadcast against the others and flattened in C order."""
        columns = np.broadcast_arrays(src, dst, n_bytes, int(kind), collective, step, microbatch, draw_key, start_ps)
        return cls(*(values.ravel().astype(COLUMN_TYPES[column.name]) for values, column in zip(columns, fields(cls))))

    def renumbered(self, first_collective: int) -> "Flows":
        """The same flows, their collectives counted from `first_collective`."""
        return replace(self, collective=np.where(self.collective >= 0, self.collective + first_collective, self.collective).astype(np.int32))


COLUMN_TYPES = {
    "rank": np.int32, "kind": np.int8, "duration_ps": np.int64, "n_bytes": np.int64, "layer": np.int16,
    "microbatch": np.int16, "src": np.int32, "dst": np.int32, "collective": np.int32, "step": np.int32,
    "draw_key": np.int64, "start_ps": np.int64, "job": np.int16, "iteration": np.int16,
}  # fmt: skip


class Edges:
    """A growing list of "the second waits for the first", node ids in arrays of any shape."""

    def __init__(self) -> None:
        self._before: list[np.ndarray] = []
        self._after: list[np.ndarray] = []

    def add(self, before, after) -> None:
        """Edges before[i] -> after[i], the arguments broadcast against each other."""
        before, after = np.broadcast_arrays(before, after)
        self._before.append(before.ravel().astype(np.int32))
        self._after.append(after.ravel().astype(np.int32))

    def extend(self, other: "Edges", tasks: int, flows: int) -> None:
        """The edges of another graph, whose task and flow ids are counted from `tasks` and `flows` on here."""
        for mine, its in ((self._before, other._before), (self._after, other._after)):
            mine += [ids + np.where(ids >= FLOW_BASE, flows, tasks).astype(np.int32) for ids in its]

    def arrays(self, n_tasks: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """(before, after) int32[E], flows numbered after the `n_tasks` tasks."""
        if not self._before:
            return np.empty(0, np.int32), np.empty(0, np.int32)
        found = np.concatenate(self._before), np.concatenate(self._after)
        for ids in found:
            ids[ids >= FLOW_BASE] += np.int32(n_tasks - FLOW_BASE)
        return found
