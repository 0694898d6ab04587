"""Bytes that a GPU sends in one iteration by kind of parallelism: in closed form, and counted where that does not hold."""

from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from sim.scenario import Scenario
from sim.workload.collect import Tally
from sim.workload.context import key_value_elements
from sim.workload.experts import token_elements
from sim.workload.jobs import shape_of, strategy_of, tally
from sim.workload.placement import place
from sim.workload.strategy import Strategy
from sim.workload.transformer import (
    BF16_BYTES,
    FP32_BYTES,
    Shape,
    embedding_parameters,
    hidden_state_bytes,
    stage_expert_parameters,
    stage_layers,
    stage_parameters,
)

AGREES = 1e-4  # a formula stands for what is counted to 4 digits
ALL_REDUCES_PER_LAYER = 4  # two forward, two backward (arXiv 1909.08053 section 3)


@dataclass(frozen=True)
class BytesRow:
    """Bytes that each GPU of a pipeline stage sends in one iteration."""

    kind: str  # "TP", "CP", "EP", "PP", "DP" or "EMBEDDING"
    stage: int
    sent_bytes: float
    over: str  # "NVLink" or "network"
    formula: str


def sent_bytes(shape: Shape, strategy: Strategy, gpus_per_node: int = 0) -> list[BytesRow]:
    """Closed forms of every kind and stage (arXiv 2205.05198 section 4.2.2, 2104.04473 section 3, 1910.02054 section 7,
    2101.03961 section 2.2); ring and direct algorithms, even load of experts. The mean over the GPUs of a stage."""
    return [row for stage in range(strategy.pp) for row in _of_stage(shape, strategy, stage, gpus_per_node)]


def _of_stage(shape: Shape, strategy: Strategy, stage: int, gpus_per_node: int) -> list[BytesRow]:
    t, p, c, m, e = strategy.tp, strategy.pp, strategy.cp, strategy.micro_batches, strategy.ep
    state = hidden_state_bytes(shape, strategy.micro_batch) / c
    layers = stage_layers(shape, p, stage, strategy.chunks)
    full = strategy.recompute == "full"
    reduces = ALL_REDUCES_PER_LAYER + 2 * full
    tensor = reduces * len(layers) * m * 2 * (t - 1) / t * state
    inside = t <= gpus_per_node or not gpus_per_node
    rows = [BytesRow("TP", stage, tensor, "NVLink" if inside else "network", f"{reduces} layers m 2(t-1)/t 2sbh{'/c' * (c > 1)}")]
    if c > 1:
        keys = (3 + full) * len(layers) * m * (c - 1) / c * BF16_BYTES * key_value_elements(shape, strategy)
        rows.append(BytesRow("CP", stage, keys, "network", f"{3 + full} layers m (c-1)/c 2 x 2sbhk/(at)"))
    if e > 1:
        routed, times = sum(shape.has_experts(layer) for layer in layers), ALL_REDUCES_PER_LAYER + 2 * full
        element = BF16_BYTES * times - (strategy.precision == "fp8") * (1 + full)
        tokens = element * routed * m * (e - 1) / e * token_elements(shape, strategy)
        rows.append(BytesRow("EP", stage, tokens, "network", f"{times} layers m (e-1)/e Kh x 2sb/(tc)"))
    boundaries = 2 * strategy.chunks - (stage == 0) - (stage == p - 1) if p > 1 else 0
    rows.append(BytesRow("PP", stage, boundaries * m * state / t, "network", "boundaries m 2sbh/t" + "c" * (c > 1)))
    rows.append(_gradients(shape, strategy, stage))
    tied = shape.tied and p > 1 and stage in (0, p - 1)
    gradient = strategy.gradient_bytes
    rows.append(BytesRow("EMBEDDING", stage, gradient * embedding_parameters(shape, t) if tied else 0, "network", f"{gradient} Vh/t"))
    return rows


