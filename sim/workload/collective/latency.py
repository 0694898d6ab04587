"""What a collective costs besides its bytes: the latency terms of NCCL's model, protocol Simple (NVIDIA/nccl src/graph/tuning.cc)."""

from sim.units import PS_PER_US

RING_BASE_LATENCY_PS = round(8.4 * PS_PER_US)
RING_STEP_LATENCY_PS = round(3.4 * PS_PER_US)  # over NVLink
NVLS_LATENCY_PS = 25 * PS_PER_US  # reduction in the NVSwitch
