"""How long a rank's own work takes: arithmetic, in-node all-reduces and the optimizer's memory traffic."""

from dataclasses import dataclass

from sim.catalogue.gpus import Gpu
from sim.errors import ScenarioError
from sim.units import BITS_PER_BYTE, PS_PER_S
from sim.workload.collective.latency import NVLS_LATENCY_PS, RING_BASE_LATENCY_PS, RING_STEP_LATENCY_PS
from sim.workload.strategy import Strategy
from sim.workload.transformer import (
    Shape,
    attention_forward_flops,
    core_forward_flops,
    head_forward_flops,
    hidden_state_bytes,
    mlp_forward_flops,
)

# Adam in mixed precision, per parameter: read gradient, weight and two moments, write weight and two
# moments in fp32, write the weight in bf16 (arXiv 1910.02054 section 3.1 has the states)
OPTIMIZER_BYTES_PER_PARAMETER = 4 * 4 + 3 * 4 + 2


@dataclass(frozen=True)
class Durations:
    """Of one layer or the head, one micro-batch, forward, on one GPU; ps, not rounded."""

    projections_ps: float  # of queries, keys, values and output
    core_ps: float  # scores and weighted values
    mlp_ps: float
    experts_ps: float  # router, shared experts and K routed ones, at even load
    head_ps: float
    tensor_ps: float  # one all-reduce of the layer's output among the tensor-parallel GPUs of a node; 0 over the network
    tensor_bytes: int  # what a GPU sends for it

    def weights_ps(self, experts: bool) -> float:
        """Products with weights: what a forward pass, the gradients of inputs and those of weights each need once."""
        return self.projections_ps + (self.experts_ps if experts else self.mlp_ps)


def tensor_all_reduce_latency_ps(tp: int, nvls: bool) -> int:
    """The better of a ring over NVLink and, where the switch can, a reduction in the switch."""
    ring = RING_BASE_LATENCY_PS + 2 * (tp - 1) * RING_STEP_LATENCY_PS
    return min(ring, NVLS_LATENCY_PS) if nvls else ring


def tensor_bytes(shape: Shape, strategy: Strategy) -> int:
    """Bytes a GPU sends for one all-reduce of 2sbh/c: 2(t-1)/t of it (arXiv 2205.05198 section 4.2.2).

    Sequence parallelism makes a reduce-scatter and an all-gather of it, which move the same.
    """
    t = strategy.tp
    return 2 * (t - 1) * (hidden_state_bytes(shape, strategy.micro_batch) // strategy.cp) // t


def flops_per_ps(strategy: Strategy, gpu: Gpu) -> float:
    """FLOPs that the tensor- and context-parallel GPUs do together."""
    peak = gpu.peak_fp8_flops if strategy.precision == "fp8" else gpu.peak_flops
    if not peak:
        raise ScenarioError(f'parallelism.precision = "fp8": {gpu.name} has no fp8 arithmetic; use precision = "bf16"')
    return peak * strategy.efficiency * strategy.tp * strategy.cp / PS_PER_S


def durations(shape: Shape, strategy: Strategy, gpu: Gpu, nvlink_bps: int, gpus_per_node: int = 0) -> Durations:
    """Compute time = FLOPs / (peak x efficiency), spread evenly over the tensor- and context-parallel ranks.

    Tensor-parallel groups wider than a node (0: any fit) all-reduce over the network, not here.
    """
    rate, b = flops_per_ps(strategy, gpu), strategy.micro_batch
    in_node = strategy.tp > 1 and (strategy.tp <= gpus_per_node or not gpus_per_node)
    size = tensor_bytes(shape, strategy)
    latency = tensor_all_reduce_latency_ps(strategy.tp, gpu.nvls)
    return Durations(
        projections_ps=attention_forward_flops(shape, b) / rate,
        core_ps=core_forward_flops(shape, b) / rate,
        mlp_ps=mlp_forward_flops(shape, b) / rate,
        experts_ps=mlp_forward_flops(shape, b, experts=True) / rate if shape.experts else 0.0,
        head_ps=head_forward_flops(shape, b) / rate,
        tensor_ps=size * BITS_PER_BYTE * PS_PER_S / nvlink_bps + latency if in_node else 0.0,
        tensor_bytes=size if in_node else 0,
    )


def optimizer_ps(parameters: int, expert_parameters: int, strategy: Strategy, gpu: Gpu) -> int:
    """Time of the Adam step on one GPU, bound by its memory: all its parameters, or its share of them."""
    if strategy.distributed_optimizer:
        parameters, expert_parameters = -(-parameters // strategy.replicas), -(-expert_parameters // strategy.expert_replicas)
    return round((parameters + expert_parameters) * OPTIMIZER_BYTES_PER_PARAMETER / gpu.hbm_bytes_per_s * PS_PER_S)
