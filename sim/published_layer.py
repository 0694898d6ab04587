"""Seconds of one layer and one micro-batch on one GPU, forward and backward: products, attention, memory traffic, communication.

A product takes its FLOPs over the rate that the GPU reaches plus its bytes over the memory's: loads before and stores after the
arithmetic are not hidden. Against the timings that MooreThreads/SimuMax measured on a B200 (configs/system/b200_bf16_ceperm.json)
that is right to 10 % from k = 512 and n = 576 up to 57 344 x 8192, where the larger of the two alone is off by up to a third.
"""

from dataclasses import dataclass

from sim.published_jobs import Job
from sim.published_rates import (
    ALL_REDUCE_S,
    ALL_REDUCE_STEP_S,
    GATHER_AND_SCATTER_S,
    GATHER_AND_SCATTER_STEP_S,
    MEMORY_KERNEL_S,
    MEMORY_SHARE,
    PERMUTE_SHARE,
    SMS_OF_ALL_TO_ALL,
    Rates,
)
from sim.published_tokens import all_to_all_s
from sim.workload.transformer import BF16_BYTES

FP8_BYTES = 1
QUANTISED_BYTES = (2, 4)  # per entry of what goes into a product (both layouts written) and of its gradient (read too)
# Passes of a hidden state through memory: norms, residual sums and, for GPT, bias-dropout; each read and each write is one
HIDDEN_PASSES = {True: (11.0, 19.0), False: (10.0, 12.0)}  # biased with dropout, or not
INNER_PASSES = {True: (3.0, 5.0), False: (2.0, 4.0)}  # of the MLP's inner width: SwiGLU, or GeLU with its bias
SCORE_BYTES = (13, 19)  # per score of attention that is not one kernel: written, softmax, dropout with mask, read; and back
ROTARY_PASSES = 2  # of queries and keys, each way
PERMUTE_PASSES = (7.0, 8.0)  # of K hidden states a token: gathered, sorted by expert, sorted back, weighted sum
MEMORY_KERNELS = {False: (10, 14), True: (22, 30)}  # kernels that only move data, in a dense layer and in one with experts
# An expert's tokens are quantised by themselves: largest value, scale, copies; inputs and weights of both matrices, then both gradients
QUANTISING_KERNELS, QUANTISED_TENSORS = 3, (4, 2)
BACKWARD_OF_ATTENTION = 2.5  # products for two: scores are computed anew (arXiv 2307.08691 section 3.1)
CAUSAL = 0.5
# Megatron-LM's vocabulary-parallel cross entropy, per logit: bf16 to fp32 6, maximum 4, difference 8, exponential 8, sum 4, quotient 8,
# gradient 8, to bf16 6; in one kernel: bf16 read twice and written once, scaled 4
LOSS_BYTES, LOSS_BYTES_FUSED = 52, 10


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
    entry = BF16_BYTES if bf16 or job.precision == "bf16" else FP8_BYTES
    arithmetic = 2 * m * n * k / (rates.bf16_flops if bf16 else rates.product_flops)
    forward = entry * (m * k + k * n) + BF16_BYTES * m * n
    inputs = entry * (m * n + k * n) + BF16_BYTES * m * k
    weights = entry * (m * n + m * k) + job.stack.accumulate_bytes * k * n
    moved = rates.memory_bytes_per_s
    return Seconds(count * (arithmetic + forward / moved), count * (2 * arithmetic + (inputs + weights) / moved))


def layer(job: Job, rates: Rates, experts: bool) -> dict[str, Seconds]:
    """Seconds by part: products, attention, memory, TP, CP, EP. Recomputation is in the backward pass."""
    products = _attention_products(job, rates) + (_expert_products(job, rates) if experts else _mlp(job, rates, job.shape.ffn_hidden))
    parts = {
        "products": products,
        "attention": _core(job, rates),
        "memory": _traffic(job, rates, experts),
        "TP": _tensor(job, rates, experts, products),
        "CP": _context(job, rates),
    }
    if job.recompute == "full":
        parts = {name: Seconds(part.forward, part.backward + part.forward) for name, part in parts.items()}
    elif job.recompute == "selective" and not job.stack.flash:
        core = parts["attention"]
        parts["attention"] = Seconds(core.forward, core.backward + core.forward)
    parts["EP"] = _experts(job, rates, sum(part.forward for part in parts.values())) if experts and job.ep > 1 else Seconds()
    return parts


