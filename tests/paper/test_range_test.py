"""The range test on rates written by hand: when it fires, what it says was delivered, and that its memory does not grow with l."""

import numpy as np
import pytest

from sim.paper.range_test import BLOCKS, RangeTest


def first_steady(test, rates, per_sample=1.0):
    """(sample at which it fires, bytes in the window); rates: an array of samples x flows."""
    for k, row in enumerate(np.asarray(rates, float), 1):
        found = test.add(row, np.full(len(row), per_sample * k))
        if found is not None:
            return k, found
    return None


def test_constant_rates_are_steady_after_l_samples():
    assert first_steady(RangeTest(0.05, 10, 1), np.full((20, 1), 7.0))[0] == 10


def test_the_range_over_the_mean_must_be_below_theta():
    # 100 and 104: the range is 4 % of 102, 3.92 %
    rates = np.resize([[100.0], [104.0]], (40, 1))
    assert first_steady(RangeTest(0.0393, 10, 1), rates)[0] == 10
    assert first_steady(RangeTest(0.0392, 10, 1), rates) is None


def test_it_waits_until_what_was_unsteady_has_left_the_window():
    rates = np.concatenate([np.full((5, 1), 300.0), np.full((30, 1), 100.0)])
    assert first_steady(RangeTest(0.05, 10, 1), rates)[0] == 15


def test_every_flow_must_be_steady():
    rates = np.stack([np.full(30, 100.0), np.r_[np.linspace(200, 100, 12), np.full(18, 100.0)]], axis=1)
    assert first_steady(RangeTest(0.05, 10, 2), rates)[0] == 21  # 109 is the 11th sample, samples 12 to 21 are all 100


def test_bytes_are_those_of_the_window():
    k, in_window = first_steady(RangeTest(0.05, 10, 2), np.r_[np.full((5, 2), 300.0), np.full((30, 2), 100.0)], per_sample=3.0)
    assert k == 15 and in_window.tolist() == [30.0, 30.0]


@pytest.mark.parametrize("samples", [2, 100, BLOCKS, 500, 2000, 1_000_000])
def test_the_window_is_l_or_up_to_a_block_more(samples):
    test = RangeTest(0.05, samples, 1)
    assert samples <= test.window < samples + test.block and test.blocks <= 2 * BLOCKS and test.nbytes == 0


def test_a_long_window_moves_on_by_blocks():
    test = RangeTest(0.05, 500, 1)
    rates = np.concatenate([np.full((6, 1), 300.0), np.full((600, 1), 100.0)])
    assert test.block == 3 and first_steady(test, rates)[0] == 507  # samples 7 to 507 hold 501: whole blocks of three
    assert test.nbytes == 4 * 167 * 8
