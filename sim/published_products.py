"""Seconds of a layer's matrix products on one GPU, forward and backward.

A product takes its FLOPs over the rate that the GPU reaches plus its bytes over the memory's: loads before and stores after the
arithmetic are not hidden. Against the timings that MooreThreads/SimuMax measured on a B200 (configs/system/b200_bf16_ceperm.json)
that is right to 10 % from k = 512 and n = 576 up to 57 344 x 8192, where the larger of the two alone is off by up to a third.
"""

from dataclasses import dataclass

from sim.published_jobs import Job
from sim.published_rates import Rates
from sim.workload.transformer import BF16_BYTES

FP8_BYTES = 1
EXPERTS_AT_ONCE = 4  # whose products start beside each other (TransformerEngine common/include/transformer_engine/multi_streams.h)


@dataclass(frozen=True)
class Seconds:
    """Forward and backward."""

    forward: float = 0.0
    backward: float = 0.0

    def __add__(self, other: "Seconds") -> "Seconds":
        return Seconds(self.forward + other.forward, self.backward + other.backward)

    @property
    def both(self) -> float:
        return self.forward + self.backward


def product(job: Job, rates: Rates, m: float, n: float, k: float, count: float = 1, bf16: bool = False) -> Seconds:
    """`count` products of an m x k with a k x n matrix of weights; backward those for both gradients, that of the weights added up."""
    entry = BF16_BYTES if bf16 or job.precision != "fp8" else FP8_BYTES
    arithmetic = 2 * m * n * k / (rates.bf16_flops if bf16 else rates.product_flops)
    forward = entry * (m * k + k * n) + BF16_BYTES * m * n
    inputs = entry * (m * n + k * n) + BF16_BYTES * m * k
    weights = entry * (m * n + m * k) + job.stack.accumulate_bytes * k * n
    moved = rates.memory_bytes_per_s
    return Seconds(count * (arithmetic + forward / moved), count * (2 * arithmetic + (inputs + weights) / moved))


def heads_here(job: Job) -> tuple[float, float]:
    """Heads of queries and of keys and values on one GPU, at least one of the latter."""
    shape = job.shape
    return shape.heads / job.tp, max(shape.kv / job.tp, min(1.0, shape.heads / job.tp))


def attention_products(job: Job, rates: Rates) -> tuple[Seconds, Seconds]:
    """Those whose weights are cut by columns, at the entrance of a tensor-parallel block, and the others."""
    shape, tokens = job.shape, job.tokens
    heads, kv = heads_here(job)
    q_rank, kv_rank, qk, rotary, v = shape.latent
    if not kv_rank:
        width = shape.head_width
        return product(job, rates, tokens, width * (heads + 2 * kv), shape.hidden), product(job, rates, tokens, shape.hidden, width * heads)
    whole = tokens / job.tp if job.sequence_parallel else tokens
    down = product(job, rates, whole, q_rank + kv_rank + rotary, shape.hidden)
    up = product(job, rates, tokens, heads * qk, q_rank or shape.hidden) + product(job, rates, tokens, heads * (qk - rotary + v), kv_rank)
    return up, down + product(job, rates, tokens, shape.hidden, heads * v)


def mlp_products(job: Job, rates: Rates, inner: float) -> tuple[Seconds, Seconds]:
    """Up, cut by columns, and down."""
    shape, wide = job.shape, inner / job.tp
    up = (2 if shape.gated else 1) * wide
    return product(job, rates, job.tokens, up, shape.hidden), product(job, rates, job.tokens, shape.hidden, wide)


def expert_products(job: Job, rates: Rates) -> Seconds:
    """Router, shared experts, and the routed ones at even load: each GPU has E/e whole experts, its tokens are 1/t of its group's.

    Each expert's two products, and backward four, are small enough for their start and end to count. That these take as long as those of
    a kernel that moves data is assumed.
    """
    shape = job.shape
    here, rows = shape.experts / job.ep, job.tokens / job.tp * shape.top_k * job.ep / shape.experts
    up = (2 if shape.gated else 1) * shape.expert_ffn
    routed = product(job, rates, rows, up, shape.hidden, here) + product(job, rates, rows, shape.hidden, shape.expert_ffn, here)
    shared = sum(mlp_products(job, rates, shape.shared_experts * shape.expert_ffn), Seconds()) if shape.shared_experts else Seconds()
    starts = 2 * here / EXPERTS_AT_ONCE * rates.kernel_s
    return routed + Seconds(starts, 2 * starts) + shared + product(job, rates, job.tokens / job.tp, shape.experts, shape.hidden, bf16=True)