def heads_here(job: Job) -> tuple[float, float]:
    """Heads of queries and of keys and values on one GPU, at least one of the latter."""
    shape = job.shape
    return shape.heads / job.tp, max(shape.kv / job.tp, min(1.0, shape.heads / job.tp))


def _attention_products(job: Job, rates: Rates) -> Seconds:
    shape, tokens = job.shape, job.tokens
    heads, kv = heads_here(job)
    q_rank, kv_rank, qk, rotary, v = shape.latent
    if not kv_rank:
        width = shape.head_width
        return product(job, rates, tokens, width * (heads + 2 * kv), shape.hidden) + product(job, rates, tokens, shape.hidden, width * heads)
    whole = tokens / job.tp if job.sequence_parallel else tokens
    down = product(job, rates, whole, q_rank + kv_rank + rotary, shape.hidden)
    up = product(job, rates, tokens, heads * qk, q_rank or shape.hidden) + product(job, rates, tokens, heads * (qk - rotary + v), kv_rank)
    return down + up + product(job, rates, tokens, shape.hidden, heads * v)


def _mlp(job: Job, rates: Rates, inner: float) -> Seconds:
    shape, wide = job.shape, inner / job.tp
    up = (2 if shape.gated else 1) * wide
    return product(job, rates, job.tokens, up, shape.hidden) + product(job, rates, job.tokens, shape.hidden, wide)


def _expert_products(job: Job, rates: Rates) -> Seconds:
    """Router, shared experts, and the routed ones at even load: each GPU has E/e whole experts, its tokens are 1/t of its group's."""
    shape = job.shape
    here, rows = shape.experts / job.ep, job.tokens / job.tp * shape.top_k * job.ep / shape.experts
    up = (2 if shape.gated else 1) * shape.expert_ffn
    routed = product(job, rates, rows, up, shape.hidden, here) + product(job, rates, rows, shape.hidden, shape.expert_ffn, here)
    shared = _mlp(job, rates, shape.shared_experts * shape.expert_ffn) if shape.shared_experts else Seconds()
    return routed + shared + product(job, rates, job.tokens / job.tp, shape.experts, shape.hidden, bf16=True)


def _core(job: Job, rates: Rates) -> Seconds:
    """Scores and weighted values, in one kernel that skips the masked half, or by way of memory."""
    shape = job.shape
    scores = heads_here(job)[0] * shape.sequence * job.tokens
    width = shape.latent[2] + shape.latent[4] if shape.latent[1] else 2 * shape.head_width
    flops = 2 * scores * width
    if job.stack.flash:
        return Seconds(CAUSAL * flops / rates.forward_flops, BACKWARD_OF_ATTENTION * CAUSAL * flops / rates.backward_flops)
    forward, backward = (size * scores / rates.memory_bytes_per_s for size in SCORE_BYTES)
    return Seconds(flops / rates.bf16_flops + forward, 2 * flops / rates.bf16_flops + backward)


def _traffic(job: Job, rates: Rates, experts: bool) -> Seconds:
    """Kernels that only move data: norms, residuals, activation functions, rotary positions, fp8 copies, tokens sorted by expert."""
    shape, tokens, tp = job.shape, job.tokens, job.tp
    heads, kv = heads_here(job)
    hidden = shape.hidden / (tp if job.sequence_parallel else 1)
    inner = ((shape.top_k + shape.shared_experts) * shape.expert_ffn if experts else shape.ffn_hidden) / tp
    per_token = [a * hidden + b * inner for a, b in zip(HIDDEN_PASSES[shape.biased], INNER_PASSES[shape.gated], strict=True)]
    if not shape.biased:
        latent = 2 * (3 * shape.latent[2] + shape.latent[4]) * heads
        rotary = latent or ROTARY_PASSES * shape.head_width * (heads + kv)
        per_token = [entries + rotary for entries in per_token]
    if experts:
        permuted = shape.top_k * shape.hidden / tp * MEMORY_SHARE / PERMUTE_SHARE
        per_token = [entries + passes * permuted for entries, passes in zip(per_token, PERMUTE_PASSES, strict=True)]
    kernels = MEMORY_KERNELS[experts]
    if job.precision == "fp8":
        if experts:
            kernels = tuple(count + QUANTISING_KERNELS * each * shape.experts / job.ep for count, each in zip(kernels, QUANTISED_TENSORS, strict=True))
        width = shape.head_width
        into = 2 * shape.hidden + width * heads + inner
        out = width * (heads + 2 * kv) + 2 * shape.hidden + (2 if shape.gated else 1) * inner
        per_token = [entries + size / BF16_BYTES * count for entries, size, count in zip(per_token, QUANTISED_BYTES, (into, out), strict=True)]
    seconds = [BF16_BYTES * tokens * entries / rates.memory_bytes_per_s for entries in per_token]
    return Seconds(*(moving + count * MEMORY_KERNEL_S for moving, count in zip(seconds, kernels, strict=True)))


