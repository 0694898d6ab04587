"""Pipeline schedules by their names in a scenario."""

from sim.workload.schedule import gpipe, interleaved, one_f_one_b, zero_bubble
from sim.workload.schedule.order import Order


def order_of(schedule: str, stage: int, stages: int, micro_batches: int, chunks: int = 1) -> Order:
    """What a stage does, in order; several `chunks` with schedule "interleaved" only."""
    if schedule == "interleaved":
        return interleaved.order(stage, stages, micro_batches, chunks)
    return {"1f1b": one_f_one_b, "gpipe": gpipe, "zb-h1": zero_bubble}[schedule].order(stage, stages, micro_batches)
