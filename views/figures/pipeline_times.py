"""A pipeline schedule played on a network that takes no time, and the bubble that its formula gives."""

from dataclasses import dataclass

import numpy as np

from sim.workload.schedule.choose import order_of
from sim.workload.schedule.order import Op

FORWARD_S, BACKWARD_S = 1.0, 2.0  # in forward passes of a stage: products with weights, for outputs once, for gradients twice


@dataclass(frozen=True)
class Passes:
    """N passes of all stages, in units of the forward pass of a micro-batch through a stage."""

    stage: np.ndarray
    op: np.ndarray  # Op
    micro_batch: np.ndarray
    chunk: np.ndarray
    start: np.ndarray
    end: np.ndarray

    def bubble(self, micro_batches: int) -> float:
        """Time that a stage stands idle over the work of a stage."""
        work = (self.end - self.start)[self.stage == 0].sum()
        return float(self.end.max() / work - 1)


@dataclass(frozen=True)
class Bubble:
    """Idle time over the work of a stage, by formula."""

    share: float
    formula: str  # in letters
    numbers: str  # the same with the numbers of the strategy
    source: str


def durations(schedule: str, recompute: str) -> tuple[float, float, float]:
    """Of a forward pass, a backward pass, and the gradients of weights where a schedule keeps them apart (else 0)."""
    again = FORWARD_S if recompute == "full" else 0.0
    if schedule == "zb-h1":
        return FORWARD_S, BACKWARD_S / 2 + again, BACKWARD_S / 2
    return FORWARD_S, BACKWARD_S + again, 0.0


def bubble_of(schedule: str, stages: int, micro_batches: int, chunks: int = 1, recompute: str = "none") -> Bubble:
    """What the papers give for a pipeline of equal stages."""
    p, m, v = stages, micro_batches, chunks
    if schedule == "zb-h1":
        forward, backward, weight = durations(schedule, recompute)
        part = (forward + backward + weight) / (forward + backward - weight)
        return Bubble(
            (p - 1) / (part * m), "(p − 1)(F + B − W) / (m (F + B + W))", f"{p - 1}/({part:g} · {m})", "arXiv 2401.10241 section 2.3"
        )
    if schedule == "interleaved":
        return Bubble((p - 1) / (v * m), "(p − 1)/(v m)", f"{p - 1}/({v} · {m})", "arXiv 2104.04473 section 2.2")
    return Bubble((p - 1) / m, "(p − 1)/m", f"{p - 1}/{m}", "arXiv 2104.04473 section 2.2.1")


def play(schedule: str, stages: int, micro_batches: int, chunks: int = 1, recompute: str = "none") -> Passes:
    """Every pass as early as the order of its stage and the passes next door let it."""
    lasts = dict(zip(Op, durations(schedule, recompute), strict=True))
    orders = [order_of(schedule, stage, stages, micro_batches, chunks) for stage in range(stages)]
    todo = [list(zip(order.op.tolist(), order.micro_batch.tolist(), order.chunk.tolist(), strict=True)) for order in orders]
    ended: dict[tuple[int, int, int], float] = {}
    free, at, rows = [0.0] * stages, [0] * stages, []
    waiting = list(range(stages))
    while waiting:
        stage = waiting.pop()
        while at[stage] < len(todo[stage]):
            op, micro_batch, chunk = todo[stage][at[stage]]
            own = chunk * stages + stage
            needs = _needs(op, micro_batch, own, stages * chunks)
            if needs is not None and needs not in ended:
                break
            start = max(free[stage], 0.0 if needs is None else ended[needs])
            free[stage] = ended[op, micro_batch, own] = start + lasts[Op(op)] / chunks
            rows.append((stage, op, micro_batch, chunk, start, free[stage]))
            at[stage] += 1
            waiting += [next_door for next_door in ((stage + 1) % stages, (stage - 1) % stages) if next_door != stage]
    columns = np.array(rows).T
    return Passes(*columns[:4].astype(int), *columns[4:])


def _needs(op: int, micro_batch: int, own: int, parts: int) -> tuple[int, int, int] | None:
    """The pass that must have ended; parts of the model are numbered from the first layer on."""
    if op == Op.FORWARD:
        return (Op.FORWARD, micro_batch, own - 1) if own else None
    if op == Op.WEIGHT:
        return Op.BACKWARD, micro_batch, own
    return (Op.BACKWARD, micro_batch, own + 1) if own < parts - 1 else (Op.FORWARD, micro_batch, own)
