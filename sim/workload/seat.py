"""A pipeline stage in its place: which GPUs run it, and the node ids of their tasks."""

from dataclasses import dataclass

import numpy as np

from sim.scenario_collective import WITH_CHANNELS
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


def by_server(groups: np.ndarray, host: np.ndarray, gpus_per_node: int) -> np.ndarray:
    """The members of every group server by server, as rings and trees go through them (NCCL orders its rings so, whatever the ranks)."""
    return np.take_along_axis(groups, np.argsort(host[groups] // gpus_per_node, axis=1, kind="stable"), axis=1)


def channels_of(strategy: Strategy, algorithm: str, members: int, inside: int) -> int:
    """Rings or double trees among which a collective is split: as many as members of a server, `inside`, have NICs, or as wished."""
    if algorithm not in WITH_CHANNELS or inside == members:
        return 1
    return inside if strategy.channels is None else strategy.channels if inside == 1 else min(strategy.channels, inside)


def gradient_channels(strategy: Strategy, host: np.ndarray, gpus_per_node: int, experts: bool) -> int:
    """Rings or double trees of the gradients of the first stage, of routed experts or of everything else."""
    groups = by_server(strategy.expert_data_groups(0) if experts else strategy.data_groups(0), host, gpus_per_node)
    return channels_of(strategy, strategy.gradient_algorithm, groups.shape[1], members_per_node(groups, host, gpus_per_node))


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
