"""Memory per GPU by kind and pipeline stage, against what the GPU has."""

from collections.abc import Iterator
from dataclasses import dataclass

from sim.catalogue.gpus import GPUS, Gpu
from sim.errors import ScenarioError
from sim.scenario import Scenario, legal_strategies
from sim.units import show_bytes
from sim.workload.activations import head_bytes, layer_bytes, passes_in_flight
from sim.workload.jobs import shape_of, strategy_of
from sim.workload.strategy import Strategy
from sim.workload.transformer import (
    BF16_BYTES,
    Shape,
    expert_parameters,
    layer_parameters,
    stage_expert_parameters,
    stage_layers,
    stage_parameters,
)

KINDS = ("weights", "gradients", "optimizer", "activations", "working")
WORKING_LAYERS = 2  # of ZeRO-3: the layer that is computed and the next, gathered meanwhile
ADAM_BYTES = 12  # fp32 master weight and two moments, per parameter

# bytes per parameter, whole and shared out over d GPUs: weights, gradients, Adam's states. Together 18, 6 + 12/d (Megatron-LM docs,
# distributed optimizer), 4 + 12/d, 2 + 14/d, 16/d (arXiv 1910.02054 section 5)
STATES = {
    "all-reduce": ((2, 0), (4, 0), (ADAM_BYTES, 0)),
    "distributed": ((2, 0), (4, 0), (0, ADAM_BYTES)),
    "zero-1": ((2, 0), (2, 0), (0, ADAM_BYTES)),
    "zero-2": ((2, 0), (0, 2), (0, ADAM_BYTES)),
    "zero-3": ((0, 2), (0, 2), (0, ADAM_BYTES)),
}


@dataclass(frozen=True)
class MemoryRow:
    """Bytes on each GPU of one pipeline stage."""

    stage: int
    weights: int
    gradients: int
    optimizer: int
    activations: int
    working: int = 0  # what lives for a layer only: gathered weights of ZeRO-3, the layer that is recomputed

    @property
    def total(self) -> int:
        return sum(self.by_kind().values())

    def by_kind(self) -> dict[str, int]:
        return {kind: size for kind in KINDS if (size := getattr(self, kind)) or kind != "working"}


@dataclass(frozen=True)
class Feasibility:
    """Whether one iteration fits the memory of the GPU; rows are empty for plain traffic."""

    fits: bool
    rows: tuple[MemoryRow, ...]
    capacity_bytes: int
    message: str


def memory_per_gpu(shape: Shape, strategy: Strategy) -> tuple[MemoryRow, ...]:
    """One row per pipeline stage.

    States: bytes per parameter as in `STATES`, d = cp x dp, for routed experts cp x dp/ep. Activations: layers of the stage x
    passes in flight x `layer_bytes`, and on the last stage those of the head for one micro-batch.
    """
    return tuple(stage_memory(shape, strategy, stage) for stage in range(strategy.pp))


