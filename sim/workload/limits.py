"""How large a training job can be: what a graph can hold and 64-bit numbers can count, checked before anything of it is built."""

from sim.errors import ScenarioError
from sim.scenario_parts import MAX_FLOW_BYTES, MAX_START_US
from sim.units import PS_PER_S, PS_PER_US, show_bytes, show_count, show_time
from sim.workload.context import key_value_elements
from sim.workload.experts import token_elements
from sim.workload.strategy import Strategy
from sim.workload.timing import Durations
from sim.workload.transformer import BF16_BYTES, Shape, hidden_state_bytes, stage_expert_parameters, stage_parameters

MAX_MESSAGES = 20_000_000  # a graph of so many takes some 6 GB
MAX_TASKS = 40_000_000  # some 8 GB
MAX_PARAMETERS = 2**50  # on one GPU: four bytes each are still a whole number of 64 bits, many times over
LONGEST_PS = int(MAX_START_US * PS_PER_US)


def check_size(shape: Shape, strategy: Strategy, iterations: int = 1, channels: int = 1) -> None:
    """ScenarioError for a job with too many or too large messages, as far as that is known without counting them one by one.

    `channels` are those of its gradients.
    """
    what = {
        "the output of a layer": hidden_state_bytes(shape, strategy.micro_batch),
        "keys and values of a layer": 2 * BF16_BYTES * key_value_elements(shape, strategy) if strategy.cp > 1 else 0,
        "tokens on their way to experts": BF16_BYTES * token_elements(shape, strategy) if strategy.ep > 1 else 0,
    }
    name = max(what, key=what.get)
    if what[name] > MAX_FLOW_BYTES:
        raise ScenarioError(
            f"parallelism.micro_batch = {strategy.micro_batch} x model.sequence = {shape.sequence} x model.hidden = {shape.hidden} make {name} "
            f"{show_bytes(what[name])}; at most {show_bytes(MAX_FLOW_BYTES)}"
        )
    largest = max(
        stage_parameters(shape, strategy.tp, strategy.pp, stage, strategy.chunks)
        + (stage_expert_parameters(shape, strategy.tp, strategy.pp, strategy.ep, stage, strategy.chunks) if shape.experts else 0)
        for stage in {0, strategy.pp - 1}
    )
    if largest > MAX_PARAMETERS:
        raise ScenarioError(f"[model] and [parallelism] put {show_count(largest)} parameters on one GPU; at most {show_count(MAX_PARAMETERS)}: use more GPUs")
    check_counts(least_messages(shape, strategy, largest, channels) * iterations, least_tasks(shape, strategy) * iterations)


def check_counts(messages: int, tasks: int) -> None:
    """ScenarioError for more messages or tasks than a graph can hold."""
    for what, count, most in (("messages", messages, MAX_MESSAGES), ("tasks", tasks, MAX_TASKS)):
        if count > most:
            raise ScenarioError(
                f"[parallelism] makes {show_count(count)} {what} or more; a graph holds at most {show_count(most)}: use fewer parallelism.iterations or "
                "parallelism.micro_batches, a larger parallelism.bucket_parameters, or fewer parallelism.channels"
            )


def least_messages(shape: Shape, strategy: Strategy, parameters: int, channels: int = 1) -> int:
    """Messages that an iteration needs at least, with `parameters` on a GPU of some stage: those of its layers, its gradients, its stages."""
    m, ranks, replicas = strategy.micro_batches, strategy.ranks_per_stage, strategy.replicas
    context = (2 if strategy.context_form == "ring" else 3) * shape.layers * (strategy.cp - 1)
    tokens = 4 * _routed(shape) * (1 if strategy.expert_algorithm == "hierarchical" else strategy.ep - 1) if strategy.ep > 1 else 0
    if strategy.optimizer == "zero-3":
        gradients = 3 * m * shape.layers * _least_of_ring(strategy, replicas, channels)
    else:
        turns = 1 + (m if strategy.optimizer == "zero-2" else 1)
        gradients = turns * (parameters // strategy.bucket_size) * _least_of_ring(strategy, strategy.expert_replicas if shape.experts else replicas, channels)
    return ranks * (m * (context + tokens) + gradients + 2 * m * (strategy.pp * strategy.chunks - 1))


def _least_of_ring(strategy: Strategy, members: int, channels: int) -> int:
    """Messages that a member sends at least to gather or to scatter."""
    return channels * (members - 1) if strategy.gradient_algorithm == "ring" else min(1, members - 1)


def _routed(shape: Shape) -> int:
    return sum(shape.has_experts(layer) for layer in range(shape.layers))


def least_tasks(shape: Shape, strategy: Strategy) -> int:
    """Tasks that an iteration needs at least: a forward and a backward pass of every micro-batch, by layer where something waits for layers."""
    if strategy.cp > 1 or strategy.optimizer in ("zero-2", "zero-3"):
        layers = shape.layers
    else:
        layers = max(_routed(shape) if strategy.ep > 1 else 0, strategy.pp * strategy.chunks)
    return 2 * strategy.micro_batches * strategy.ranks_per_stage * layers


def check_time(shape: Shape, strategy: Strategy, times: Durations, iterations: int = 1, slowdown: float = 1.0) -> None:
    """ScenarioError for a job whose busiest GPU, that much slower than the others, would be at work for longer than can be counted."""
    m, layers = strategy.micro_batches, -(-shape.layers // strategy.pp)
    skewed = strategy.ep if strategy.expert_skew else 1
    layer_ps = 4 * (times.projections_ps + times.core_ps + max(times.mlp_ps, times.experts_ps * skewed)) + 6 * times.tensor_ps
    whole_ps = m * (layers * layer_ps + 3 * times.head_ps) * iterations * slowdown
    if not whole_ps <= LONGEST_PS:
        raise ScenarioError(
            f"one GPU would be at work for up to {show_time(whole_ps / PS_PER_S)}; at most {show_time(LONGEST_PS / PS_PER_S)}: use a larger "
            "parallelism.efficiency, more GPUs, or fewer parallelism.micro_batches and parallelism.iterations"
        )
