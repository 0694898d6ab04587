"""Transformers that published work trains: the shape of each, one row apiece with its source."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CatalogueModel:
    """Shape of a model, named like the keys of a scenario's model; None: what follows from the others, or the scenario's default."""

    name: str
    layers: int
    hidden: int
    heads: int
    ffn_hidden: int
    vocabulary: int
    source: str
    kv_heads: int | None = None
    head_dim: int | None = None
    gated: bool | None = None
    biased: bool | None = None
    tied_embeddings: bool | None = None
    experts: int | None = None
    top_k: int | None = None
    expert_ffn: int | None = None
    shared_experts: int | None = None
    dense_layers: int | None = None
    latent: tuple[int, int, int, int, int] | None = None  # ranks of q and of kv; widths in a head of q and k, of their rotary part, of v


_VOCABULARY = 51_200  # GPT-2's 50257 padded to a multiple of 1024 (arXiv 2104.04473 section 5)


def _gpt(name: str, layers: int, hidden: int, heads: int, source: str) -> CatalogueModel:
    return CatalogueModel(name, layers, hidden, heads, 4 * hidden, _VOCABULARY, source)


def _llama(name: str, layers: int, hidden: int, heads: int, kv_heads: int, ffn: int, vocabulary: int, source: str, **more) -> CatalogueModel:
    """SwiGLU, RMSNorm, no biases, logits with their own matrix."""
    return CatalogueModel(
        name, layers, hidden, heads, ffn, vocabulary, source,
        kv_heads=kv_heads, gated=True, biased=False, tied_embeddings=False, **more,
    )  # fmt: skip


def _nemotron(name: str, layers: int, hidden: int, heads: int, kv_heads: int, source: str) -> CatalogueModel:
    """Squared ReLU (two matrices), no biases, logits with their own matrix."""
    return CatalogueModel(
        name, layers, hidden, heads, 4 * hidden, 256_000, source, kv_heads=kv_heads, gated=False, biased=False, tied_embeddings=False
    )


_LLAMA_2 = "arXiv 2307.09288 table 1 and meta-llama config.json"
_LLAMA_3 = "arXiv 2407.21783 table 3 and meta-llama config.json"
_MIXTRAL = "arXiv 2401.04088 table 1 and mistralai config.json"
_QWEN_3 = "arXiv 2505.09388 table 2 and Qwen config.json"
_NEMO = "NVIDIA NeMo framework, GPT-3 recipe of this size (biases, LayerNorm, tied embeddings)"

_ROWS = (
    _gpt("gpt-125m", 12, 768, 12, "arXiv 2005.14165 table 2.1, GPT-3 Small"),
    _gpt("gpt-350m", 24, 1024, 16, "arXiv 2005.14165 table 2.1, GPT-3 Medium"),
    _gpt("gpt-1.3b", 24, 2048, 16, "arXiv 2005.14165 table 2.1, GPT-3 XL (16 heads of the stated size 128)"),
    _gpt("gpt-1.7b", 24, 2304, 24, "arXiv 2104.04473 table 1, 1.7 B"),
    _gpt("gpt-3.6b", 30, 3072, 32, "arXiv 2104.04473 table 1, 3.6 B"),
    _gpt("gpt-5b", 24, 4096, 32, _NEMO),
    _gpt("gpt-7b", 36, 4096, 32, "arXiv 2104.04473 table 1, 7.5 B"),
    _gpt("gpt-13b", 40, 5120, 40, "arXiv 2005.14165 table 2.1, GPT-3 13B (40 heads of the stated size 128)"),
    _gpt("gpt-18b", 40, 6144, 48, "arXiv 2104.04473 table 1, 18.4 B"),
    _gpt("gpt-20b", 44, 6144, 48, _NEMO),
    _gpt("gpt-22b", 48, 6144, 64, "arXiv 2205.05198 table 3, 22B"),
    _gpt("gpt-39b", 48, 8192, 64, "arXiv 2104.04473 table 1, 39.1 B"),
    _gpt("gpt-76b", 60, 10240, 80, "arXiv 2104.04473 table 1, 76.1 B"),
    _gpt("gpt-145b", 80, 12288, 96, "arXiv 2104.04473 table 1, 145.6 B"),
    _gpt("gpt-175b", 96, 12288, 96, "arXiv 2205.05198 table 3, 175B (GPT-3)"),
    _gpt("gpt-310b", 96, 16384, 128, "arXiv 2104.04473 table 1, 310.1 B"),
    _gpt("gpt-530b", 105, 20480, 128, "arXiv 2201.11990 section 2.4, MT-NLG"),
    _gpt("gpt-1t", 128, 25600, 160, "arXiv 2205.05198 table 3, 1T"),
    _llama("llama2-7b", 32, 4096, 32, 32, 11_008, 32_000, _LLAMA_2),
    _llama("llama2-13b", 40, 5120, 40, 40, 13_824, 32_000, _LLAMA_2),
    _llama("llama2-70b", 80, 8192, 64, 8, 28_672, 32_000, _LLAMA_2),
    _llama("llama3-8b", 32, 4096, 32, 8, 14_336, 128_256, _LLAMA_3),
    _llama("llama3-70b", 80, 8192, 64, 8, 28_672, 128_256, _LLAMA_3),
    _llama("llama3-405b", 126, 16_384, 128, 8, 53_248, 128_256, _LLAMA_3),
    _nemotron("nemotron-8b", 32, 4096, 32, 32, "NVIDIA Nemotron-3-8B-Base model card and NeMo's Nemotron3Config8B"),
    _nemotron("nemotron-15b", 32, 6144, 48, 8, "arXiv 2402.16819 table 1"),
    _nemotron("nemotron-340b", 96, 18_432, 96, 8, "arXiv 2406.11704 table 1"),
    _llama("mixtral-8x7b", 32, 4096, 32, 8, 14_336, 32_000, _MIXTRAL, experts=8, top_k=2),
    _llama("mixtral-8x22b", 56, 6144, 48, 8, 16_384, 32_768, "Mistral AI, Mixtral 8x22B, and mistralai config.json", experts=8, top_k=2),
    _llama("moe-32x22b", 56, 6144, 48, 8, 16_384, 32_768, "Mixtral 8x22B with 32 experts, as in the set of Long et al., NSDI 2026",
           experts=32, top_k=2),
    _llama("deepseek-v2", 60, 5120, 128, 128, 12_288, 102_400, "arXiv 2405.04434 section 3.1.2 and deepseek-ai config.json", head_dim=128,
           experts=160, top_k=6, expert_ffn=1536, shared_experts=2, dense_layers=1, latent=(1536, 512, 192, 64, 128)),
    _llama("deepseek-v3", 61, 7168, 128, 128, 18_432, 129_280, "arXiv 2412.19437 section 4.2 and deepseek-ai config.json", head_dim=128,
           experts=256, top_k=8, expert_ffn=2048, shared_experts=1, dense_layers=3, latent=(1536, 512, 192, 64, 128)),
    _llama("qwen3-30b-a3b", 48, 2048, 32, 4, 6144, 151_936, _QWEN_3, head_dim=128, experts=128, top_k=8, expert_ffn=768),
    _llama("qwen3-235b-a22b", 94, 4096, 64, 4, 12_288, 151_936, _QWEN_3, head_dim=128, experts=128, top_k=8, expert_ffn=1536),
    _llama("gpt-oss-120b", 36, 2880, 64, 8, 2880, 201_088, "arXiv 2508.10925 table 1 and openai config.json (its windows of 128 tokens not modelled)",
           head_dim=64, experts=128, top_k=4),
)  # fmt: skip

MODELS: dict[str, CatalogueModel] = {row.name: row for row in _ROWS}
