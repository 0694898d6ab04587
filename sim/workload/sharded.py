"""ZeRO-3 (FSDP): parameters live in shares and are gathered layer by layer (arXiv 1910.02054 section 5.3, 2304.11277 section 3).

For every micro-batch a layer's bf16 weights are gathered before its forward pass and again before its backward pass, and its bf16
gradients reduce-scattered after it: 3(d-1)/d x 2P bytes a rank. A gather starts while the layer before is at work, so that two
layers are whole at a time.
"""

import numpy as np

from sim.workload.blocks import FlowKind
from sim.workload.collect import Work
from sim.workload.collective.registry import template
from sim.workload.collective.template import Template, instantiate
from sim.workload.gradients import EMBEDDING, expert_parts, parts
from sim.workload.schedule.order import Op
from sim.workload.seat import Seat, by_server, channels_of, members_per_node, stage_name
from sim.workload.strategy import Strategy
from sim.workload.transformer import BF16_BYTES, Shape


def exchange(work: Work, shape: Shape, strategy: Strategy, seat: Seat, summed: np.ndarray, gpus_per_node: int) -> None:
    """All gathers and scatters of a stage; `summed` int64[ranks] waits for the last scatters."""
    for groups, found, experts in (
        (strategy.data_groups(seat.stage), parts(shape, strategy, seat.stage), False),
        (strategy.expert_data_groups(seat.stage), expert_parts(shape, strategy, seat.stage), True),
    ):
        if groups.shape[1] > 1 and found:
            groups = by_server(groups, seat.host, gpus_per_node)
            _gather(work, shape, strategy, seat, groups, dict(found), experts, gpus_per_node)
            _scatter(work, shape, strategy, seat, groups, dict(found), experts, gpus_per_node, summed)


def _gather(work, shape, strategy, seat, groups, found, experts, gpus_per_node) -> None:
    part, size, after, before = _gathers(seat, found, shape)
    where = f"{'experts of ' * experts}{stage_name(strategy, seat.stage)}"
    placed = instantiate(
        work, _plan("all-gather", strategy, seat, groups, gpus_per_node), seat.hosts(groups), size, BF16_BYTES, FlowKind.DP,
        ready=seat.at(groups, after), names=lambda k, g: f"gather, {where}, {_called(part[k], shape)}, group {g}",
    )  # fmt: skip
    placed.follow(work)
    placed.finish(work, seat.at(groups, before))


def _scatter(work, shape, strategy, seat, groups, found, experts, gpus_per_node, summed) -> None:
    part, size, after = _scatters(seat, found, experts)
    where, local = f"{'experts of ' * experts}{stage_name(strategy, seat.stage)}", groups - seat.stage * strategy.ranks_per_stage
    placed = instantiate(
        work, _plan("reduce-scatter", strategy, seat, groups, gpus_per_node), seat.hosts(groups), size, BF16_BYTES, FlowKind.DP,
        ready=seat.at(groups, after), names=lambda k, g: f"scatter, {where}, {_called(part[k], shape)}, group {g}",
    )  # fmt: skip
    placed.follow(work)
    placed.finish(work, summed[local][None])


def _plan(collective: str, strategy: Strategy, seat: Seat, groups: np.ndarray, gpus_per_node: int) -> Template:
    algorithm, n, inside = strategy.gradient_algorithm, groups.shape[1], members_per_node(groups, seat.host, gpus_per_node)
    return template(collective, algorithm, n, local=inside, channels=channels_of(strategy, algorithm, n, inside))


def _called(part: int, shape: Shape) -> str:
    return {EMBEDDING: "embedding", shape.layers: "head"}.get(part, f"layer {part}")


def _gathers(seat: Seat, found: dict[int, int], shape: Shape):
    """(part, its parameters, position after which its gather starts, position that needs it), in the order of the stream."""
    line, rows = seat.line, []
    for (op, chunk), made in line.passes.items():
        if op == Op.WEIGHT:
            continue
        for microbatch in range(line.first.shape[2]):
            start = int(line.first[op, chunk, microbatch])
            rows += [(start + at, layer) for layer, at in made.begins.items() if layer in found]
            if EMBEDDING in found and chunk == 0:
                whole = shape.tied and shape.layers in found and op == Op.BACKWARD and line.chunk_of[shape.layers] == 0
                rows.append((start + (0 if op == Op.FORWARD or whole else made.begins[line.layers[0]]), EMBEDDING))
    rows.sort()
    at = np.array([position for position, _ in rows])
    part = [layer for _, layer in rows]
    after = np.concatenate([np.zeros(min(2, len(at)), np.int64), at[1:-1] - 1])[: len(at)]
    return part, np.array([found[layer] for layer in part]), np.minimum(after, np.maximum(at - 1, 0)), at


def _scatters(seat: Seat, found: dict[int, int], experts: bool):
    line, rows = seat.line, []
    for microbatch in range(line.first.shape[2]):
        for part in found:
            at = line.backward_ends(0, microbatch) if part == EMBEDDING else line.gradients_ready(part, microbatch, experts)
            rows.append((at, part))
    rows.sort()
    part = [layer for _, layer in rows]
    return part, np.array([found[layer] for layer in part]), np.array([at for at, _ in rows])
