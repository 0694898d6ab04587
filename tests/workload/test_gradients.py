"""Gradient buckets: by hand, and every parameter in exactly one."""

import numpy as np
import pytest

from sim.workload.gradients import buckets, parts
from sim.workload.strategy import Strategy
from sim.workload.transformer import Shape, embedding_parameters, layer_parameters, stage_parameters

SHAPE = Shape(layers=4, hidden=1024, heads=8, ffn_hidden=4096, vocabulary=1024, sequence=128)
LAYER, EMBEDDING = layer_parameters(SHAPE), embedding_parameters(SHAPE)


def test_buckets_by_hand():
    """Layers of 12.6 M parameters in buckets of 20 M: two layers are touched before the first is full."""
    cut = buckets(SHAPE, Strategy(1, 1, 4, bucket_parameters=20_000_000), 0)
    assert LAYER == 12_596_224
    total = 4 * LAYER + EMBEDDING + 2048
    assert cut.parameters.tolist() == [20_000_000, 20_000_000, total - 40_000_000]
    assert cut.part.tolist() == [2, 4, 5], "second layer from the end, fourth, embedding"


def test_parts_of_stages():
    two = Strategy(1, 2, 1)
    assert parts(SHAPE, two, 0).tolist() == [0, LAYER, LAYER, EMBEDDING]
    assert parts(SHAPE, two, 1).tolist() == [EMBEDDING + 2048, LAYER, LAYER, 0]
    assert parts(SHAPE, Strategy(1, 1, 1), 0).tolist() == [2048, LAYER, LAYER, LAYER, LAYER, EMBEDDING]


@pytest.mark.parametrize("pp", [1, 2, 4])
@pytest.mark.parametrize("tp", [1, 2])
def test_buckets_hold_every_parameter_once(tp, pp):
    strategy = Strategy(tp, pp, 4, bucket_parameters=4_000_000)
    for stage in range(pp):
        cut = buckets(SHAPE, strategy, stage)
        total = stage_parameters(SHAPE, tp, pp, stage)
        assert cut.parameters.sum() == parts(SHAPE, strategy, stage).sum() == total
        assert (cut.parameters[:-1] == strategy.bucket_size).all()
        assert (np.diff(cut.part) >= 0).all()
        assert cut.part[-1] <= SHAPE.layers // pp + 1
