"""The model of a published row: its own numbers first, then the catalogue's."""

import pytest

from sim.published_models import NotGiven, catalogue_row, shape_of_row
from tests.published_rows import row

BARE = dict(layers=None, hidden=None, heads=None, ffn=None, vocab=None)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("LLAMA3.1_405B", "llama3-405b"), ("Llama-3 405B", "llama3-405b"), ("LLAMA2-7B", "llama2-7b"), ("llama3_70b l12", "llama3-70b"),
        ("GPT3-175B", "gpt-175b"), ("GPT 530B weak scaling", "gpt-530b"), ("GPT-OSS-120B", "gpt-oss-120b"), ("Qwen3_30B_a3B", "qwen3-30b-a3b"),
        ("DeepSeekV3 dropless", "deepseek-v3"), ("deepseekv2 l4", "deepseek-v2"), ("Mixtral 8x7B", "mixtral-8x7b"), ("Nemotron4-15B", "nemotron-15b"),
        ("DeepSeek-V2-Lite", None), ("Qwen3-Next 80B", None), ("GPT 18.4B", None), ("", None),
    ],
)  # fmt: skip
def test_names_as_people_write_them(text, name):
    found = catalogue_row(text)
    assert (found.name if found else None) == name


def test_the_row_goes_before_the_catalogue():
    shape = shape_of_row(row(heads=128, vocab=64_000, kv=128))
    assert (shape.heads, shape.vocabulary, shape.head_width, shape.kv) == (128, 64_000, 96, 128)
    listed = shape_of_row(row(model="llama3_70b", **BARE, seq=8192))
    assert (listed.layers, listed.hidden, listed.kv, listed.ffn_hidden, listed.gated, listed.tied) == (80, 8192, 8, 28_672, True, False)


def test_an_unlisted_model_is_a_gpt():
    shape = shape_of_row(row(model="GPT 18.4B", layers=40, hidden=6144, heads=48, ffn=None))
    assert (shape.ffn_hidden, shape.gated, shape.biased, shape.tied) == (4 * 6144, False, True, True)


def test_a_namesake_of_another_size_is_no_help():
    shape = shape_of_row(row(model="Llama-3 405B", hidden=8192, heads=64, ffn=None))
    assert (shape.ffn_hidden, shape.kv, shape.gated) == (4 * 8192, 64, False)


def test_a_model_cut_to_its_first_layers_keeps_a_share_of_dense_ones():
    shape = shape_of_row(row(model="deepseekv3 l4", **BARE, seq=4096))
    assert (shape.layers, shape.dense_layers, shape.experts, shape.expert_ffn) == (4, 1, 256, 2048)
    assert shape_of_row(row(model="deepseekv3", **BARE)).dense_layers == 3


def test_ffn_of_a_mixture_is_an_experts():
    shape = shape_of_row(row(model="DeepSeek-V3", layers=61, hidden=7168, heads=128, ffn=2048, vocab=None, experts=256, topk=8))
    assert (shape.ffn_hidden, shape.expert_ffn, shape.latent[1]) == (18_432, 2048, 512)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({**BARE, "model": "Kimi"}, "layers is not given, and 'Kimi' is not in the catalogue"),
        ({"seq": None}, "seq is not given"),
        ({"model": "GPT 18.4B", "vocab": None}, "vocab is not given"),
        ({"model": "mine", "heads": 7}, "heads = 7 does not divide hidden = 12288"),
    ],
)
def test_what_is_missing_is_named(changes, words):
    with pytest.raises(NotGiven, match=words.replace("(", r"\(")):
        shape_of_row(row(**changes))
