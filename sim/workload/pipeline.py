"""Pipeline parallelism: what a stage hands to its neighbours, activations forward and gradients back."""

import numpy as np

from sim.workload.blocks import FlowKind
from sim.workload.collect import Work
from sim.workload.collective.template import instantiate, send
from sim.workload.schedule.order import Op
from sim.workload.seat import Seat
from sim.workload.strategy import Strategy
from sim.workload.transformer import Shape, hidden_state_bytes

FORWARD_DRAWS, BACKWARD_DRAWS = 1, 2  # draw keys: twins of other replicas and rails draw alike, the two directions do not


def message_bytes(shape: Shape, strategy: Strategy) -> int:
    """2sbh/(tc): every tensor-parallel rank sends its share and the receivers gather (arXiv 2104.04473 section 4.1)."""
    return -(-hidden_state_bytes(shape, strategy.micro_batch) // (strategy.tp * strategy.cp))


def hand_over(work: Work, shape: Shape, strategy: Strategy, seats: list[Seat]) -> None:
    """Messages over every boundary of virtual stages, by boundary, direction, micro-batch and rank.

    A message leaves when the pass that makes it ends and the one before it on its queue pair has arrived, and its arrival
    releases the same pass next door; there the tensor-parallel ranks meet in their first all-reduce, whoever got its share last.
    """
    p, every = strategy.pp, np.arange(strategy.micro_batches)
    size = np.full((strategy.micro_batches, 1, 1), message_bytes(shape, strategy))
    if p == 1:
        return
    for left in range(p * strategy.chunks - 1):
        here, there = divmod(left, p), divmod(left + 1, p)
        for op, draw, (chunk, stage), (to_chunk, to_stage) in (
            (Op.FORWARD, FORWARD_DRAWS, here, there), (Op.BACKWARD, BACKWARD_DRAWS, there, here),
        ):  # fmt: skip
            sender, receiver = seats[stage], seats[to_stage]
            pairs = np.stack([strategy.stage_ranks(stage), strategy.stage_ranks(to_stage)], axis=1)
            ends = sender.line.last[op, chunk][:, None] + sender.task
            first = receiver.line.first[op, to_chunk][:, None] + receiver.task
            sent = instantiate(
                work, send(), sender.hosts(pairs), every, 1, FlowKind.PP,
                ready=np.stack([ends, ends], axis=2), microbatch=every, sizes=size, draw=draw,
            )  # fmt: skip
            sent.finish(work, np.stack([first, first], axis=2))
            sent.in_turn(work, np.argsort(sender.line.last[op, chunk]))
