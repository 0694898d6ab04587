"""Rates and latencies of one GPU and its links as software reaches them, each constant with its source; nothing here is fitted."""

from dataclasses import dataclass

from sim.catalogue.gpus import Gpu

# Share of the memory's line rate that kernels which only move data reach: 0.7 on A100, 0.666 measured on B200
# (MooreThreads/SimuMax configs/system/a100_bf16.json, b200_bf16_ceperm.json)
MEMORY_SHARE = 0.7
PERMUTE_SHARE = 0.5  # the same when rows are gathered or scattered, measured on B200 (SimuMax, permute_fwd)
# Start and end of a kernel, which its bytes come on top of: measured on A100 and B200; on H100 what SimuMax's h100_nvlink.json assumes
# (bandwidth latency_us of these files)
KERNEL_S = {"A100": 40e-6, "H100": 20e-6, "B200": 30e-6}

# Attention kernels, causal: share of the bf16 peak that they tend to in long sequences, forward and backward, and the tokens at which
# they reach half of it, for tiles that the mask cuts are computed whole. A100: FlashAttention-2 (arXiv 2307.08691 section 4.1);
# H100: cuDNN and FlashAttention-3 (arXiv 2407.08608 section 4.1); B200: as measured from 4096 to 131 072 tokens (SimuMax, sdp_fwd, sdp_bwd)
ATTENTION_SHARES = {"A100": (0.66, 0.60), "H100": (0.66, 0.55), "B200": (0.54, 0.44)}
ATTENTION_HALF_TOKENS = 900
# Rows that one block of these kernels takes past the whole sequence: 128, on B200 forward two tiles of 128, which is what SimuMax measured
# from 128 down to 4 heads looks like (sdp_fwd, sdp_bwd)
BLOCK_ROWS = {"A100": (128, 128), "H100": (128, 128), "B200": (256, 128)}
MULTIPROCESSORS = {"A100": 108, "H100": 132, "B200": 148}  # of the boards sold (NVIDIA's architecture white papers)
GENERATIONS = {"A100": "A100", "H100": "H100", "H800": "H100", "H200": "H100", "B200": "B200", "GB200": "B200", "B300": "B200", "GB300": "B200"}

# NVLink as NCCL's tuner counts it: links x rate of one (NVIDIA/nccl src/graph/topo.h, SM80, SM90 and SM100 _NVLINK_BW), bytes/s
LINK_BYTES_PER_S = {"A100": 20.0e9, "H100": 20.6e9, "B200": 40.1e9}
LINK_LINE_BPS = {"A100": 200e9, "H100": 200e9, "B200": 400e9}  # one direction of one link
GATHER_SHARE = {"B200": 0.673}  # of NVLink's line rate by all-gather and reduce-scatter, measured (SimuMax); elsewhere as above
PAYLOAD_SHARE = 0.97  # of a NIC's line rate: 96 to 98 % of CX-7 (NVIDIA/nccl-tests#267), 97.6 % at 100 Gb/s (nccl-tests#29)
ALL_TO_ALL_SHARE = 0.6  # of NVLink's line rate, measured on B200 (SimuMax, all2all)

# Latency of a collective among n GPUs of one NVLink domain, measured on B200 (SimuMax, fixed_latency_us + latency_us per step)
ALL_REDUCE_S, ALL_REDUCE_STEP_S = 22.2e-6, 5.5e-6
GATHER_AND_SCATTER_S, GATHER_AND_SCATTER_STEP_S = 48.7e-6, 17.2e-6  # all-gather and reduce-scatter together
RING_NVLINK_STEP_S, RING_NETWORK_STEP_S = 3.4e-6, 14e-6  # of a ring in large pieces (NVIDIA/nccl src/graph/tuning.cc, hwLat, Simple)
RING_BLOCKS = 16  # of NCCL, each on a multiprocessor of its own, on servers with 8 NICs (NVIDIA/nccl#689)
SEND_S = 20e-6  # one send between servers: 14 us (NCCL, hwLat) and a kernel's start
ALL_TO_ALL_S = {False: 50e-6, True: 70e-6}  # within NVLink (SimuMax, all2all of 8), and across servers


@dataclass(frozen=True)
class Rates:
    """What one GPU of a job reaches."""

    product_flops: float  # of the job's precision: peak x the fitted efficiency
    bf16_flops: float  # of products that stay in bf16
    forward_flops: float  # of attention kernels, sequences as long as the job's
    backward_flops: float
    memory_bytes_per_s: float
    nvlink_bytes_per_s: float
    all_to_all_bytes_per_s: float
    nic_bytes_per_s: float
    kernel_s: float  # start and end of a kernel
    multiprocessors: int
    block_rows: tuple[float, float]  # rows of a block of attention x multiprocessors, forward and backward


def generation(gpu: Gpu) -> str:
    """A100, H100 or B200: the chip that a GPU of the catalogue is a kind of."""
    return GENERATIONS[gpu.name.split("-")[0]]


def nvlink_bytes_per_s(gpu: Gpu) -> float:
    """Bus bandwidth of a ring over all NVLinks of a GPU."""
    kind = generation(gpu)
    return gpu.nvlink_bps / LINK_LINE_BPS[kind] * LINK_BYTES_PER_S[kind]


def rates(gpu: Gpu, precision: str, efficiency: float, bf16_efficiency: float, nic_bytes_per_s: float, sequence: int) -> Rates:
    """Rates of a GPU whose products reach `efficiency` of the peak of `precision`, and `bf16_efficiency` where they stay in bf16."""
    kind = generation(gpu)
    forward, backward = (share * sequence / (sequence + ATTENTION_HALF_TOKENS) for share in ATTENTION_SHARES[kind])
    gathered = GATHER_SHARE[kind] * gpu.nvlink_bps / 8 if kind in GATHER_SHARE else nvlink_bytes_per_s(gpu)
    return Rates(
        product_flops=(gpu.peak_fp8_flops if precision == "fp8" else gpu.peak_flops) * efficiency,
        bf16_flops=gpu.peak_flops * bf16_efficiency,
        forward_flops=gpu.peak_flops * forward,
        backward_flops=gpu.peak_flops * backward,
        memory_bytes_per_s=gpu.hbm_bytes_per_s * MEMORY_SHARE,
        nvlink_bytes_per_s=gathered,
        all_to_all_bytes_per_s=gpu.nvlink_bps / 8 * ALL_TO_ALL_SHARE,
        nic_bytes_per_s=nic_bytes_per_s * PAYLOAD_SHARE,
        kernel_s=KERNEL_S[kind],
        multiprocessors=MULTIPROCESSORS[kind],
        block_rows=tuple(rows * MULTIPROCESSORS[kind] for rows in BLOCK_ROWS[kind]),
    )
