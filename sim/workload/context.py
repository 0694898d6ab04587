"""Context parallelism: keys and values of a sequence that is cut over c ranks.

Gathered before attention, and gathered again and their gradients scattered in the backward pass (arXiv 2407.21783 section
3.3.2); or passed around a ring while each rank works on what it has, with their gradients on the way back (arXiv 2310.01889).
Each way (c-1)/c x 2 s b h k/(a t) x 2 bytes a layer forward, twice that backward.
"""

import numpy as np

from sim.workload.blocks import FlowKind
from sim.workload.collect import Work
from sim.workload.collective import ring
from sim.workload.collective.registry import template
from sim.workload.collective.template import instantiate
from sim.workload.seat import Seat, by_server, channels_of, members_per_node, stage_name
from sim.workload.strategy import Strategy
from sim.workload.transformer import BF16_BYTES, Shape


def key_value_elements(shape: Shape, strategy: Strategy) -> int:
    """Keys and values of a whole sequence that one tensor-parallel rank uses: 2 s b h k/(a t), at least one head's."""
    _, latent, qk, _, v = shape.latent
    width = shape.heads * (qk + v) // strategy.tp if latent else 2 * max(1, shape.kv // strategy.tp) * shape.head_width
    return shape.sequence * strategy.micro_batch * width


def exchange_keys(work: Work, shape: Shape, strategy: Strategy, seat: Seat, gpus_per_node: int) -> None:
    """All messages of a stage among its context-parallel ranks."""
    if strategy.cp == 1:
        return
    groups = by_server(strategy.context_groups(seat.stage), seat.host, gpus_per_node)
    inside = members_per_node(groups, seat.host, gpus_per_node)
    gathered, scattered = (
        template(name, "ring", strategy.cp, local=inside, channels=channels_of(strategy, "ring", strategy.cp, inside))
        for name in ("all-gather", "reduce-scatter")
    )
    hosts, where, elements = seat.hosts(groups), stage_name(strategy, seat.stage), key_value_elements(shape, strategy)
    for role, plan in (
        ("gather", gathered), ("scatter", scattered), ("pass", ring.all_gather(strategy.cp)), ("pass backward", ring.all_gather(strategy.cp)),
    ):
        crossing = seat.line.crossings(FlowKind.CP, (role,))
        if crossing is None:
            continue
        size = elements * (2 if role == "pass backward" else 1)
        stepped = role in ("pass", "pass backward")
        placed = instantiate(
            work, plan, hosts, np.full(len(crossing.role), size), BF16_BYTES, FlowKind.CP, microbatch=crossing.microbatch,
            ready=None if role == "pass backward" else seat.at(groups, crossing.after[:, 0]),
            names=lambda k, g, role=role, at=crossing: f"context {role}, {where}, layer {at.layer[k]}, micro-batch {at.microbatch[k]}, group {g}",
        )  # fmt: skip
        if not stepped:
            placed.finish(work, seat.at(groups, crossing.before[:, 0]))
            continue
        if placed.node is None:
            continue
        message = placed.node.reshape(*placed.node.shape[:2], strategy.cp - 1, strategy.cp)
        for step in range(strategy.cp - 1):
            work.done.add(np.roll(message[:, :, step], 1, axis=2), seat.at(groups, crossing.before[:, step]))
            if role == "pass backward":
                work.done.add(seat.at(groups, crossing.after[:, step]), message[:, :, step])
