"""Accelerators: arithmetic, memory and NVLink of each, one row apiece with its source."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Gpu:
    """One accelerator as its maker describes it, without sparsity."""

    name: str
    peak_flops: float  # dense bf16 FLOP/s
    peak_fp8_flops: float  # dense fp8 FLOP/s; 0: no fp8 arithmetic
    memory_bytes: int
    hbm_bytes_per_s: float
    nvlink_bps: int  # one direction, all links of the GPU together
    nvls: bool  # the NVSwitch can reduce in the switch (third generation and later)
    source: str


_ROWS = (
    Gpu("A100-SXM-80", 312.0e12, 0.0, 80 * 10**9, 2.039e12, 2_400 * 10**9, False,
        "NVIDIA A100 datasheet (A100 80GB SXM): 312 TFLOPS bf16, no fp8, 80 GB, 2039 GB/s, NVLink 600 GB/s both ways"),
    Gpu("H100-SXM", 989.4e12, 1_978.9e12, 80 * 10**9, 3.35e12, 3_600 * 10**9, True,
        "NVIDIA H100 datasheet (H100 SXM): 1979 TFLOPS bf16 and 3958 fp8 with sparsity, 80 GB, 3.35 TB/s, NVLink 900 GB/s both ways"),
    Gpu("H800-SXM", 989.4e12, 1_978.9e12, 80 * 10**9, 3.35e12, 1_600 * 10**9, True,
        "NVIDIA H100 datasheet, but NVLink 200 GB/s one way (NVIDIA/nccl#1374)"),
    Gpu("H200-SXM", 989.4e12, 1_978.9e12, 141 * 10**9, 4.8e12, 3_600 * 10**9, True,
        "NVIDIA H200 datasheet (H200 SXM): 1979 TFLOPS bf16 and 3958 fp8 with sparsity, 141 GB, 4.8 TB/s, NVLink 900 GB/s both ways"),
    Gpu("B200-SXM", 2_250.0e12, 4_500.0e12, 180 * 10**9, 8.0e12, 7_200 * 10**9, True,
        "NVIDIA HGX B200 datasheet, per GPU: 4.5 PFLOPS bf16 and 9 fp8 with sparsity, 180 GB, 8 TB/s, NVLink 1.8 TB/s both ways"),
    Gpu("GB200", 2_500.0e12, 5_000.0e12, 186 * 10**9, 8.0e12, 7_200 * 10**9, True,
        "NVIDIA GB200 NVL72 datasheet, per GPU: 5 PFLOPS bf16 and 10 fp8 with sparsity, 186 GB, 8 TB/s, NVLink 1.8 TB/s both ways"),
    Gpu("B300-SXM", 2_250.0e12, 4_500.0e12, 270 * 10**9, 8.0e12, 7_200 * 10**9, True,
        "NVIDIA HGX B300 datasheet, per GPU: 4.5 PFLOPS bf16 and 9 fp8 with sparsity, 2.1 TB of 8, 8 TB/s, NVLink 1.8 TB/s both ways"),
    Gpu("GB300", 2_500.0e12, 5_000.0e12, 279 * 10**9, 8.0e12, 7_200 * 10**9, True,
        "NVIDIA GB300 NVL72 datasheet, per GPU: 5 PFLOPS bf16 and 10 fp8 with sparsity, 20 TB of 72, 8 TB/s, NVLink 1.8 TB/s both ways"),
)  # fmt: skip

GPUS: dict[str, Gpu] = {row.name: row for row in _ROWS}
