"""Tensor parallelism: who waits for whom in all-reduces of a layer's output (arXiv 1909.08053 section 3), and their messages beyond a server."""

import numpy as np

from sim.workload.blocks import FlowKind, TaskKind
from sim.workload.collect import Tally, Work
from sim.workload.collective.registry import template
from sim.workload.collective.template import instantiate
from sim.workload.seat import Seat, channels_of, members_per_node, stage_name
from sim.workload.strategy import Strategy
from sim.workload.transformer import BF16_BYTES, Shape


def all_reduce_outputs(work: Work, shape: Shape, strategy: Strategy, seat: Seat, gpus_per_node: int) -> None:
    """All all-reduces of a stage over the network, 2(t-1)/t x 2sbh/c bytes a rank each; rings go server by server."""
    crossing = seat.line.crossings(FlowKind.TP)
    if crossing is None:
        return
    groups, where = strategy.tensor_groups(seat.stage), stage_name(strategy, seat.stage)
    elements = shape.sequence * strategy.micro_batch * shape.hidden // strategy.cp
    inside = members_per_node(groups, seat.host, gpus_per_node)
    plan = template("all-reduce", "ring", strategy.tp, local=inside, channels=channels_of(strategy, "ring", strategy.tp, inside))
    placed = instantiate(
        work, plan, seat.hosts(groups), np.full(len(crossing.role), elements), BF16_BYTES, FlowKind.TP,
        ready=seat.at(groups, crossing.after), microbatch=crossing.microbatch,
        names=lambda k, g: f"tensor all-reduce, {where}, layer {crossing.layer[k]}, micro-batch {crossing.microbatch[k]}, group {g}",
    )  # fmt: skip
    placed.finish(work, seat.at(groups, crossing.before))


def meet(work: Work, strategy: Strategy, seat: Seat, uneven: bool) -> None:
    """All-reduces in the node wait for the task before them on every peer, where peers may come to them at different times.

    That is behind whatever waits for messages, and at the beginning; everywhere, if equal ranks may take `uneven` times.
    """
    if strategy.tp == 1 or isinstance(work, Tally):
        return
    reduces = np.flatnonzero(seat.line.kind == TaskKind.TP)
    if not uneven:
        behind = np.searchsorted(seat.line.waits_for_messages(strategy), reduces, side="right")
        reduces = reduces[np.diff(behind, prepend=0) > 0]
    groups = seat.task.reshape(1, -1, strategy.tp) + np.reshape(reduces, (-1, 1, 1))
    mine, peer = np.nonzero(~np.eye(strategy.tp, dtype=bool))
    work.done.add(groups[:, :, peer] - 1, groups[:, :, mine])
