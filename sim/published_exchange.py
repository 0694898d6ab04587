"""Seconds of a layer's exchanges among GPUs, tensors, context and experts, as far as nothing hides them."""

from sim.published_jobs import Job
from sim.published_products import Seconds, heads_here
from sim.published_rates import (
    ALL_REDUCE_S,
    ALL_REDUCE_STEP_S,
    GATHER_AND_SCATTER_S,
    GATHER_AND_SCATTER_STEP_S,
    Rates,
)
from sim.published_tokens import all_to_all_s
from sim.workload.transformer import BF16_BYTES


def tensor(job: Job, rates: Rates, columns: Seconds, products: Seconds) -> Seconds:
    """Of one block, attention or MLP: all-reduces of 2Th, or the pair of all-gather and reduce-scatter that moves the same.

    `columns` are the products at the block's entrance, `products` all of them. Backward, the gradient's way out goes beside the
    gradients of the columns' weights; with sequence parallelism the input is gathered anew for those, beside the gradient of the
    input (arXiv 2205.05198 section 4.2.2; Megatron-LM megatron/core/tensor_parallel/layers.py).
    """
    t = job.tp
    if t == 1:
        return Seconds()
    if job.sequence_parallel:
        latency = GATHER_AND_SCATTER_S + (t - 1) * GATHER_AND_SCATTER_STEP_S
    else:
        latency = ALL_REDUCE_S + 2 * (t - 1) * ALL_REDUCE_STEP_S
    rate = rates.nvlink_bytes_per_s if t <= job.gpus_per_node else rates.nic_bytes_per_s
    each = 2 * (t - 1) / t * BF16_BYTES * job.tokens * job.shape.hidden / rate + latency
    if job.stack.tensor_hidden == "all":  # in t pieces beside the products: the first is exposed
        return Seconds(each / t + max(0.0, each - products.forward), each / t + max(0.0, each - products.backward))
    if job.stack.tensor_hidden == "none":
        return Seconds(each, each + (each / 2 if job.sequence_parallel else 0.0))
    gradient = columns.backward / 2
    if job.sequence_parallel:
        return Seconds(each, each / 2 + 2 * max(0.0, each / 2 - gradient))
    return Seconds(each, max(0.0, each - gradient))


def context(job: Job, rates: Rates, core: Seconds) -> Seconds:
    """Keys and values of the other c - 1 parts of the sequence, and their gradients back (arXiv 2407.21783 section 3.3.2)."""
    if job.cp == 1:
        return Seconds()
    rate = rates.nvlink_bytes_per_s if job.tp * job.cp <= job.gpus_per_node else rates.nic_bytes_per_s
    one = 2 * BF16_BYTES * job.tokens * job.shape.head_width * heads_here(job)[1] * (job.cp - 1) / rate
    if not job.stack.context_hidden:
        return Seconds(one, 2 * one)
    return Seconds(max(0.0, one - core.forward), max(0.0, 2 * one - core.backward))


def experts(job: Job, rates: Rates, attention: Seconds, mlp: Seconds, weights: float) -> Seconds:
    """Tokens to their experts and back, and their gradients.

    Hidden: the forward pass of one micro-batch and the backward pass of another share a GPU, and each of the four exchanges has one
    window of arithmetic, whose multiprocessors it takes: gradients to the experts beside attention forward, tokens to the experts
    beside the experts' gradients of inputs, gradients back beside those of weights (`weights` seconds) and the experts forward, tokens
    back beside attention backward (arXiv 2412.19437 figure 4; NVIDIA/Megatron-LM#2730 for overlap_moe_expert_parallel_comm).
    """
    to, back = all_to_all_s(job, rates, job.stack.dispatch_bytes), all_to_all_s(job, rates, BF16_BYTES)
    if not job.stack.experts_hidden:
        return Seconds(to + back, to + back)
    taken = job.stack.all_to_all_multiprocessors / rates.multiprocessors
    forward = _added(to, mlp.backward - weights, taken) + _added(back, attention.backward, taken)
    return Seconds(forward, _added(to, attention.forward, taken) + _added(back, weights + mlp.forward, taken))


def _added(sent: float, beside: float, taken: float) -> float:
    """What an exchange of `sent` seconds, which takes a share of the multiprocessors, adds to `beside` seconds of arithmetic: kernels that
    began beside it go on without them to their end."""
    return max(min(beside, sent) * taken / (1 - taken), sent - beside)
