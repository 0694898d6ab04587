"""The GPipe schedule: all forwards, then all backwards, the last micro-batch first (arXiv 1811.06965 section 2.2)."""

import numpy as np

from sim.workload.schedule.order import Op, Order


def order(stage: int, stages: int, micro_batches: int) -> Order:
    """What every stage does, in order. The pipeline idles for (p - 1)/m of the work of a stage; m micro-batches are in flight."""
    every = np.arange(micro_batches)
    return Order.of(np.repeat([Op.FORWARD, Op.BACKWARD], micro_batches), np.concatenate([every, every[::-1]]))
