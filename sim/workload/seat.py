"""A pipeline stage in its place: which GPUs run it, and the node ids of their tasks."""

from dataclasses import dataclass

import numpy as np

from sim.workload.stage import Stream
from sim.workload.strategy import Strategy


@dataclass(frozen=True)
class Seat:
    """One stage of a job."""

    stage: int
    line: Stream
    task: np.ndarray  # int64[ranks of the stage]: node id of each rank's first task
    host: np.ndarray  # int[ranks of the job]: the GPU of every rank

    def hosts(self, groups: np.ndarray) -> np.ndarray:
        """GPUs of ranks."""
        return self.host[groups]

    def at(self, groups: np.ndarray, position) -> np.ndarray:
        """int64[K, groups, n]: node ids of the tasks at position[K] of the ranks groups[groups, n]."""
        local = groups - self.stage * len(self.task)
        return self.task[local][None] + np.reshape(position, (-1, 1, 1))


def members_per_node(groups: np.ndarray, host: np.ndarray, gpus_per_node: int) -> int:
    """How many members of every group share a server, in the order of the members; 1 if that is not the same everywhere."""
    node = host[groups] // gpus_per_node
    for local in range(node.shape[1], 1, -1):
        if node.shape[1] % local == 0:
            split = node.reshape(len(node), -1, local)
            if (split == split[:, :, :1]).all():
                return local
    return 1


def stage_name(strategy: Strategy, stage: int) -> str:
    """Where a collective belongs, for people."""
    return f"stage {stage}" if strategy.pp > 1 else "all layers"
