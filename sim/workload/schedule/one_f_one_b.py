"""The 1F1B pipeline schedule: warm-up forwards, then one forward and one backward in turn (arXiv 2104.04473 section 2.2)."""

import numpy as np

from sim.workload.schedule.order import Op, Order, alternating


def order(stage: int, stages: int, micro_batches: int) -> Order:
    """What a stage does, in order.

    Notes
    -----
    Stage i runs min(p - i - 1, m) forwards ahead, so at most min(p - i, m) micro-batches are in flight;
    the pipeline idles for (p - 1)/m of the work of a stage.
    """
    every = np.arange(micro_batches)
    return alternating(Order.of(Op.FORWARD, every), Order.of(Op.BACKWARD, every), stages - stage - 1)


def in_flight(stage: int, stages: int, micro_batches: int) -> int:
    """Micro-batches whose activations a stage holds at once."""
    return min(stages - stage, micro_batches)
