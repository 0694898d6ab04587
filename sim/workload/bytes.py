"""Bytes that a GPU sends in one iteration by kind of parallelism, in closed form, and the sizes of the Dag."""

from dataclasses import dataclass

from sim.scenario import Scenario
from sim.workload.build import shape_of, strategy_of
from sim.workload.strategy import Strategy
from sim.workload.transformer import (
    BF16_BYTES,
    FP32_BYTES,
    Shape,
    embedding_parameters,
    hidden_state_bytes,
    stage_parameters,
)

ALL_REDUCES_PER_LAYER = 4  # two forward, two backward (arXiv 1909.08053 section 3)


@dataclass(frozen=True)
class BytesRow:
    """Bytes that each GPU of a pipeline stage sends in one iteration."""

    kind: str  # "TP", "PP", "DP" or "EMBEDDING"
    stage: int
    sent_bytes: float
    over: str  # "NVLink" or "network"
    formula: str


def sent_bytes(shape: Shape, strategy: Strategy) -> list[BytesRow]:
    """Closed forms of every kind and stage (arXiv 2205.05198 section 4.2.2, 2104.04473 section 3, 1910.02054 section 7)."""
    t, p, d, m = strategy.tp, strategy.pp, strategy.dp, strategy.micro_batches
    state = hidden_state_bytes(shape, strategy.micro_batch)
    rows = []
    for stage in range(p):
        parameters = stage_parameters(shape, t, p, stage)
        tensor = ALL_REDUCES_PER_LAYER * (shape.layers // p) * m * 2 * (t - 1) / t * state
        rows.append(BytesRow("TP", stage, tensor, "NVLink", "4 layers m 2(t-1)/t 2sbh"))
        neighbours = (stage > 0) + (stage < p - 1)
        rows.append(BytesRow("PP", stage, neighbours * m * state / t, "network", "neighbours m 2sbh/t"))
        if strategy.distributed_optimizer:
            data, formula = (d - 1) / d * (FP32_BYTES + BF16_BYTES) * parameters, "(d-1)/d (4 + 2) P"
        else:
            data, formula = 2 * (d - 1) / d * FP32_BYTES * parameters, "2(d-1)/d 4 P"
        rows.append(BytesRow("DP", stage, data, "network", formula))
        tied = FP32_BYTES * embedding_parameters(shape, t) if p > 1 and stage in (0, p - 1) else 0
        rows.append(BytesRow("EMBEDDING", stage, tied, "network", "4 Vh/t"))
    return rows


def bytes_per_gpu(scenario: Scenario) -> list[BytesRow]:
    """Rows of a scenario with a model; none for plain traffic."""
    if scenario.traffic is not None:
        return []
    return sent_bytes(shape_of(scenario.model), strategy_of(scenario.parallelism))
