"""Rows of the model catalogue against the parameter counts that were published."""

import pytest

from sim.catalogue.models import MODELS
from sim.scenario import Model
from sim.scenario_training_rules import filled_model
from sim.workload.jobs import shape_of
from sim.workload.transformer import total_parameters

# Billions as published, to the digits published: the papers' tables; names of models where no table says more
PUBLISHED = {
    "gpt-125m": "0.125", "gpt-350m": "0.35", "gpt-1.3b": "1.3", "gpt-1.7b": "1.7", "gpt-3.6b": "3.6", "gpt-5b": "5", "gpt-7b": "7.5",
    "gpt-13b": "13", "gpt-18b": "18.4", "gpt-20b": "20", "gpt-22b": "22", "gpt-39b": "39.1", "gpt-76b": "76.1", "gpt-145b": "145.6",
    "gpt-175b": "174.6", "gpt-310b": "310.1", "gpt-530b": "529.6", "gpt-1t": "1008.0",
    "llama2-7b": "6.74", "llama2-13b": "13.02", "llama2-70b": "68.98", "llama3-8b": "8.03", "llama3-70b": "70.55", "llama3-405b": "405.9",
    "nemotron-15b": "15.7", "nemotron-340b": "341.0",  # 3.2 + 12.5 and 9.4 + 331.6 of embeddings and the rest
    "mixtral-8x7b": "46.7", "mixtral-8x22b": "140.6", "deepseek-v2": "236", "deepseek-v3": "671",
    "qwen3-30b-a3b": "30.5", "qwen3-235b-a22b": "235", "gpt-oss-120b": "116.83",
}  # fmt: skip
# no count is published for these; by hand from the matrices of their sources
COUNTED = {
    "nemotron-8b": 2 * 256_000 * 4096 + 32 * (4 * 4096**2 + 2 * 4 * 4096**2),
    "moe-32x22b": 140.63e9 + 56 * 24 * (3 * 6144 * 16_384 + 6144),
}
# parameters that one token visits, embeddings included (DeepSeek, Mistral) or not (OpenAI) as published
ACTIVE = {"mixtral-8x7b": 12.9, "mixtral-8x22b": 39.1, "deepseek-v2": 21.4, "deepseek-v3": 37.6, "qwen3-30b-a3b": 3.3, "qwen3-235b-a22b": 22.2}


def shape(name, **more):
    model = Model(name=name, **more)
    filled = model.model_copy()
    filled._resolve(**filled_model(model))
    return shape_of(filled)


def test_every_row_has_a_count():
    assert set(MODELS) == set(PUBLISHED) | set(COUNTED)


@pytest.mark.parametrize("name", MODELS)
def test_rows_are_keyed_by_name_and_say_where_they_come_from(name):
    row = MODELS[name]
    assert row.name == name
    assert any(word in row.source for word in ("arXiv ", "config.json", "NeMo", "NSDI"))
    assert row.head_dim is not None or row.hidden % row.heads == 0


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_parameter_counts(name):
    """Within 1 %, or within the rounding of what was published; the papers' GPTs have learned positions, some counts with them."""
    said = PUBLISHED[name]
    allowed = max(0.01 * float(said), 0.5 * 10.0 ** -len(said.partition(".")[2]))
    counted = total_parameters(shape(name)) / 1e9
    positions = 2048 * MODELS[name].hidden / 1e9 if name.startswith("gpt-") and not MODELS[name].experts else 0.0
    assert min(abs(counted - float(said)), abs(counted + positions - float(said))) <= allowed


@pytest.mark.parametrize("name", COUNTED)
def test_counts_by_hand(name):
    assert total_parameters(shape(name)) == pytest.approx(COUNTED[name], rel=1e-4)


@pytest.mark.parametrize("name", ACTIVE)
def test_parameters_that_a_token_visits(name):
    """The same model with as many experts as a token visits."""
    visited = total_parameters(shape(name, experts=MODELS[name].top_k))
    assert visited / 1e9 == pytest.approx(ACTIVE[name], rel=0.02)


def test_any_number_of_a_row_can_be_overridden():
    assert shape("mixtral-8x7b", layers=4).layers == 4
    assert shape("mixtral-8x7b", expert_ffn=7168).expert_ffn == 7168
    assert shape("deepseek-v3").latent == (1536, 512, 192, 64, 128)
    assert shape("qwen3-30b-a3b").head_width == 128
