"""The ZB-H1 schedule: gradients of weights apart from those of inputs, to fill the bubble (arXiv 2401.10241 section 2.3)."""

import numpy as np

from sim.workload.schedule.order import Op, Order


def order(stage: int, stages: int, micro_batches: int) -> Order:
    """What a stage does, in order.

    Notes
    -----
    As 1F1B, but stage i puts off the gradients of its weights by i micro-batches, so that the gradients of inputs travel
    up at once and the put-off work fills the end. The pipeline idles for (p - 1)(tF + tB - tW) against 1F1B's
    (p - 1)(tF + tB + tW); as many micro-batches are in flight as on 1F1B's first stage at most.
    """
    warm = min(stages - stage - 1, micro_batches)
    op, micro_batch = [Op.FORWARD] * warm, list(range(warm))
    for done in range(micro_batches):
        if warm + done < micro_batches:
            op.append(Op.FORWARD)
            micro_batch.append(warm + done)
        op.append(Op.BACKWARD)
        micro_batch.append(done)
        if done >= stage:
            op.append(Op.WEIGHT)
            micro_batch.append(done - stage)
    left = range(max(0, micro_batches - stage), micro_batches)
    return Order.of(np.array(op + [Op.WEIGHT] * len(left)), np.array(micro_batch + list(left)))
