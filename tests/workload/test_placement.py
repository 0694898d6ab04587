"""Ranks on GPUs."""

import numpy as np
import pytest

from sim.errors import ScenarioError
from sim.workload.placement import place
from sim.workload.strategy import Strategy


def test_ranks_fill_server_after_server():
    assert place(Strategy(2, 1, 4), 16, 8, 0).tolist() == list(range(8))
    assert place(Strategy(2, 1, 4), 16, 8, 0, first_gpu=16).tolist() == list(range(16, 24))


def test_spread_goes_round_the_servers():
    assert place(Strategy(2, 1, 4, placement="spread"), 8, 4, 0).tolist() == [0, 1, 4, 5, 2, 3, 6, 7]


def test_spread_knows_where_servers_begin():
    assert place(Strategy(1, 1, 6, placement="spread"), 6, 4, 0, first_gpu=2).tolist() == [2, 4, 3, 5, 6, 7]
    assert place(Strategy(2, 1, 3, placement="spread"), 8, 4, 0, first_gpu=2).tolist() == [2, 3, 4, 5, 8, 9]


def test_random_keeps_tensor_groups_together_and_repeats():
    found = place(Strategy(2, 1, 8, placement="random"), 16, 8, 3)
    assert sorted(found) == list(range(16))
    pairs = found.reshape(-1, 2)
    assert (pairs[:, 1] == pairs[:, 0] + 1).all() and (pairs[:, 0] % 2 == 0).all()
    assert (found == place(Strategy(2, 1, 8, placement="random"), 16, 8, 3)).all()
    assert not np.array_equal(found, place(Strategy(2, 1, 8, placement="random"), 16, 8, 4))


def test_more_ranks_than_gpus():
    with pytest.raises(ScenarioError, match="8 ranks cannot be placed on 4 GPUs"):
        place(Strategy(2, 1, 4), 4, 4, 0)
