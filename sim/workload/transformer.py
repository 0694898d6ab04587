"""What a transformer costs: parameters, FLOPs and bytes of its layers (arXiv 2104.04473, 2205.05198).

Attention with any number of key and value heads (arXiv 2305.13245) or latent attention (arXiv 2412.19437 section 2.1.1); MLPs plain
or gated (SwiGLU, arXiv 2002.05202); dense layers or a mixture of experts (arXiv 2101.03961, 2401.04088).
"""

from dataclasses import dataclass

BF16_BYTES = 2
FP32_BYTES = 4
VOCABULARY_MULTIPLE = 128  # Megatron-LM --make-vocab-size-divisible-by default, times the tensor-parallel size
BACKWARD_OVER_FORWARD = 2  # a backward pass makes the gradients of inputs and of weights: two products for one
NO_LATENT = (0, 0, 0, 0, 0)


@dataclass(frozen=True)
class Shape:
    """A transformer and the sequence it trains on: l, h, a, f, V, s, k, E, K of the papers. 0: as the others say."""

    layers: int
    hidden: int
    heads: int
    ffn_hidden: int
    vocabulary: int
    sequence: int
    kv_heads: int = 0  # 0: as many as heads
    head_dim: int = 0  # 0: hidden / heads
    gated: bool = False  # SwiGLU: three matrices in an MLP, not two
    biased: bool = True  # biases everywhere and LayerNorm; else none and RMSNorm
    tied: bool = True  # the logits use the word embedding
    experts: int = 0  # 0: dense
    top_k: int = 0
    expert_ffn: int = 0
    shared_experts: int = 0  # experts that every token visits
    dense_layers: int = 0  # first layers that have an MLP in place of experts
    latent: tuple[int, int, int, int, int] = NO_LATENT  # ranks of q and of kv; widths a head of q and k, of their rotary part, of v

    @property
    def kv(self) -> int:
        return self.kv_heads or self.heads

    @property
    def head_width(self) -> int:
        return self.head_dim or self.hidden // self.heads

    def has_experts(self, layer: int) -> bool:
        return self.experts > 0 and layer >= self.dense_layers


