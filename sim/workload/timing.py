"""How long a rank's own work takes: arithmetic, in-node all-reduces and the optimizer's memory traffic."""

from dataclasses import dataclass

from sim.catalogue.gpus import Gpu
from sim.units import BITS_PER_BYTE, PS_PER_S, PS_PER_US
from sim.workload.strategy import Strategy
from sim.workload.transformer import (
    BACKWARD_OVER_FORWARD,
    Shape,
    head_forward_flops,
    hidden_state_bytes,
    layer_forward_flops,
)

# NCCL's latency model, protocol Simple (NVIDIA/nccl src/graph/tuning.cc, baseLat and hwLat)
RING_BASE_LATENCY_PS = round(8.4 * PS_PER_US)
RING_STEP_LATENCY_PS = round(3.4 * PS_PER_US)  # over NVLink
NVLS_LATENCY_PS = 25 * PS_PER_US  # reduction in the NVSwitch

ALL_REDUCES_PER_PASS = 2  # one after attention, one after the MLP, in each direction (arXiv 1909.08053 section 3)

# Adam in mixed precision, per parameter: read gradient, weight and two moments, write weight and two
# moments in fp32, write the weight in bf16 (arXiv 1910.02054 section 3.1 has the states)
OPTIMIZER_BYTES_PER_PARAMETER = 4 * 4 + 3 * 4 + 2


@dataclass(frozen=True)
class Durations:
    """Of one layer or head, one micro-batch, one GPU; ps."""

    forward_ps: int
    backward_ps: int
    head_forward_ps: int
    head_backward_ps: int
    tp_ps: int  # the all-reduces of one layer in one direction


def tensor_all_reduce_latency_ps(tp: int, nvls: bool) -> int:
    """The better of a ring over NVLink and, where the switch can, a reduction in the switch."""
    ring = RING_BASE_LATENCY_PS + 2 * (tp - 1) * RING_STEP_LATENCY_PS
    return min(ring, NVLS_LATENCY_PS) if nvls else ring


def tensor_bytes_per_pass(shape: Shape, strategy: Strategy) -> int:
    """Bytes a GPU sends for one layer, one direction, one micro-batch: two all-reduces of 2sbh, 2(t-1)/t each
    (arXiv 2205.05198 section 4.2.2)."""
    t = strategy.tp
    return ALL_REDUCES_PER_PASS * 2 * (t - 1) * hidden_state_bytes(shape, strategy.micro_batch) // t


def durations(shape: Shape, strategy: Strategy, gpu: Gpu, nvlink_bps: int) -> Durations:
    """Compute time = FLOPs / (peak x efficiency), spread evenly over the tensor-parallel ranks."""
    flops_per_ps = gpu.peak_flops * strategy.efficiency * strategy.tp / PS_PER_S
    forward = layer_forward_flops(shape, strategy.micro_batch) / flops_per_ps
    head = head_forward_flops(shape, strategy.micro_batch) / flops_per_ps
    tp_ps = 0
    if strategy.tp > 1:
        sending = tensor_bytes_per_pass(shape, strategy) * BITS_PER_BYTE * PS_PER_S / nvlink_bps
        tp_ps = round(sending + ALL_REDUCES_PER_PASS * tensor_all_reduce_latency_ps(strategy.tp, gpu.nvls))
    return Durations(
        forward_ps=round(forward),
        backward_ps=round(BACKWARD_OVER_FORWARD * forward),
        head_forward_ps=round(head),
        head_backward_ps=round(BACKWARD_OVER_FORWARD * head),
        tp_ps=tp_ps,
    )


def optimizer_ps(parameters: int, strategy: Strategy, gpu: Gpu) -> int:
    """Time of the Adam step on one GPU, bound by its memory: all its parameters, or its share of them."""
    shard = -(-parameters // strategy.dp) if strategy.distributed_optimizer else parameters
    return round(shard * OPTIMIZER_BYTES_PER_PARAMETER / gpu.hbm_bytes_per_s * PS_PER_S)
