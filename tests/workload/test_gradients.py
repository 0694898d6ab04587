"""Gradient buckets: by hand, and every parameter in exactly one."""

import pytest

from sim.workload.gradients import EMBEDDING, buckets, expert_parts, parts
from sim.workload.strategy import Strategy
from sim.workload.transformer import Shape, embedding_parameters, expert_parameters, layer_parameters, stage_parameters

SHAPE = Shape(layers=4, hidden=1024, heads=8, ffn_hidden=4096, vocabulary=1024, sequence=128)
LAYER, VOCABULARY = layer_parameters(SHAPE), embedding_parameters(SHAPE)


def test_buckets_by_hand():
    """Layers of 12.6 M parameters in buckets of 20 M: two layers are touched before the first is full."""
    cut = buckets(parts(SHAPE, Strategy(1, 1, 4), 0), 20_000_000)
    assert LAYER == 12_596_224
    total = 4 * LAYER + VOCABULARY + 2048
    assert cut.parameters.tolist() == [20_000_000, 20_000_000, total - 40_000_000]
    assert cut.part == [2, 0, EMBEDDING], "second layer from the end, fourth, embedding"


def test_parts_of_stages():
    two = Strategy(1, 2, 1)
    assert parts(SHAPE, two, 0) == [(1, LAYER), (0, LAYER), (EMBEDDING, VOCABULARY)]
    assert parts(SHAPE, two, 1) == [(4, VOCABULARY + 2048), (3, LAYER), (2, LAYER)]
    assert parts(SHAPE, Strategy(1, 1, 1), 0) == [(4, 2048), (3, LAYER), (2, LAYER), (1, LAYER), (0, LAYER), (EMBEDDING, VOCABULARY)]
    interleaved = Strategy(1, 2, 1, chunks=2, schedule="interleaved")
    assert [part for part, _ in parts(SHAPE, interleaved, 0)] == [2, 0, EMBEDDING], "virtual stages 0 and 2"


def test_routed_experts_are_apart():
    mixture = Shape(4, 64, 4, 256, 128, 128, experts=8, top_k=2, expert_ffn=32, dense_layers=1)
    assert expert_parts(mixture, Strategy(1, 1, 4, ep=2), 0) == [(layer, 4 * expert_parameters(mixture)) for layer in (3, 2, 1)]
    assert expert_parameters(mixture) == 2 * 64 * 32


@pytest.mark.parametrize("pp", [1, 2, 4])
@pytest.mark.parametrize("tp", [1, 2])
def test_buckets_hold_every_parameter_once(tp, pp):
    strategy = Strategy(tp, pp, 4)
    for stage in range(pp):
        found = parts(SHAPE, strategy, stage)
        cut = buckets(found, 4_000_000)
        assert cut.parameters.sum() == sum(size for _, size in found) == stage_parameters(SHAPE, tp, pp, stage)
        assert (cut.parameters[:-1] == 4_000_000).all()
        places = [[part for part, _ in found].index(part) for part in cut.part]
        assert places == sorted(places)