def _gradients(shape: Shape, strategy: Strategy, stage: int) -> BytesRow:
    dense = stage_parameters(shape, strategy.tp, strategy.pp, stage, strategy.chunks)
    routed = stage_expert_parameters(shape, strategy.tp, strategy.pp, strategy.ep, stage, strategy.chunks) if shape.experts else 0
    shares = sum(size * (n - 1) / n for size, n in ((dense, strategy.replicas), (routed, strategy.expert_replicas)))
    m, gradient = strategy.micro_batches, strategy.gradient_bytes
    each, formula = {
        "all-reduce": (2 * FP32_BYTES, "2(d-1)/d 4 P"),
        "distributed": (FP32_BYTES + BF16_BYTES, "(d-1)/d (4 + 2) P"),
        "zero-1": (gradient + BF16_BYTES, "(d-1)/d (2 + 2) P"),
        "zero-2": (m * gradient + BF16_BYTES, "(d-1)/d (2m + 2) P"),
        "zero-3": (3 * m * BF16_BYTES, "3(d-1)/d m 2P"),
    }[strategy.optimizer]
    return BytesRow("DP", stage, each * shares, "network", formula)


def bytes_per_gpu(scenario: Scenario, counts: Tally | None = None) -> list[BytesRow]:
    """Rows of a scenario's own job, of all its iterations; none for plain traffic and imported work.

    What is sent as messages is counted, in `counts` (`jobs.tally` of the scenario); the formula is told where it agrees.
    """
    if scenario.model is None:
        return []
    strategy, times = strategy_of(scenario.parallelism), scenario.parallelism.iterations
    sent = _counted(scenario, strategy, tally(scenario) if counts is None else counts)
    rows = []
    for row in sent_bytes(shape_of(scenario.model), strategy, scenario.cluster.gpus_per_node):
        by_formula = row.sent_bytes * times
        found = sent.get((row.kind, row.stage), by_formula)
        agrees = abs(found - by_formula) <= AGREES * by_formula
        rows.append(BytesRow(row.kind, row.stage, found, row.over, row.formula if agrees else f"counted: {_what(row.kind, strategy)}"))
    return rows


def _counted(scenario: Scenario, strategy: Strategy, counts: Tally) -> dict[tuple[str, int], float]:
    """By kind and stage, what the messages of a scenario's own job make a GPU send on average."""
    gpus = strategy.world if scenario.jobs else scenario.cluster.gpus
    host = place(strategy, gpus, scenario.cluster.gpus_per_node, scenario.simulation.seed)
    stage = np.full(scenario.cluster.gpus, strategy.pp)  # whatever belongs to others comes behind the last
    stage[host] = np.arange(strategy.world) // strategy.ranks_per_stage
    total: dict[tuple[str, int], float] = defaultdict(float)
    times, of = Counter(map(id, counts.counted)), {id(one): one for one in counts.counted}
    for number, one in of.items():
        size = np.broadcast_to(one.n_bytes.sum(axis=0, dtype=np.float64), one.src.shape)
        sent = np.bincount(stage[one.src].ravel(), size.ravel(), minlength=strategy.pp + 1)[: strategy.pp]
        for at in np.flatnonzero(sent).tolist():
            total[one.kind.name, at] += float(sent[at]) * times[number] / strategy.ranks_per_stage
    return total


def _what(kind: str, strategy: Strategy) -> str:
    """Why a formula does not hold."""
    why = {
        "DP": [strategy.gradient_algorithm] * (strategy.gradient_algorithm != "ring"),
        "EP": [strategy.expert_algorithm] * (strategy.expert_algorithm != "direct")
        + ([] if strategy.capacity_factor is None else [f"capacity {strategy.capacity_factor:g}"])
        + [f"skew {strategy.expert_skew:g}"] * (strategy.expert_skew > 0),
    }
    return ", ".join(why.get(kind, [])) or "messages of whole elements"
