"""Shapes of a transformer: parameters, FLOPs and bytes, by hand and against published equations."""

from dataclasses import replace

import pytest

from sim.catalogue.models import MODELS
from sim.workload.transformer import (
    Shape,
    chunk_layers,
    embedding_parameters,
    head_activation_bytes,
    head_forward_flops,
    hidden_state_bytes,
    iteration_flops,
    layer_activation_bytes,
    layer_forward_flops,
    layer_parameters,
    padded_vocabulary,
    stage_parameters,
    total_parameters,
)

SMALL = Shape(layers=4, hidden=8, heads=2, ffn_hidden=32, vocabulary=1000, sequence=16)


def shape(name, sequence=2048):
    row = MODELS[name]
    return Shape(row.layers, row.hidden, row.heads, row.ffn_hidden, row.vocabulary, sequence)


def test_layer_parameters_by_hand():
    # h = 8, f = 32: attention 4*64 + 4*8 = 288, MLP 2*8*32 + 32 + 8 = 552, norms 4*8 = 32
    assert layer_parameters(SMALL) == 288 + 552 + 32 == 12 * 64 + 13 * 8
    # t = 2: (256 + 24 + 512 + 32)/2 = 412 sharded, row-parallel biases 8 + 8 and norms 32 whole
    assert layer_parameters(SMALL, tp=2) == 412 + 48


def test_vocabulary_is_padded_as_megatron_does():
    assert padded_vocabulary(50257, 1) == 50304
    assert padded_vocabulary(50257, 8) == 51200
    assert embedding_parameters(SMALL, tp=2) == 1024 * 8 // 2


def test_tied_embedding_is_on_first_and_last_stage_only():
    per_layer, embedding = layer_parameters(SMALL, 2), embedding_parameters(SMALL, 2)
    stages = [stage_parameters(SMALL, 2, 4, stage) for stage in range(4)]
    assert stages == [per_layer + embedding, per_layer, per_layer, per_layer + 16 + embedding]
    assert stage_parameters(SMALL, 1, 1, 0) == 4 * layer_parameters(SMALL) + embedding_parameters(SMALL) + 16


@pytest.mark.parametrize("name", ["gpt-7b", "gpt-22b", "gpt-175b"])
def test_total_equals_equation_2_without_learned_positions(name):
    s = shape(name)
    l, h, v = s.layers, s.hidden, s.vocabulary
    equation_2 = 12 * l * h * h * (1 + 13 / (12 * h) + (v + s.sequence) / (12 * l * h))
    assert total_parameters(s) + s.sequence * h - 2 * h == pytest.approx(equation_2, rel=1e-12)


@pytest.mark.parametrize(("name", "batch"), [("gpt-7b", 512), ("gpt-175b", 1536)])
def test_iteration_flops_equal_equation_3(name, batch):
    s = shape(name)
    l, h, v, n = s.layers, s.hidden, s.vocabulary, s.sequence
    equation_3 = 72 * batch * n * l * h * h * (1 + n / (6 * h) + v / (12 * l * h))
    assert iteration_flops(s, batch) == pytest.approx(equation_3, rel=1e-12)


def test_forward_flops_by_hand():
    # b = 1, s = 16, h = 8: 24*16*64 + 4*256*8
    assert layer_forward_flops(SMALL, 1) == 24576 + 8192
    assert head_forward_flops(SMALL, 3) == 2 * 3 * 16 * 8 * 1000


def test_published_flops_of_megatron_turing():
    """60.1 s per iteration of 1920 sequences on 2240 GPUs is the published 126 TFLOP/s with full recomputation (4/3)."""
    s = Shape(105, 20480, 128, 81920, 51200, 2048)
    assert iteration_flops(s, 1920) * 4 / 3 / 60.1 / 2240 / 1e12 == pytest.approx(126, rel=0.01)


@pytest.mark.parametrize(
    ("name", "micro_batch", "in_flight_layers", "gibibytes"), [("gpt-22b", 4, 48, 59.25), ("gpt-175b", 1, 96 * (1 + 7 / 24), 66.84375)]
)
def test_published_activation_memory(name, micro_batch, in_flight_layers, gibibytes):
    """arXiv 2205.05198 figure 1, no recomputation, t = 8."""
    assert layer_activation_bytes(shape(name), micro_batch, 8) * in_flight_layers / 2**30 == pytest.approx(gibibytes, rel=1e-6)


def test_activation_bytes_by_hand():
    # sbh = 16*2*8 = 256, 5as/h = 20
    assert layer_activation_bytes(SMALL, 2) == 256 * (34 + 20)
    assert layer_activation_bytes(SMALL, 2, tp=4) == 256 * (10 + 24 / 4 + 20 / 4)
    assert head_activation_bytes(SMALL, 2, tp=2) == 4 * 256 + 4 * 32 * 1024 / 2
    assert hidden_state_bytes(SMALL, 2) == 2 * 256


@pytest.mark.parametrize(
    ("layers", "pp", "chunks", "sizes"),
    [
        (12, 2, 3, [2] * 6), (126, 16, 1, [7] + [8] * 14 + [7]), (7, 4, 1, [2, 2, 2, 1]), (3, 4, 1, [1, 1, 1, 0]),
        (10, 2, 4, [1, 1, 1, 2, 2, 1, 1, 1]), (1, 2, 2, [0, 1, 0, 0]),
    ],
)  # fmt: skip
def test_uneven_layers_are_missing_at_the_ends_the_last_first(layers, pp, chunks, sizes):
    shape = replace(MODELS["gpt-7b"], layers=layers)
    found = [chunk_layers(shape, pp, part % pp, part // pp, chunks) for part in range(pp * chunks)]
    assert [len(part) for part in found] == sizes
    assert [layer for part in found for layer in part] == list(range(layers))
