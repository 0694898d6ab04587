"""Loads of experts by hand: none has more than all tokens, the mean stays 1, and capacity cuts afterwards."""

from dataclasses import replace

import numpy as np
import pytest

from sim.workload.experts import loads, shared_out
from sim.workload.strategy import Strategy
from sim.workload.transformer import Shape

MIXTURE = Shape(4, 64, 4, 256, 100, 128, experts=8, top_k=2, expert_ffn=64)


@pytest.mark.parametrize(
    ("drawn", "most", "shares"),
    [
        ([1, 10, 4, 1], 4, [0.25, 2.5, 1, 0.25]),  # nothing to cut
        ([1, 10, 4, 1], 2, [1 / 3, 2, 4 / 3, 1 / 3]),  # 2.5 is cut, 2 are left for 1 + 4 + 1
        ([1, 10, 4, 1], 1.5, [0.5, 1.5, 1.5, 0.5]),  # then 4 of 6 would have 2.5 x 4/6, which is cut too
        ([1, 10, 4, 1], 1, [1, 1, 1, 1]),  # every token visits every expert
        ([3], 1, [1]),
    ],
)
def test_what_is_cut_off_goes_to_the_others_in_proportion(drawn, most, shares):
    assert shared_out(np.array(drawn, float), most) == pytest.approx(shares)


@pytest.mark.parametrize("top_k", [1, 2, 5, 8])
@pytest.mark.parametrize("skew", [0.5, 2.0, 10.0])
def test_no_expert_has_more_than_all_tokens_and_none_is_lost(top_k, skew):
    shape = replace(MIXTURE, top_k=top_k)
    found = np.array([loads(shape, Strategy(1, 1, 8, ep=8, expert_skew=skew), layer, seed) for layer in range(4) for seed in range(20)])
    assert found.max() <= 8 / top_k * (1 + 1e-12)
    assert found.mean(axis=1) == pytest.approx(1, abs=1e-12)
    if skew == 10 and 1 < top_k < 8:
        assert np.isclose(found.max(axis=1), 8 / top_k).any(), "some draw is cut"


def test_capacity_drops_what_is_left_after_that():
    free, capped = (loads(MIXTURE, Strategy(1, 1, 8, ep=8, expert_skew=10.0, capacity_factor=limit), 1, 3) for limit in (None, 1.25))
    assert capped == pytest.approx(np.minimum(free, 1.25)) and capped.mean() < 1


def test_a_rank_has_the_mean_of_its_experts():
    each, pairs = (loads(MIXTURE, Strategy(1, 1, 8, ep=ep, expert_skew=1.0), 2, 5) for ep in (8, 4))
    assert pairs == pytest.approx(each.reshape(4, 2).mean(axis=1))