def padded_vocabulary(vocabulary: int, tp: int) -> int:
    """Vocabulary rows after padding, so that every tensor-parallel rank holds as many (Megatron-LM)."""
    multiple = VOCABULARY_MULTIPLE * tp
    return -(-vocabulary // multiple) * multiple


def attention_weights(shape: Shape) -> int:
    """Matrix entries of attention: 2h^2(1 + k/a) where the heads are h wide together, all projections of latent attention else."""
    h, a, width = shape.hidden, shape.heads, shape.head_width
    q_rank, kv_rank, qk, rotary, v = shape.latent
    if kv_rank:
        query = h * q_rank + q_rank * a * qk if q_rank else h * a * qk
        return query + h * (kv_rank + rotary) + kv_rank * a * (qk - rotary + v) + a * v * h
    return 2 * h * width * (a + shape.kv)


def attention_scalars(shape: Shape) -> int:
    """Biases of queries, keys and values, or the norms within latent attention."""
    if shape.latent[1]:
        return shape.latent[0] + shape.latent[1]
    return shape.head_width * (shape.heads + 2 * shape.kv) if shape.biased else 0


def mlp_weights(shape: Shape, ffn_hidden: int) -> int:
    """Matrix entries of an MLP: 2hf, 3hf where it is gated."""
    return (3 if shape.gated else 2) * shape.hidden * ffn_hidden


def norm_parameters(shape: Shape) -> int:
    """A norm's scale, and its shift where it has one."""
    return (2 if shape.biased else 1) * shape.hidden


def layer_parameters(shape: Shape, tp: int = 1, experts: bool = False) -> int:
    """Parameters of one layer on one GPU of `tp`, without those of its routed experts.

    Attention 4h^2 + 4h and MLP 2hf + f + h for a GPT, of which the biases of the row-parallel products (h each)
    and the two norms (2h each) are whole on every rank; 12h^2 + 13h in all for f = 4h, tp = 1
    (arXiv 2104.04473 eq. 2; sharding as in arXiv 1909.08053 section 3). A layer with `experts` has a router hE and shared experts.
    """
    ffn = shape.shared_experts * shape.expert_ffn if experts else shape.ffn_hidden
    sharded = attention_weights(shape) + attention_scalars(shape) + mlp_weights(shape, ffn) + ffn * shape.biased
    whole = 2 * norm_parameters(shape) + 2 * shape.hidden * shape.biased + shape.hidden * shape.experts * experts
    return -(-sharded // tp) + whole


def expert_parameters(shape: Shape, tp: int = 1) -> int:
    """Parameters of one routed expert on one GPU of `tp`: 2hf or 3hf over t."""
    return -(-mlp_weights(shape, shape.expert_ffn) // tp)


def embedding_parameters(shape: Shape, tp: int = 1) -> int:
    """Word embedding on one GPU: Vh/t, padded. Positions are rotary and have no parameters."""
    return padded_vocabulary(shape.vocabulary, tp) * shape.hidden // tp


def final_norm_parameters(shape: Shape) -> int:
    """The norm behind the last layer."""
    return norm_parameters(shape)


def head_parameters(shape: Shape, tp: int, pp: int) -> int:
    """Final norm, and the logits' matrix unless it is the embedding on the same GPU."""
    return final_norm_parameters(shape) + (embedding_parameters(shape, tp) if pp > 1 or not shape.tied else 0)


def chunk_layers(shape: Shape, pp: int, stage: int, chunk: int, chunks: int = 1) -> range:
    """Layers of one virtual stage; with several chunks a stage has every pp-th part of the model (arXiv 2104.04473 section 2.2).

    Where they do not divide, the outermost virtual stages, which embedding and head burden, have one less, the last first
    (arXiv 2407.21783 section 3.3.2).
    """
    parts, part = pp * chunks, chunk * pp + stage
    each, more = divmod(shape.layers, parts)
    short_at_the_front = (parts - more) // 2

    def first(part: int) -> int:
        return part * each + min(max(part - short_at_the_front, 0), more)

    return range(first(part), first(part + 1))


def stage_layers(shape: Shape, pp: int, stage: int, chunks: int = 1) -> list[int]:
    """Layers of a stage in the order of the model."""
    return [layer for chunk in range(chunks) for layer in chunk_layers(shape, pp, stage, chunk, chunks)]


def stage_parameters(shape: Shape, tp: int, pp: int, stage: int, chunks: int = 1) -> int:
    """Parameters on one GPU of pipeline stage `stage`, routed experts apart, tied embeddings on the first and on the last."""
    parameters = sum(layer_parameters(shape, tp, shape.has_experts(layer)) for layer in stage_layers(shape, pp, stage, chunks))
    if stage == 0:
        parameters += embedding_parameters(shape, tp)
    if stage == pp - 1:
        parameters += head_parameters(shape, tp, pp)
    return parameters


def stage_expert_parameters(shape: Shape, tp: int, pp: int, ep: int, stage: int, chunks: int = 1) -> int:
    """Parameters of the routed experts on one GPU of pipeline stage `stage`: E/e experts of each of its layers that has any."""
    layers = sum(shape.has_experts(layer) for layer in stage_layers(shape, pp, stage, chunks))
    return layers * (shape.experts // ep) * expert_parameters(shape, tp)


def total_parameters(shape: Shape) -> int:
    """Parameters of the whole model, a tied embedding counted once, not padded."""
    layers = sum(
        layer_parameters(shape, 1, shape.has_experts(layer)) + shape.has_experts(layer) * shape.experts * expert_parameters(shape)
        for layer in range(shape.layers)
    )
    return layers + (1 if shape.tied else 2) * shape.vocabulary * shape.hidden + final_norm_parameters(shape)


def attention_forward_flops(shape: Shape, micro_batch: int) -> int:
    """FLOPs of one layer's projections, forward: 2bs entries of their matrices (arXiv 2104.04473 appendix)."""
    return 2 * micro_batch * shape.sequence * attention_weights(shape)


def core_forward_flops(shape: Shape, micro_batch: int) -> int:
    """FLOPs of one layer's scores and weighted values, forward: 4bs^2h, not halved for the causal mask (arXiv 2104.04473 appendix)."""
    q_rank, kv_rank, qk, _, v = shape.latent
    width = shape.heads * (qk + v) if kv_rank else 2 * shape.heads * shape.head_width
    return 2 * micro_batch * shape.sequence**2 * width


def mlp_forward_flops(shape: Shape, micro_batch: int, experts: bool = False) -> int:
    """FLOPs of one layer's MLP, forward; with `experts` its router, the shared ones and K of the routed."""
    tokens = 2 * micro_batch * shape.sequence
    if not experts:
        return tokens * mlp_weights(shape, shape.ffn_hidden)
    visited = shape.top_k + shape.shared_experts
    return tokens * (visited * mlp_weights(shape, shape.expert_ffn) + shape.hidden * shape.experts)


def layer_forward_flops(shape: Shape, micro_batch: int, experts: bool = False) -> int:
    """FLOPs of one layer's forward pass: 2bs(4h^2 + 2hf) + 4bs^2h for a GPT, that is 24bsh^2 + 4bs^2h for f = 4h."""
    return (
        attention_forward_flops(shape, micro_batch) + core_forward_flops(shape, micro_batch) + mlp_forward_flops(shape, micro_batch, experts)
    )


def head_forward_flops(shape: Shape, micro_batch: int) -> int:
    """FLOPs of the logits' forward pass: 2bshV (arXiv 2104.04473 appendix)."""
    return 2 * micro_batch * shape.sequence * shape.hidden * shape.vocabulary


def iteration_flops(shape: Shape, batch: int) -> int:
    """FLOPs of one iteration without recomputation, 72Bslh^2(1 + s/6h + V/12lh) for a GPT with f = 4h
    (arXiv 2104.04473 eq. 3 without its recomputed forward pass)."""
    forward = sum(layer_forward_flops(shape, batch, shape.has_experts(layer)) for layer in range(shape.layers))
    return (1 + BACKWARD_OVER_FORWARD) * (forward + head_forward_flops(shape, batch))


def hidden_state_bytes(shape: Shape, micro_batch: int) -> int:
    """Bytes of one layer's output in bf16: 2sbh. What tensor parallelism all-reduces and a stage hands on."""
    return BF16_BYTES * shape.sequence * micro_batch * shape.hidden


def layer_activation_bytes(shape: Shape, micro_batch: int, tp: int = 1) -> float:
    """Activation bytes that one layer keeps on one GPU: sbh(10 + 24/t + 5as/(ht)).

    No recomputation, tensor parallelism without sequence parallelism (arXiv 2205.05198 table 2). The 24
    is 8 of attention and 4f/h = 16 of the MLP (section 4.1), so other ffn sizes are counted too.
    """
    s, h = shape.sequence, shape.hidden
    sharded = 8 + 4 * shape.ffn_hidden / h + 5 * shape.heads * s / h
    return s * micro_batch * h * (10 + sharded / tp)


def head_activation_bytes(shape: Shape, micro_batch: int, tp: int = 1) -> float:
    """Activation bytes of final norm, logits product and loss: 2sbh + 2sbh + 4sbV/t (arXiv 2205.05198 section 4.3)."""
    tokens = shape.sequence * micro_batch
    return 4 * tokens * shape.hidden + FP32_BYTES * tokens * padded_vocabulary(shape.vocabulary, tp) / tp
