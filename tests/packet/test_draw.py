"""Draws that depend on what they are for and on nothing else."""

import numpy as np

from sim.jit import entry
from sim.packet.draw import unit_draw


@entry
def fill(out, seed, key, number, hop, which):
    for i in range(out.size):
        out[i] = unit_draw(
            seed + (which == 0) * i, key + (which == 1) * i, number + (which == 2) * i, hop + (which == 3) * i
        )


def draws(count=20_000, seed=1, key=5, number=7, hop=3, along=2):
    """Draws whose `along`-th argument (seed, key, number, hop) runs from its value upwards."""
    out = np.empty(count)
    fill(out, np.int64(seed), np.int64(key), np.int64(number), np.int64(hop), np.int64(along))
    return out


def test_they_are_uniform_along_every_argument():
    for along in range(4):
        found = draws(along=along)
        assert 0 <= found.min() and found.max() < 1
        # mean 1/2 with standard error 0.29/sqrt(20 000) = 0.002; a twentieth in every twentieth, 1000 +- 31
        assert abs(found.mean() - 0.5) < 4 * 0.00204
        assert np.abs(np.histogram(found, 20, (0, 1))[0] - 1000).max() < 5 * 31


def test_neighbours_are_independent():
    for along in range(4):
        found = draws(along=along)
        assert abs(np.corrcoef(found[:-1], found[1:])[0, 1]) < 4 / np.sqrt(20_000)
    assert abs(np.corrcoef(draws(hop=3), draws(hop=4))[0, 1]) < 4 / np.sqrt(20_000)
    assert abs(np.corrcoef(draws(key=0), draws(key=1))[0, 1]) < 4 / np.sqrt(20_000)


def test_equal_arguments_give_equal_draws():
    assert np.array_equal(draws(), draws())
    assert not np.array_equal(draws(seed=1), draws(seed=2))


def test_negative_and_large_keys():
    found = draws(key=-(2**40), along=1)
    assert 0 <= found.min() and abs(found.mean() - 0.5) < 4 * 0.00204
