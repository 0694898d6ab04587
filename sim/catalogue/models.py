"""Dense GPT models: the shapes that published work trains, one row apiece with its source."""

from dataclasses import dataclass


@dataclass(frozen=True)
class GptModel:
    """Shape of a dense GPT; the sequence length belongs to the training run, not to the model."""

    name: str
    layers: int
    hidden: int
    heads: int
    ffn_hidden: int
    vocabulary: int
    source: str


_VOCABULARY = 51_200  # GPT-2's 50257 padded to a multiple of 1024 (arXiv 2104.04473 section 5)


def _gpt(name: str, layers: int, hidden: int, heads: int, source: str) -> GptModel:
    return GptModel(name, layers, hidden, heads, 4 * hidden, _VOCABULARY, source)


_ROWS = (
    _gpt("gpt-125m", 12, 768, 12, "arXiv 2005.14165 table 2.1, GPT-3 Small"),
    _gpt("gpt-350m", 24, 1024, 16, "arXiv 2005.14165 table 2.1, GPT-3 Medium"),
    _gpt("gpt-1.3b", 24, 2048, 16, "arXiv 2005.14165 table 2.1, GPT-3 XL (16 heads of the stated size 128)"),
    _gpt("gpt-1.7b", 24, 2304, 24, "arXiv 2104.04473 table 1, 1.7 B"),
    _gpt("gpt-7b", 36, 4096, 32, "arXiv 2104.04473 table 1, 7.5 B"),
    _gpt("gpt-13b", 40, 5120, 40, "arXiv 2005.14165 table 2.1, GPT-3 13B (40 heads of the stated size 128)"),
    _gpt("gpt-18b", 40, 6144, 48, "arXiv 2104.04473 table 1, 18.4 B"),
    _gpt("gpt-22b", 48, 6144, 64, "arXiv 2205.05198 table 3, 22B"),
    _gpt("gpt-76b", 60, 10240, 80, "arXiv 2104.04473 table 1, 76.1 B"),
    _gpt("gpt-145b", 80, 12288, 96, "arXiv 2104.04473 table 1, 145.6 B"),
    _gpt("gpt-175b", 96, 12288, 96, "arXiv 2205.05198 table 3, 175B (GPT-3)"),
    _gpt("gpt-530b", 105, 20480, 128, "arXiv 2201.11990 section 2.4, MT-NLG"),
    _gpt("gpt-1t", 128, 25600, 160, "arXiv 2205.05198 table 3, 1T"),
)

MODELS: dict[str, GptModel] = {row.name: row for row in _ROWS}