def _tensor(job: Job, rates: Rates, experts: bool, products: Seconds) -> Seconds:
    """All-reduces of 2Th, or the pair of all-gather and reduce-scatter that moves the same, as far as nothing hides them."""
    t = job.tp
    if t == 1:
        return Seconds()
    if job.sequence_parallel:
        latency = GATHER_AND_SCATTER_S + (t - 1) * GATHER_AND_SCATTER_STEP_S
    else:
        latency = ALL_REDUCE_S + 2 * (t - 1) * ALL_REDUCE_STEP_S
    blocks = 1 if job.stack.parallel_block or experts else 2  # experts are whole on each GPU and need none
    rate = rates.nvlink_bytes_per_s if t <= job.gpus_per_node else rates.nic_bytes_per_s
    each = blocks * (2 * (t - 1) / t * BF16_BYTES * job.tokens * job.shape.hidden / rate + latency)
    if job.stack.tensor_hidden == "all":  # in t pieces beside the products: the first is exposed
        return Seconds(each / t + max(0.0, each - products.forward), each / t + max(0.0, each - products.backward))
    if job.stack.tensor_hidden == "none":
        return Seconds(each, each)
    beside = each / 2 if job.sequence_parallel else each  # what goes beside the gradients of weights
    return Seconds(each, each - beside + max(0.0, beside - products.backward / 2))


def _context(job: Job, rates: Rates) -> Seconds:
    """Keys and values of the other c - 1 parts of the sequence, and their gradients back (arXiv 2407.21783 section 3.3.2)."""
    if job.cp == 1:
        return Seconds()
    rate = rates.nvlink_bytes_per_s if job.tp * job.cp <= job.gpus_per_node else rates.nic_bytes_per_s
    one = 2 * BF16_BYTES * job.tokens * job.shape.head_width * heads_here(job)[1] * (job.cp - 1) / rate
    if not job.stack.context_hidden:
        return Seconds(one, 2 * one)
    core = _core(job, rates)
    return Seconds(max(0.0, one - core.forward), max(0.0, 2 * one - core.backward))


def _experts(job: Job, rates: Rates, beside: float) -> Seconds:
    """Tokens to their experts and back. Hidden: beside the arithmetic of another micro-batch, whose multiprocessors they take."""
    sent = all_to_all_s(job, rates, job.stack.dispatch_bytes) + all_to_all_s(job, rates, BF16_BYTES)
    if not job.stack.experts_hidden:
        return Seconds(sent, sent)
    slower = min(beside, sent) * SMS_OF_ALL_TO_ALL / (1 - SMS_OF_ALL_TO_ALL)
    return Seconds(max(slower, sent - beside), max(slower, sent - 2 * beside))


def head(job: Job, rates: Rates) -> Seconds:
    """Logits, in bf16 whatever the layers' precision (Megatron-LM's output layer), and loss: passes of fp32 logits through memory."""
    shape, wide = job.shape, job.shape.vocabulary / job.tp
    logits = product(job, rates, job.tokens, wide, shape.hidden, bf16=True)
    loss = (LOSS_BYTES_FUSED if job.stack.fused_loss else LOSS_BYTES) * job.tokens * wide / rates.memory_bytes_per_s
    return logits + Seconds(loss / 2, loss / 2)
