"""Tensor parallelism wider than a server: all-reduces of a layer's output over the network (arXiv 1909.08053 section 3)."""

import numpy as np

from sim.workload.blocks import FlowKind
from sim.workload.collect import Work
from sim.workload.collective import ring
from sim.workload.collective.template import instantiate
from sim.workload.seat import Seat, stage_name
from sim.workload.strategy import Strategy
from sim.workload.transformer import BF16_BYTES, Shape


def all_reduce_outputs(work: Work, shape: Shape, strategy: Strategy, seat: Seat) -> None:
    """All all-reduces of a stage over the network, 2(t-1)/t x 2sbh/c bytes a rank each; rings go server by server."""
    crossing = seat.line.crossings(FlowKind.TP)
    if crossing is None:
        return
    groups, where = strategy.tensor_groups(seat.stage), stage_name(strategy, seat.stage)
    elements = shape.sequence * strategy.micro_batch * shape.hidden // strategy.cp
    placed = instantiate(
        work, ring.all_reduce(strategy.tp), seat.hosts(groups), np.full(len(crossing.role), elements), BF16_BYTES, FlowKind.TP,
        ready=seat.at(groups, crossing.after), microbatch=crossing.microbatch,
        names=lambda k, g: f"tensor all-reduce, {where}, layer {crossing.layer[k]}, micro-batch {crossing.microbatch[k]}, group {g}",
    )  # fmt: skip
    placed.finish(work, seat.at(groups, crossing.before))
