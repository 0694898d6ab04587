"""Memory per GPU by kind and pipeline stage, against what the GPU has."""

from dataclasses import dataclass

from sim.catalogue.gpus import GPUS, Gpu
from sim.errors import ScenarioError
from sim.scenario import Scenario, legal_strategies
from sim.units import show_bytes
from sim.workload.build import shape_of, strategy_of
from sim.workload.schedule.one_f_one_b import in_flight
from sim.workload.strategy import Strategy
from sim.workload.transformer import (
    BF16_BYTES,
    FP32_BYTES,
    Shape,
    head_activation_bytes,
    layer_activation_bytes,
    stage_parameters,
)

# bf16 weights, fp32 gradients, fp32 master weights and Adam's two moments: 18 bytes per parameter, of which
# the distributed optimizer divides the last 12 over the data-parallel ranks (Megatron-LM docs, distributed optimizer)
OPTIMIZER_BYTES = 3 * FP32_BYTES
KINDS = ("weights", "gradients", "optimizer", "activations")


@dataclass(frozen=True)
class MemoryRow:
    """Bytes on each GPU of one pipeline stage."""

    stage: int
    weights: int
    gradients: int
    optimizer: int
    activations: int

    @property
    def total(self) -> int:
        return self.weights + self.gradients + self.optimizer + self.activations

    def by_kind(self) -> dict[str, int]:
        return {kind: getattr(self, kind) for kind in KINDS}


@dataclass(frozen=True)
class Feasibility:
    """Whether one iteration fits the memory of the GPU; rows are empty for plain traffic."""

    fits: bool
    rows: tuple[MemoryRow, ...]
    capacity_bytes: int
    message: str


def memory_per_gpu(shape: Shape, strategy: Strategy) -> tuple[MemoryRow, ...]:
    """One row per pipeline stage.

    Activations: layers of the stage x micro-batches in flight under 1F1B x sbh(10 + 24/t + 5as/(ht))
    (arXiv 2205.05198 table 2), and on the last stage those of the head for one micro-batch.
    """
    layers = shape.layers // strategy.pp
    per_layer = layer_activation_bytes(shape, strategy.micro_batch, strategy.tp)
    shards = strategy.dp if strategy.distributed_optimizer else 1
    rows = []
    for stage in range(strategy.pp):
        parameters = stage_parameters(shape, strategy.tp, strategy.pp, stage)
        activations = per_layer * layers * in_flight(stage, strategy.pp, strategy.micro_batches)
        if stage == strategy.pp - 1:
            activations += head_activation_bytes(shape, strategy.micro_batch, strategy.tp)
        rows.append(
            MemoryRow(
                stage=stage,
                weights=BF16_BYTES * parameters,
                gradients=FP32_BYTES * parameters,
                optimizer=OPTIMIZER_BYTES * -(-parameters // shards),
                activations=round(activations),
            )
        )
    return tuple(rows)


def feasibility(scenario: Scenario) -> Feasibility:
    """The verdict in one line, with the nearest strategy that fits if this one does not."""
    gpu = GPUS[scenario.cluster.gpu]
    if scenario.traffic is not None:
        return Feasibility(True, (), gpu.memory_bytes, "plain traffic needs no GPU memory")
    rows = memory_per_gpu(shape_of(scenario.model), strategy_of(scenario.parallelism))
    worst = max(rows, key=lambda row: row.total)
    kinds = ", ".join(f"{kind} {show_bytes(size)}" for kind, size in worst.by_kind().items())
    need = f"stage {worst.stage} needs {show_bytes(worst.total)} of the {show_bytes(gpu.memory_bytes)} of a {gpu.name} ({kinds})"
    if worst.total <= gpu.memory_bytes:
        return Feasibility(True, rows, gpu.memory_bytes, f"fits: {need}")
    return Feasibility(False, rows, gpu.memory_bytes, f"does not fit: {need}; {_nearest_that_fits(scenario, gpu)}")


def _nearest_that_fits(scenario: Scenario, gpu: Gpu) -> str:
    wish = scenario.parallelism
    if wish.optimizer == "all-reduce" and wish.dp > 1 and _fits(scenario, gpu, {"parallelism.optimizer": "distributed"}):
        return 'optimizer = "distributed" fits'
    for tp, pp, dp in legal_strategies(scenario.model, scenario.cluster, wish, wish.tp, wish.pp, wish.dp):
        strategy = {"parallelism.tp": tp, "parallelism.pp": pp, "parallelism.dp": dp}
        if (tp == 1 or scenario.cluster.nvlink_gbps > 0) and _fits(scenario, gpu, strategy):
            return f"TP {tp} PP {pp} DP {dp} fits"
    return "no TP x PP x DP of these GPUs fits: take more GPUs, a smaller micro_batch, or a GPU with more memory"


def _fits(scenario: Scenario, gpu: Gpu, changes: dict) -> bool:
    try:
        other = scenario.replace_all(changes)
    except ScenarioError:
        return False
    rows = memory_per_gpu(shape_of(other.model), strategy_of(other.parallelism))
    return max(row.total for row in rows) <= gpu.memory_bytes
