"""The sections of a scenario that describe training: the model, and how it is cut over the GPUs."""

from typing import ClassVar, Literal

from pydantic import Field

from sim.scenario_base import Part

SCHEDULES = ("1f1b", "gpipe", "interleaved", "zb-h1")
OPTIMIZERS = ("all-reduce", "distributed", "zero-1", "zero-2", "zero-3")


def _count(default: int | None, meaning: str, most: int = 1_000_000, least: int = 1) -> int:
    return Field(default, description=meaning, ge=least, le=most)


class Model(Part):
    """A transformer: a row of the catalogue, any number of which may be overridden."""

    SECTION: ClassVar[str] = "model"

    name: str | None = Field(None, description="model of the catalogue; the keys below override it")
    layers: int | None = _count(None, "transformer layers", 10_000)
    hidden: int | None = _count(None, "hidden size")
    heads: int | None = _count(None, "attention heads", 10_000)
    kv_heads: int | None = _count(None, "heads of keys and values (default: heads)", 10_000)
    head_dim: int | None = _count(None, "width of a head (default: hidden / heads)", 65_536)
    vocabulary: int | None = _count(None, "tokens in the vocabulary", 10_000_000)
    ffn_hidden: int | None = _count(None, "inner size of the MLP (default: 4 x hidden)", 10_000_000)
    gated: bool | None = Field(None, description="SwiGLU: three matrices in an MLP (default: false)")
    biased: bool | None = Field(None, description="biases and LayerNorm, as GPT; else none and RMSNorm, as Llama (default: true)")
    tied_embeddings: bool | None = Field(None, description="the logits use the word embedding (default: true)")
    experts: int | None = _count(None, "routed experts in a layer (0: dense)", 100_000, 0)
    top_k: int | None = _count(None, "experts that a token visits (default: 2)", 1000, 0)
    expert_ffn: int | None = _count(None, "inner size of an expert (default: ffn_hidden)", 10_000_000, 0)
    shared_experts: int | None = _count(None, "experts that every token visits (default: 0)", 1000, 0)
    dense_layers: int | None = _count(None, "first layers that have an MLP in place of experts (default: 0)", 10_000, 0)
    latent: tuple[int, int, int, int, int] | None = Field(
        None, strict=False, description="latent attention: ranks of q and of kv; widths in a head of q and k, of their rotary part, of v"
    )
    sequence: int = _count(2048, "tokens in a sequence", 10_000_000)


class Parallelism(Part):
    """How the model is cut (tensor x context x data x pipeline parallel, experts over the data-parallel ranks) and trained."""

    SECTION: ClassVar[str] = "parallelism"

    tp: int = _count(1, "tensor-parallel GPUs; more than a server has reach over the network")
    pp: int = _count(1, "pipeline stages")
    dp: int | None = _count(None, "data-parallel replicas (default: what the GPUs allow)")
    cp: int = _count(1, "context-parallel GPUs: parts of a sequence")
    ep: int = _count(1, "expert-parallel GPUs, among the data-parallel ones")
    sequence_parallel: bool = Field(False, description="norms and dropouts are cut over the tensor-parallel GPUs too")
    micro_batch: int = _count(1, "sequences in a micro-batch")
    micro_batches: int | None = _count(None, "micro-batches per replica and iteration (default: pp)")
    global_batch: int | None = _count(None, "sequences per iteration over all replicas", 100_000_000)
    iterations: int = _count(1, "training iterations, one after the other", 1000)
    schedule: Literal[SCHEDULES] | None = Field(
        None, description="order of forward and backward passes in the pipeline (default: 1f1b, interleaved with several virtual stages)"
    )
    virtual_stages: int = _count(1, "parts of the model that a GPU holds (interleaved)", 1000)
    uneven_stages: bool = Field(False, description="layers need not divide evenly: the first and last stages have one less")
    recompute: Literal["none", "selective", "full"] = Field(
        "none", description="activations computed anew in the backward pass: none, those of the attention core, all"
    )
    optimizer: Literal[OPTIMIZERS] = Field(
        "distributed",
        description="gradients in fp32 all-reduced, or reduce-scattered with updated parameters gathered; in bf16 ZeRO-1, ZeRO-2, ZeRO-3 (FSDP)",
    )
    overlap_gradients: bool = Field(True, description="buckets are reduced while the last backward pass still runs")
    bucket_parameters: int = Field(40_000_000, description="parameters in a gradient bucket", ge=1, le=10**12)
    gradient_algorithm: Literal["ring", "halving-doubling", "double-binary-tree", "hierarchical"] = Field(
        "ring", description="how data-parallel ranks exchange gradients"
    )
    channels: int | None = _count(
        None, "rings, or double trees, among which a collective is split, each over a NIC of its own (default and most: its GPUs in a server)", 64
    )
    context_form: Literal["gather", "ring"] = Field(
        "gather", description="keys and values gathered before attention, or passed around during it"
    )
    expert_algorithm: Literal["direct", "pxn", "hierarchical"] = Field(
        "direct", description="tokens straight to their experts, or over NVLink to the right rail first (PXN)"
    )
    expert_skew: float = Field(0.0, description="standard deviation of the experts' loads over their mean, seeded", ge=0, le=10)
    capacity_factor: float | None = Field(
        None, description="tokens that an expert takes, over the mean load; others are dropped (default: no limit)", gt=0, le=1000
    )
    placement: Literal["packed", "spread", "random"] = Field(
        "packed", description="ranks fill server after server, go round the servers one by one, or lie at random (seeded)"
    )
    precision: Literal["bf16", "fp8"] = Field("bf16", description="of matrix products")
    efficiency: float = Field(0.5, description="share of the GPU's peak FLOP/s that compute reaches", ge=1e-6, le=1)
    compute_jitter: float = Field(0.0, description="standard deviation of a task's compute time over its mean, seeded", ge=0, le=1)

    @property
    def gpus(self) -> int:
        """GPUs that the strategy uses (once dp is filled in)."""
        return self.tp * self.cp * self.pp * self.dp

    @property
    def gpus_given(self) -> int:
        """GPUs that the strategy uses as far as it was written, 0 if dp was left open."""
        return self.tp * self.cp * self.pp * (self.dp or 0)
