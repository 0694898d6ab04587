"""Data parallelism: gradients in buckets, summed over the replicas while the last backward pass still runs.

Buckets are filled in reverse order of the layers, as their gradients come (arXiv 2006.15704 section 3.2.3).
Gradients are summed in fp32; with the distributed optimizer every rank sums, updates and then sends on
its share (reduce-scatter, optimizer step, bf16 all-gather), without it all ranks sum all (all-reduce).
"""

from dataclasses import dataclass

import numpy as np

from sim.workload.blocks import Edges, FlowKind, Flows
from sim.workload.collective import ring
from sim.workload.stage import Stream
from sim.workload.strategy import Strategy
from sim.workload.transformer import (
    BF16_BYTES,
    FP32_BYTES,
    Shape,
    embedding_parameters,
    final_norm_parameters,
    layer_parameters,
    stage_parameters,
)


@dataclass(frozen=True)
class Buckets:
    """Gradient buckets of one GPU of a stage, in the order in which they are reduced."""

    parameters: np.ndarray  # int64[buckets]
    part: np.ndarray  # int64[buckets]: 0 head, 1.. layers from the last, then embedding; the last part a bucket holds


def parts(shape: Shape, strategy: Strategy, stage: int) -> np.ndarray:
    """int64[layers of the stage + 2]: parameters of head, layers from the last, and embedding on one GPU."""
    layers = shape.layers // strategy.pp
    embedding = embedding_parameters(shape, strategy.tp)
    head = final_norm_parameters(shape) + (embedding if strategy.pp > 1 else 0)
    return np.array(
        [head if stage == strategy.pp - 1 else 0]
        + [layer_parameters(shape, strategy.tp)] * layers
        + [embedding if stage == 0 else 0]
    )


def buckets(shape: Shape, strategy: Strategy, stage: int) -> Buckets:
    """Cut the stage's parameters, from the last, into buckets of strategy.bucket_size; the last is the rest."""
    total = stage_parameters(shape, strategy.tp, strategy.pp, stage)
    ends = np.minimum(np.arange(1, -(-total // strategy.bucket_size) + 1) * strategy.bucket_size, total)
    part = np.searchsorted(np.cumsum(parts(shape, strategy, stage)), ends)
    return Buckets(parameters=np.diff(ends, prepend=0), part=part)


@dataclass(frozen=True)
class Exchange:
    """The flows of a stage's data parallelism and what of them others wait for."""

    flows: Flows
    collective_name: list[str]
    summed: np.ndarray  # int64[buckets, ranks of the stage]: arrival after which a rank has its sum of a bucket


def exchange(
    shape: Shape, strategy: Strategy, stage: int, line: Stream, task: np.ndarray, hosts: np.ndarray,
    first_node: int, first_collective: int, done: Edges,
) -> Exchange:  # fmt: skip
    """Gradient exchange of a stage, its edges added to `done`.

    Parameters
    ----------
    task : int64[ranks of the stage], node id of each rank's first task
    hosts : int[ranks], host of each rank
    """
    groups = strategy.data_groups(stage)
    d = strategy.dp
    cut = buckets(shape, strategy, stage)
    local = groups - stage * strategy.ranks_per_stage
    ready = task[local] + line.gradients_ready[cut.part][:, None, None]
    optimizer = task[local] + len(line) - 1
    reduce_name = "reduce-scatter" if strategy.distributed_optimizer else "all-reduce"
    steps = ring.reduce_scatter_steps(d) if strategy.distributed_optimizer else ring.all_reduce_steps(d)

    size = ring.chunk_bytes(cut.parameters, d, FP32_BYTES)
    flows, rings = ring.ring_series(hosts[groups], size, steps, FlowKind.DP, first_node, first_collective)
    ring.chain(rings, ready, min(steps, d), done)
    summed = rings.arrival(steps - 1)
    done.add(summed, optimizer[None])
    blocks, names = [flows], _names(reduce_name, stage, len(cut.part), len(groups))

    if strategy.distributed_optimizer:
        steps = ring.all_gather_steps(d)
        size = ring.chunk_bytes(cut.parameters, d, BF16_BYTES)
        node, collective = first_node + len(flows), first_collective + len(names)
        flows, rings = ring.ring_series(hosts[groups], size, steps, FlowKind.DP, node, collective)
        ring.chain(rings, np.broadcast_to(optimizer, rings.flow[:, :, 0].shape), steps, done)
        blocks.append(flows)
        names += _names("all-gather", stage, len(cut.part), len(groups))

    by_rank = np.empty((len(cut.part), strategy.ranks_per_stage), np.int64)
    by_rank[:, local] = summed
    return Exchange(flows=Flows.join(blocks), collective_name=names, summed=by_rank)


def tied_embedding(
    shape: Shape, strategy: Strategy, ready: tuple[np.ndarray, np.ndarray], optimizer: tuple[np.ndarray, np.ndarray],
    hosts: np.ndarray, first_node: int, first_collective: int, done: Edges,
) -> tuple[Flows, list[str]]:  # fmt: skip
    """All-reduce of the tied embedding's gradient, Vh/t in fp32, between first and last stage
    (Megatron-LM core/distributed/finalize_model_grads.py).

    Parameters
    ----------
    ready, optimizer : node ids of the ranks of the first stage and of the last: what ends before, what waits
    """
    members = np.stack([strategy.stage_ranks(0), strategy.stage_ranks(strategy.pp - 1)], axis=1)
    size = ring.chunk_bytes(np.array([embedding_parameters(shape, strategy.tp)]), 2, FP32_BYTES)
    steps = ring.all_reduce_steps(2)
    flows, rings = ring.ring_series(hosts[members], size, steps, FlowKind.EMBEDDING, first_node, first_collective)
    ring.chain(rings, np.stack(ready, axis=1)[None], steps, done)
    done.add(rings.arrival(steps - 1)[0], np.stack(optimizer, axis=1))
    return flows, [f"embedding all-reduce, pair {pair}" for pair in range(len(members))]


def _names(collective: str, stage: int, n_buckets: int, n_groups: int) -> list[str]:
    return [f"{collective}, stage {stage}, bucket {bucket}, group {group}" for bucket in range(n_buckets) for group in range(n_groups)]
