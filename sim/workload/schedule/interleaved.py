"""The interleaved 1F1B schedule: every GPU holds several parts of the model (arXiv 2104.04473 section 2.2)."""

import numpy as np

from sim.workload.schedule.order import Op, Order, alternating


def order(stage: int, stages: int, micro_batches: int, chunks: int) -> Order:
    """What a stage does, in order; `micro_batches` is a multiple of `stages`.

    Notes
    -----
    Micro-batches go through in groups of p: all of a group through one chunk, then through the next. Stage i runs
    2(p - i - 1) + (v - 1)p forwards ahead; the pipeline idles for (p - 1)/(v m) of the work of a stage.
    """
    count = np.arange(micro_batches * chunks)
    group, within = np.divmod(count, stages * chunks)
    chunk, place = np.divmod(within, stages)
    micro_batch = group * stages + place
    warm = len(count) if micro_batches == stages else 2 * (stages - stage - 1) + (chunks - 1) * stages
    return alternating(Order.of(Op.FORWARD, micro_batch, chunk), Order.of(Op.BACKWARD, micro_batch, chunks - 1 - chunk), warm)
