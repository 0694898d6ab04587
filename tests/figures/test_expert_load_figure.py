"""Loads of experts: bars of the layer with the busiest rank, busiest first, and the range over all layers."""

import numpy as np

from views.figures.expert_load import MOST_BARS, expert_load

LOADS = np.array([[1.0, 1.2, 0.8], [0.5, 0.9, 1.6]])


def test_bars_are_those_of_the_busiest_layer_in_order():
    (bars,) = expert_load(LOADS).data
    assert list(bars.x) == ["2", "1", "0"] and list(bars.y) == [1.6, 0.9, 0.5]


def test_lines_reach_over_all_layers():
    (bars,) = expert_load(LOADS).data
    np.testing.assert_allclose(bars.y + bars.error_y.array, [1.6, 1.2, 1.0])
    np.testing.assert_allclose(bars.y - bars.error_y.arrayminus, [0.8, 0.9, 0.5])
    assert bars.hovertext[0] == "expert-parallel rank 2: 1.60 × the mean, 0.80 to 1.60 in all layers"


def test_of_many_ranks_the_busiest_are_drawn():
    (bars,) = expert_load(np.linspace(0.1, 1.9, 256)[None]).data
    assert len(bars.x) == MOST_BARS and bars.x[0] == "255"