def state_bytes(parameters: int, optimizer: str, shards: int) -> tuple[int, int, int]:
    """Bytes of weights, gradients and Adam's states for so many parameters, shared out over `shards` GPUs as `optimizer` does."""
    return tuple(whole * parameters + shared * -(-parameters // shards) for whole, shared in STATES[optimizer])


def activation_bytes(shape: Shape, strategy: Strategy, stage: int) -> float:
    """Bytes that a GPU of a stage keeps for backward passes at its peak."""
    layers = stage_layers(shape, strategy.pp, stage, strategy.chunks)
    passes = passes_in_flight(strategy.schedule, stage, strategy.pp, strategy.micro_batches, strategy.chunks)
    kept = passes / strategy.chunks * sum(_layer(shape, strategy, shape.has_experts(layer)) for layer in layers)
    if stage == strategy.pp - 1:
        kept += head_bytes(shape, strategy.micro_batch, strategy.tp, strategy.cp, strategy.sequence_parallel)
    return kept


def _layer(shape: Shape, strategy: Strategy, experts: bool, recompute: str | None = None) -> float:
    how = strategy.recompute if recompute is None else recompute
    return layer_bytes(shape, strategy.micro_batch, strategy.tp, strategy.cp, how, strategy.sequence_parallel, experts)


def stage_memory(shape: Shape, strategy: Strategy, stage: int) -> MemoryRow:
    """Bytes on a GPU of one pipeline stage."""
    common = stage_parameters(shape, strategy.tp, strategy.pp, stage, strategy.chunks)
    experts = stage_expert_parameters(shape, strategy.tp, strategy.pp, strategy.ep, stage, strategy.chunks)
    states = zip(
        state_bytes(common, strategy.optimizer, strategy.replicas), state_bytes(experts, strategy.optimizer, strategy.expert_replicas), strict=True
    )
    weights, gradients, optimizer = map(sum, states)
    return MemoryRow(
        stage, weights, gradients, optimizer, round(activation_bytes(shape, strategy, stage)), round(_working_bytes(shape, strategy, stage))
    )


def _working_bytes(shape: Shape, strategy: Strategy, stage: int) -> float:
    """Bytes of what lives for a layer only."""
    with_experts = any(shape.has_experts(layer) for layer in stage_layers(shape, strategy.pp, stage, strategy.chunks))
    working = 0.0
    if strategy.recompute == "full":
        working += _layer(shape, strategy, with_experts, "selective")
    if strategy.optimizer == "zero-3":
        layer = layer_parameters(shape, strategy.tp, with_experts)
        layer += with_experts * shape.experts // strategy.ep * expert_parameters(shape, strategy.tp)
        working += WORKING_LAYERS * BF16_BYTES * layer
    return working


def feasibility(scenario: Scenario) -> Feasibility:
    """The verdict in one line, with the nearest strategy that fits if this one does not."""
    gpu = GPUS[scenario.cluster.gpu]
    if scenario.model is None:
        return Feasibility(True, (), gpu.memory_bytes, "plain traffic needs no GPU memory")
    rows = memory_per_gpu(shape_of(scenario.model), strategy_of(scenario.parallelism))
    worst, need = _worst(rows, gpu)
    if worst.total <= gpu.memory_bytes:
        return Feasibility(True, rows, gpu.memory_bytes, f"fits: {need}")
    return Feasibility(False, rows, gpu.memory_bytes, f"does not fit: {need}; {_nearest_that_fits(scenario, gpu)}")


def _worst(rows: tuple[MemoryRow, ...], gpu: Gpu) -> tuple[MemoryRow, str]:
    """The stage that needs most, and what it needs in words."""
    worst = max(rows, key=lambda row: row.total)
    kinds = ", ".join(f"{kind} {show_bytes(size)}" for kind, size in worst.by_kind().items())
    return worst, f"stage {worst.stage} needs {show_bytes(worst.total)} of the {show_bytes(gpu.memory_bytes)} of a {gpu.name} ({kinds})"


def memory_notices(scenario: Scenario) -> list[str]:
    """One line for every job that does not fit the memory of its GPUs: its network can be simulated all the same."""
    if scenario.model is None:
        return []
    gpu, said = GPUS[scenario.cluster.gpu], []
    for where, job in [("", scenario), *((f"jobs.{index}: ", job) for index, job in enumerate(scenario.jobs))]:
        worst, need = _worst(memory_per_gpu(shape_of(job.model), strategy_of(job.parallelism)), gpu)
        if worst.total > gpu.memory_bytes:
            said.append(f"{where}does not fit its GPUs: {need}; simulated all the same")
    return said


def _nearest_that_fits(scenario: Scenario, gpu: Gpu) -> str:
    for changes in _cheap_changes(scenario):
        if _fits(scenario, gpu, changes):
            return _in_words([_as_written(key, value) for key, value in changes.items()])
    layouts = list(_layouts(scenario))
    for more in ({}, {"parallelism.recompute": "full"}, {"parallelism.optimizer": "zero-3"}):
        for words, layout in [("", {})] * bool(more) + layouts:
            if _fits(scenario, gpu, {**layout, **more}):
                return _in_words([words] * bool(words) + [_as_written(key, value) for key, value in more.items()])
    return "no TP x PP x DP of these GPUs fits: take more GPUs, a smaller micro_batch, or a GPU with more memory"


def _cheap_changes(scenario: Scenario) -> Iterator[dict]:
    """What leaves the ranks where they are: optimizer states shared out, then activations recomputed or cut."""
    wish = scenario.parallelism
    optimizer = {"parallelism.optimizer": "distributed"} if wish.optimizer == "all-reduce" and wish.dp * wish.cp > 1 else {}
    cut = {"parallelism.sequence_parallel": True} if wish.tp > 1 and not wish.sequence_parallel else {}
    selective = {"parallelism.recompute": "selective"} if wish.recompute == "none" else {}
    full = {"parallelism.recompute": "full"} if wish.recompute != "full" else {}
    for activations in ({}, selective, cut, {**selective, **cut}, full):
        for states in ({}, optimizer):
            if states or activations:
                yield {**states, **activations}


def _layouts(scenario: Scenario) -> Iterator[tuple[str, dict]]:
    """Other ways to cut the model over the same GPUs, nearest first."""
    wish = scenario.parallelism
    for tp, pp, dp in legal_strategies(scenario.model, scenario.cluster, wish, wish.tp, wish.pp, wish.dp):
        if tp == 1 or scenario.cluster.nvlink_gbps > 0:
            yield f"TP {tp} PP {pp} DP {dp}", {"parallelism.tp": tp, "parallelism.pp": pp, "parallelism.dp": dp}


def _in_words(changes: list[str]) -> str:
    first, *others = changes
    return first + (" with " + " and ".join(others) if others else "") + " fits"


def _as_written(key: str, value: object) -> str:
    return f"{key.partition('.')[2]} = " + (f'"{value}"' if isinstance(value, str) else str(value).lower())


def _fits(scenario: Scenario, gpu: Gpu, changes: dict) -> bool:
    try:
        other = scenario.replace_all(changes)
    except ScenarioError:
        return False
    rows = memory_per_gpu(shape_of(other.model), strategy_of(other.parallelism))
    return max(row.total for row in rows) <= gpu.memory_bytes
