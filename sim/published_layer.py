"""Seconds of one layer and one micro-batch on one GPU, forward and backward: products, attention, memory traffic, communication."""

from sim.published_exchange import context, experts, tensor
from sim.published_jobs import Job
from sim.published_products import Seconds, attention_products, expert_products, heads_here, mlp_products, product
from sim.published_rates import Rates
from sim.published_traffic import attention_traffic, expert_traffic, mlp_traffic

SCORE_BYTES = (13, 19)  # per score of attention that is not one kernel: written, softmax, dropout with mask, read; and back
BACKWARD_OF_ATTENTION = 2.5  # products for two: scores are computed anew (arXiv 2307.08691 section 3.1)
CAUSAL = 0.5
# Megatron-LM's vocabulary-parallel cross entropy, per logit: bf16 to fp32 6, maximum 4, difference 8, exponential 8, sum 4, quotient 8,
# gradient 8, to bf16 6; in one kernel: bf16 read twice and written once, scaled 4
LOSS_BYTES, LOSS_BYTES_FUSED = 52, 10


def layer(job: Job, rates: Rates, with_experts: bool) -> dict[str, Seconds]:
    """Seconds by part: products, attention, memory, TP, CP, EP. Recomputation is in the backward pass."""
    core = _core(job, rates)
    columns, others = attention_products(job, rates)
    attention = {
        "products": columns + others, "attention": core, "memory": attention_traffic(job, rates),
        "TP": tensor(job, rates, columns, columns + others), "CP": context(job, rates, core),
    }  # fmt: skip
    if "mla_up_proj" in job.stack.recompute_modules:
        attention["products"] += Seconds(0.0, columns.forward)
    if with_experts:  # whole on each GPU: no TP
        mlp = {"products": expert_products(job, rates), "memory": expert_traffic(job, rates)}
    else:
        up, down = mlp_products(job, rates, job.shape.ffn_hidden)
        mlp = {"products": up + down, "memory": mlp_traffic(job, rates)}
        if not job.stack.parallel_block:
            mlp["TP"] = tensor(job, rates, up, up + down)
    weights = mlp["products"].backward / 2
    attention, mlp = _recomputed(job, attention), _recomputed(job, mlp)
    parts = {name: part + mlp.get(name, Seconds()) for name, part in attention.items()}
    halves = [sum(half.values(), Seconds()) for half in (attention, mlp)]
    parts["EP"] = experts(job, rates, *halves, weights) if with_experts and job.ep > 1 else Seconds()
    return parts


def _recomputed(job: Job, parts: dict[str, Seconds]) -> dict[str, Seconds]:
    again = parts if job.recompute == "full" else {"attention"} if job.recompute == "selective" and not job.stack.flash else ()
    return {name: Seconds(part.forward, part.backward + (part.forward if name in again else 0.0)) for name, part in parts.items()}


def _core(job: Job, rates: Rates) -> Seconds:
    """Scores and weighted values, in one kernel that skips the masked half, or by way of memory.

    The kernel does not end before its longest block of rows, which one multiprocessor takes past the whole sequence: that decides where
    a GPU has few heads.
    """
    shape = job.shape
    scores = heads_here(job)[0] * shape.sequence * job.tokens
    width = shape.latent[2] + shape.latent[4] if shape.latent[1] else 2 * shape.head_width
    flops = 2 * scores * width
    if job.stack.flash:
        forward, backward = (max(CAUSAL * flops, 2 * rows * shape.sequence * width) for rows in rates.block_rows)
        return Seconds(forward / rates.forward_flops, BACKWARD_OF_ATTENTION * backward / rates.backward_flops)
    forward, backward = (size * scores / rates.memory_bytes_per_s for size in SCORE_BYTES)
    return Seconds(flops / rates.bf16_flops + forward, 2 * flops / rates.bf16_flops + backward)


def head(job: Job, rates: Rates) -> Seconds:
    """Logits, in bf16 whatever the layers' precision (Megatron-LM's output layer), and loss: passes of fp32 logits through memory."""
    shape, wide = job.shape, job.shape.vocabulary / job.tp
    logits = product(job, rates, job.tokens, wide, shape.hidden, bf16=True)
    loss = (LOSS_BYTES_FUSED if job.stack.fused_loss else LOSS_BYTES) * job.tokens * wide / rates.memory_bytes_per_s
    return logits + Seconds(loss / 2, loss / 2)
