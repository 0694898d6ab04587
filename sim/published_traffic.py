"""Seconds of a layer's kernels that only move data: norms, residuals, activation functions, rotary positions, fp8 copies, sorted tokens."""

from sim.published_jobs import Job
from sim.published_products import Seconds, heads_here
from sim.published_rates import MEMORY_SHARE, PERMUTE_SHARE, Rates
from sim.workload.transformer import BF16_BYTES

# Passes of a hidden state through memory: norms, residual sums and, for GPT, bias-dropout; each read and each write is one
HIDDEN_PASSES = {True: (11.0, 19.0), False: (10.0, 12.0)}  # biased with dropout, or not
INNER_PASSES = {True: (3.0, 5.0), False: (2.0, 4.0)}  # of the MLP's inner width: SwiGLU, or GeLU with its bias
NORM_PASSES = 2.0  # where a norm is computed anew
ROTARY_PASSES = 2.0  # of queries and keys, each way
QUERY_NORM_PASSES, QUERY_NORM_KERNELS = (2.0, 3.0), 2.0  # of queries and keys where each has a norm; backward read twice, written once
PERMUTE_PASSES = (7.0, 8.0)  # of K hidden states a token: gathered, sorted by expert, sorted back, weighted sum
KERNELS, KERNELS_OF_EXPERTS = (5.0, 7.0), (17.0, 23.0)  # of a block of a dense layer, and of one with experts

# fp8, bytes for each entry of what goes into a product and of its gradient. With the scale of earlier steps both layouts are written by
# the kernel before, or copied from a gradient that is read.
DELAYED_BYTES = (2.0, 4.0)
# With the present scale a tensor is read for its largest value, read to be copied and written in both layouts; what a norm writes has its
# largest value from there (NVIDIA/TransformerEngine#2013). Weights are copied in the first micro-batch only (is_first_microbatch).
CURRENT_BYTES, NORMED_BYTES = 6.0, 4.0
CURRENT_KERNELS, NORMED_KERNELS = 2.0, 1.0
# An expert's tokens are quantised by themselves. All four launches count (zero, largest value, scale, copies: TransformerEngine
# common/recipe/current_scaling.cu), for among so many short kernels the time to issue one is not hidden; in other blocks only those two
# that move data. This was chosen with the residuals of the Qwen3 and Llama 3 rows in view.
EXPERT_KERNELS = 4.0
PADDING_PASSES = 4.0  # of K hidden states a token, each way, to bring experts' tokens to multiples of 16 (Megatron-LM moe/experts.py)

Pair = tuple[float, float]  # forward, backward


def attention_traffic(job: Job, rates: Rates) -> Seconds:
    """Of the attention block; its norm is computed anew where the program does so."""
    shape, stack = job.shape, job.stack
    heads, kv = heads_here(job)
    hidden, turned = _hidden(job), shape.head_width * (heads + kv)
    entries = [passes / 2 * hidden for passes in HIDDEN_PASSES[shape.biased]]
    kernels = list(KERNELS)
    for way in (0, 1):
        if not shape.biased:
            entries[way] += 2 * (3 * shape.latent[2] + shape.latent[4]) * heads or ROTARY_PASSES * turned
        if stack.query_norm:
            entries[way] += QUERY_NORM_PASSES[way] * turned
            kernels[way] += QUERY_NORM_KERNELS
    entries[1] += _norm_anew(job)
    wide = shape.head_width * heads
    copies, launched = _copies(job, shape.hidden, wide, shape.head_width * (heads + 2 * kv) + shape.hidden)
    return _seconds(job, rates, entries, copies, [a + b for a, b in zip(kernels, launched, strict=True)])


def mlp_traffic(job: Job, rates: Rates) -> Seconds:
    """Of a dense layer's MLP."""
    shape = job.shape
    inner = shape.ffn_hidden / job.tp
    entries = _block(job, inner)
    copies, launched = _copies(job, shape.hidden, inner, shape.hidden + _gates(job) * inner)
    return _seconds(job, rates, entries, copies, [a + b for a, b in zip(KERNELS, launched, strict=True)])


def expert_traffic(job: Job, rates: Rates) -> Seconds:
    """Of router and experts: K hidden states a token are sorted, each expert's are quantised alone."""
    shape, stack = job.shape, job.stack
    inner = (shape.top_k + shape.shared_experts) * shape.expert_ffn / job.tp
    routed = shape.top_k * shape.hidden / job.tp
    entries = [a + passes * routed * MEMORY_SHARE / PERMUTE_SHARE for a, passes in zip(_block(job, inner), PERMUTE_PASSES, strict=True)]
    if "moe_act" in stack.recompute_modules:
        entries[1] += INNER_PASSES[shape.gated][0] * inner
    kernels, copies = list(KERNELS_OF_EXPERTS), (0.0, 0.0)
    if job.precision == "fp8":
        copies, _ = _copies(job, 0.0, routed + inner, routed + _gates(job) * inner)
        if stack.current_scaling:
            entries = [entry + PADDING_PASSES * routed for entry in entries]
            kernels = [count + EXPERT_KERNELS * 2 * shape.experts / job.ep for count in kernels]
    return _seconds(job, rates, entries, copies, kernels)


def _hidden(job: Job) -> float:
    return job.shape.hidden / (job.tp if job.sequence_parallel else 1)


def _gates(job: Job) -> int:
    return 2 if job.shape.gated else 1


def _norm_anew(job: Job) -> float:
    return NORM_PASSES * _hidden(job) if "layernorm" in job.stack.recompute_modules else 0.0


def _block(job: Job, inner: float) -> list[float]:
    """Entries a token that the norm, the residual and the activation function of an MLP move."""
    shape = job.shape
    passes = zip(HIDDEN_PASSES[shape.biased], INNER_PASSES[shape.gated], strict=True)
    forward, backward = (a / 2 * _hidden(job) + b * inner for a, b in passes)
    return [forward, backward + _norm_anew(job)]


def _copies(job: Job, normed: float, other: float, gradients: float) -> tuple[Pair, Pair]:
    """Bytes a token and kernels to quantise entries that a norm wrote, other ones that go into products, and gradients."""
    if job.precision != "fp8":
        return (0.0, 0.0), (0.0, 0.0)
    if not job.stack.current_scaling:
        return (DELAYED_BYTES[0] * (normed + other), DELAYED_BYTES[1] * gradients), (0.0, 0.0)
    return (NORMED_BYTES * normed + CURRENT_BYTES * other, CURRENT_BYTES * gradients), (NORMED_KERNELS + CURRENT_KERNELS, 2 * CURRENT_KERNELS)


def _seconds(job: Job, rates: Rates, entries: list[float], copies: Pair, kernels: list[float]) -> Seconds:
    moved = (job.tokens * (BF16_BYTES * a + b) / rates.memory_bytes_per_s for a, b in zip(entries, copies, strict=True))
    return Seconds(*(seconds + count * rates.kernel_s for seconds, count in zip(moved, kernels, strict=True)))
