"""What a dense GPT costs: parameters, FLOPs and bytes of its layers (arXiv 2104.04473, 2205.05198)."""

from dataclasses import dataclass

BF16_BYTES = 2
FP32_BYTES = 4
VOCABULARY_MULTIPLE = 128  # Megatron-LM --make-vocab-size-divisible-by default, times the tensor-parallel size
BACKWARD_OVER_FORWARD = 2  # a backward pass makes the gradients of inputs and of weights: two products for one


@dataclass(frozen=True)
class Shape:
    """A dense GPT and the sequence it trains on: l, h, a, f, V, s of the papers."""

    layers: int
    hidden: int
    heads: int
    ffn_hidden: int
    vocabulary: int
    sequence: int


def padded_vocabulary(vocabulary: int, tp: int) -> int:
    """Vocabulary rows after padding, so that every tensor-parallel rank holds as many (Megatron-LM)."""
    multiple = VOCABULARY_MULTIPLE * tp
    return -(-vocabulary // multiple) * multiple


def layer_parameters(shape: Shape, tp: int = 1) -> int:
    """Parameters of one layer on one GPU of `tp`.

    Attention 4h^2 + 4h and MLP 2hf + f + h, of which the biases of the row-parallel products (h each)
    and the two norms (2h each) are whole on every rank; 12h^2 + 13h in all for f = 4h, tp = 1
    (arXiv 2104.04473 eq. 2; sharding as in arXiv 1909.08053 section 3).
    """
    h, f = shape.hidden, shape.ffn_hidden
    sharded = 4 * h * h + 3 * h + 2 * h * f + f
    return -(-sharded // tp) + 6 * h


def embedding_parameters(shape: Shape, tp: int = 1) -> int:
    """Word embedding on one GPU: Vh/t, padded. Positions are rotary and have no parameters."""
    return padded_vocabulary(shape.vocabulary, tp) * shape.hidden // tp


def final_norm_parameters(shape: Shape) -> int:
    """Scale and shift of the LayerNorm behind the last layer: 2h."""
    return 2 * shape.hidden


def stage_parameters(shape: Shape, tp: int, pp: int, stage: int) -> int:
    """Parameters on one GPU of pipeline stage `stage`, tied embeddings on the first and on the last."""
    parameters = shape.layers // pp * layer_parameters(shape, tp)
    if stage == 0:
        parameters += embedding_parameters(shape, tp)
    if stage == pp - 1:
        parameters += final_norm_parameters(shape)
        if pp > 1:
            parameters += embedding_parameters(shape, tp)
    return parameters


def total_parameters(shape: Shape) -> int:
    """Parameters of the whole model, the tied embedding counted once, not padded."""
    return shape.layers * layer_parameters(shape) + shape.vocabulary * shape.hidden + final_norm_parameters(shape)


def layer_forward_flops(shape: Shape, micro_batch: int) -> int:
    """FLOPs of one layer's forward pass: 2bs(4h^2 + 2hf) + 4bs^2h, that is 24bsh^2 + 4bs^2h for f = 4h
    (arXiv 2104.04473 appendix)."""
    b, s, h = micro_batch, shape.sequence, shape.hidden
    return 2 * b * s * (4 * h * h + 2 * h * shape.ffn_hidden) + 4 * b * s * s * h


def head_forward_flops(shape: Shape, micro_batch: int) -> int:
    """FLOPs of the logits' forward pass: 2bshV (arXiv 2104.04473 appendix)."""
    return 2 * micro_batch * shape.sequence * shape.hidden * shape.vocabulary


def iteration_flops(shape: Shape, batch: int) -> int:
    """FLOPs of one iteration without recomputation, 72Bslh^2(1 + s/6h + V/12lh) for f = 4h
    (arXiv 2104.04473 eq. 3 without its recomputed forward pass)."""
    forward = shape.layers * layer_forward_flops(shape, batch) + head_forward_flops(shape, batch)
    return (1 + BACKWARD_OVER_FORWARD) * forward


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
