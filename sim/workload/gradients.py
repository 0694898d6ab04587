"""Data parallelism: gradients in buckets, summed over the replicas while the last backward pass still runs.

Buckets are filled in reverse order of the layers, as their gradients come (arXiv 2006.15704 section 3.2.3). Without a distributed
optimizer all ranks sum all (all-reduce); with it every rank sums, updates and then sends on its share (reduce-scatter, optimizer
step, all-gather of bf16 weights). Gradients are fp32, under ZeRO bf16; ZeRO-2 keeps only a rank's share of them, so that every
micro-batch's are summed (arXiv 1910.02054 section 5). Routed experts have fewer replicas and buckets of their own.
"""

from dataclasses import dataclass

import numpy as np

from sim.workload.blocks import FlowKind
from sim.workload.collect import Work
from sim.workload.collective.registry import template
from sim.workload.collective.template import instantiate
from sim.workload.seat import Seat, by_server, channels_of, members_per_node, stage_name
from sim.workload.stage import Stream
from sim.workload.strategy import Strategy
from sim.workload.transformer import (
    BF16_BYTES,
    Shape,
    embedding_parameters,
    expert_parameters,
    head_parameters,
    layer_parameters,
    stage_layers,
)

EMBEDDING = -1  # as a part of a stage, beside its layers


@dataclass(frozen=True)
class Buckets:
    """Gradient buckets of one GPU of a stage, in the order in which they are reduced."""

    parameters: np.ndarray  # int64[buckets]
    part: list[int]  # the last part that a bucket holds: a layer, shape.layers for the head, or EMBEDDING


def parts(shape: Shape, strategy: Strategy, stage: int) -> list[tuple[int, int]]:
    """(part, parameters on one GPU) of head, layers from the last, and embedding, routed experts apart."""
    layers = reversed(stage_layers(shape, strategy.pp, stage, strategy.chunks))
    found = [(layer, layer_parameters(shape, strategy.tp, shape.has_experts(layer))) for layer in layers]
    if stage == strategy.pp - 1:
        found.insert(0, (shape.layers, head_parameters(shape, strategy.tp, strategy.pp)))
    if stage == 0:
        found.append((EMBEDDING, embedding_parameters(shape, strategy.tp)))
    return found


def expert_parts(shape: Shape, strategy: Strategy, stage: int) -> list[tuple[int, int]]:
    """(layer, parameters on one GPU) of the routed experts, layers from the last."""
    size = shape.experts // strategy.ep * expert_parameters(shape, strategy.tp)
    layers = reversed(stage_layers(shape, strategy.pp, stage, strategy.chunks))
    return [(layer, size) for layer in layers if shape.has_experts(layer)]


def buckets(found: list[tuple[int, int]], bucket_size: int) -> Buckets:
    """Cut parts into buckets of `bucket_size` parameters; the last is the rest."""
    ends_of_parts = np.cumsum([size for _, size in found])
    total = int(ends_of_parts[-1])
    ends = np.minimum(np.arange(1, -(-total // bucket_size) + 1) * bucket_size, total)
    return Buckets(parameters=np.diff(ends, prepend=0), part=[found[at][0] for at in np.searchsorted(ends_of_parts, ends)])


def ready_positions(line: Stream, cut: Buckets, experts: bool, overlap: bool, microbatch: int | None = None) -> np.ndarray:
    """int64[buckets]: position of the task after which a bucket can be summed."""
    if not overlap:
        return np.full(len(cut.part), line.backward_ends(0, microbatch))
    at = [line.backward_ends(0, microbatch) if part == EMBEDDING else line.gradients_ready(part, microbatch, experts) for part in cut.part]
    return np.maximum.accumulate(at)


def exchange(
    work: Work, shape: Shape, strategy: Strategy, seat: Seat, summed: np.ndarray, optimizer: np.ndarray, gathered: np.ndarray | None, gpus_per_node: int
) -> None:
    """Gradient exchange of a stage.

    Parameters
    ----------
    summed, optimizer, gathered : int64[ranks of the stage], nodes that wait for all sums, that make new weights, and that
        wait until they are everywhere (None: nobody does)
    """
    for groups, found, experts in (
        (strategy.data_groups(seat.stage), parts(shape, strategy, seat.stage), False),
        (strategy.expert_data_groups(seat.stage), expert_parts(shape, strategy, seat.stage), True),
    ):
        if groups.shape[1] > 1 and found:
            cut, groups = buckets(found, strategy.bucket_size), by_server(groups, seat.host, gpus_per_node)
            _exchange(work, strategy, seat, groups, cut, experts, summed, optimizer, gathered, gpus_per_node)


def _exchange(work, strategy, seat, groups, cut, experts, summed, optimizer, gathered, gpus_per_node) -> None:
    n, hosts, local = groups.shape[1], seat.hosts(groups), groups - seat.stage * strategy.ranks_per_stage
    where = f"{'experts of ' * experts}{stage_name(strategy, seat.stage)}"
    collective = "reduce-scatter" if strategy.distributed_optimizer else "all-reduce"
    inside = members_per_node(groups, seat.host, gpus_per_node)
    channels = channels_of(strategy, strategy.gradient_algorithm, n, inside)
    plan = template(collective, strategy.gradient_algorithm, n, local=inside, channels=channels)
    every = range(strategy.micro_batches) if strategy.optimizer == "zero-2" else (None,)
    ready = np.concatenate([ready_positions(seat.line, cut, experts, strategy.overlap, at) for at in every])
    order = np.argsort(ready, kind="stable")
    bucket = np.tile(np.arange(len(cut.part)), len(every))[order]
    placed = instantiate(
        work, plan, hosts, cut.parameters[bucket], strategy.gradient_bytes, FlowKind.DP, ready=seat.at(groups, ready[order]),
        names=lambda k, g: f"{collective}, {where}, bucket {bucket[k]}, group {g}",
    )  # fmt: skip
    placed.follow(work)
    placed.finish(work, summed[local][None])
    placed.sent_before(work, optimizer[local])
    if strategy.distributed_optimizer:
        placed = instantiate(
            work, template("all-gather", strategy.gradient_algorithm, n, local=inside, channels=channels), hosts, cut.parameters, BF16_BYTES,
            FlowKind.DP, ready=optimizer[local][None], names=lambda k, g: f"all-gather, {where}, bucket {k}, group {g}",
        )  # fmt: skip
        placed.follow(work)
        if gathered is not None:
            placed.finish(work, gathered[local][None])


def tied_embedding(work: Work, shape: Shape, strategy: Strategy, seats: list[Seat], summed: list[np.ndarray], optimizer: list[np.ndarray]) -> None:
    """All-reduce of the tied embedding's gradient, Vh/t, in the precision of all others, between first and last stage
    (Megatron-LM core/distributed/finalize_model_grads.py), when each has its own sum and before the optimizer."""
    pairs = np.stack([strategy.stage_ranks(0), strategy.stage_ranks(strategy.pp - 1)], axis=1)
    placed = instantiate(
        work, template("all-reduce", "ring", 2), seats[0].hosts(pairs), np.array([embedding_parameters(shape, strategy.tp)]),
        strategy.gradient_bytes, FlowKind.EMBEDDING, ready=np.stack([summed[0], summed[-1]], axis=1)[None],
        names=lambda _, pair: f"embedding all-reduce, pair {pair}",
    )  # fmt: skip
    placed.finish(work, np.stack([optimizer[0], optimizer[-1]], axis=1)[None])
