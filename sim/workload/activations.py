"""Bytes of activations that a GPU keeps for the backward pass, by what is recomputed and how it is cut (arXiv 2205.05198 section 4).

Table 2 of that paper is the case of a GPT with f = 4h: sbh(10 + 24/t + 5as/(ht)) without, sbh/t (34 + 5as/h) with sequence
parallelism; selective recomputation takes the 5as/h away, full recomputation leaves 2sbh.
"""

from sim.workload.transformer import BF16_BYTES, FP32_BYTES, Shape, padded_vocabulary

DROPOUT_BYTES = 1  # of a mask, per element (arXiv 2205.05198 section 4.1)
ROUTER_BYTES = 2 * FP32_BYTES  # logits and probabilities, per token and expert


def layer_bytes(
    shape: Shape, micro_batch: int, tp: int = 1, cp: int = 1, recompute: str = "none", sequence_parallel: bool = False, experts: bool = False
) -> float:
    """Activation bytes of one layer and micro-batch on one GPU; tokens T = sb/c.

    Whole on every tensor-parallel GPU, over t with sequence parallelism: norms' inputs 4Th, inputs of both blocks 4Th, with
    dropout (GPT, that is biased) its masks 2Th. Over t: `attention_bytes` and `mlp_bytes`. Full recomputation keeps a layer's input, 2Th.
    """
    tokens = micro_batch * shape.sequence / cp
    outside = tp if sequence_parallel else 1
    if recompute == "full":
        return BF16_BYTES * tokens * shape.hidden / outside
    whole = (4 * BF16_BYTES + 2 * DROPOUT_BYTES * shape.biased) * shape.hidden + _latent_bytes(shape)
    if experts:
        whole += ROUTER_BYTES * shape.experts + 2 * BF16_BYTES * shape.top_k * shape.hidden
    inside = attention_bytes(shape, tp, recompute == "none") + mlp_bytes(shape, experts) / tp
    return tokens * (whole / outside + inside)


def attention_bytes(shape: Shape, tp: int = 1, core: bool = True) -> float:
    """Bytes per token within attention on one of `tp` GPUs: queries, keys, values and the result, 8h for a GPT; with `core` softmax's output
    and, with dropout, its mask and output, 2as and 3as. A GPU has at least one head of keys and values."""
    latent, qk, v = shape.latent[1], shape.latent[2], shape.latent[4]
    if latent:
        kept = BF16_BYTES * shape.heads * (2 * qk + 2 * v) / tp
    else:
        kept = BF16_BYTES * shape.head_width * (2 * shape.heads / tp + 2 * max(shape.kv / tp, min(1, shape.heads / tp)))
    scores = BF16_BYTES + (BF16_BYTES + DROPOUT_BYTES) * shape.biased
    return kept + core * scores * shape.heads * shape.sequence / tp


def mlp_bytes(shape: Shape, experts: bool = False) -> float:
    """Bytes per token within the MLP: 4f, 6f where it is gated (both factors and their product); K + shared experts of them with `experts`."""
    width = (shape.top_k + shape.shared_experts) * shape.expert_ffn if experts else shape.ffn_hidden
    return BF16_BYTES * (3 if shape.gated else 2) * width


def _latent_bytes(shape: Shape) -> int:
    """Bytes per token of latent vectors before and after their norms; whole on every tensor-parallel GPU."""
    q_rank, kv_rank, _, rotary, _ = shape.latent
    return BF16_BYTES * (2 * q_rank + 2 * kv_rank + rotary) if kv_rank else 0


def head_bytes(shape: Shape, micro_batch: int, tp: int = 1, cp: int = 1, sequence_parallel: bool = False) -> float:
    """Activation bytes of final norm, logits and loss: 2Th + 2Th + 4TV/t, the first two over t with sequence parallelism (section 4.3)."""
    tokens = micro_batch * shape.sequence / cp
    outside = tp if sequence_parallel else 1
    return tokens * (2 * BF16_BYTES * shape.hidden / outside + FP32_BYTES * padded_vocabulary(shape.vocabulary, tp) / tp)


def passes_in_flight(schedule: str, stage: int, stages: int, micro_batches: int, chunks: int = 1) -> int:
    """Passes (micro-batches, times chunks) whose activations a stage holds at once.

    1F1B min(p - i, m); GPipe m; ZB-H1 keeps them for the gradients of weights that it puts off: min(p, m). Interleaved as many as
    it runs ahead and one: min(2(p - i - 1) + (v - 1)p + 1, mv), on the first stage l layers' worth x (1 + (p - 1)/(pv)); all of them if m = p.
    """
    p, m = stages, micro_batches
    if schedule == "gpipe" or (schedule == "interleaved" and m == p):
        return m * chunks
    if schedule == "interleaved":
        return min(2 * (p - stage - 1) + (chunks - 1) * p + 1, m * chunks)
    return min(p if schedule == "zb-h1" else p - stage, m)
