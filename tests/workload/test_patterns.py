"""Traffic patterns: who sends to whom."""

import numpy as np

from sim.workload import patterns


def pairs(flows):
    return list(zip(flows.src.tolist(), flows.dst.tolist()))


def test_incast_leaves_the_receiver_out():
    flows = patterns.incast(3, 1, 500)
    assert pairs(flows) == [(0, 1), (2, 1), (3, 1)]
    assert flows.n_bytes.tolist() == [500] * 3
    assert flows.draw_key.tolist() == [0, 1, 2]
    assert pairs(patterns.incast(2, 5, 1)) == [(0, 5), (1, 5)]


def test_ring():
    assert pairs(patterns.ring(3, 1)) == [(0, 1), (1, 2), (2, 0)]


def test_permutation_has_no_fixed_point_and_follows_the_seed():
    flows = patterns.permutation(50, 1, seed=3)
    assert sorted(flows.dst) == list(range(50))
    assert (flows.src != flows.dst).all()
    assert np.array_equal(flows.dst, patterns.permutation(50, 1, seed=3).dst)
    assert not np.array_equal(flows.dst, patterns.permutation(50, 1, seed=4).dst)


def test_all_to_all():
    flows = patterns.all_to_all(4, 1)
    assert pairs(flows)[:4] == [(0, 1), (0, 2), (0, 3), (1, 2)]
    assert len(set(pairs(flows))) == 12
    assert len(set(flows.draw_key.tolist())) == 12


def test_explicit_flows_are_sorted_by_start_and_ties_keep_their_order():
    flows, order = patterns.explicit([0, 1, 2], [3, 3, 3], [10, 20, 0], [5, 0, 0])
    assert flows.src.tolist() == [1, 2, 0]
    assert flows.start_ps.tolist() == [0, 0, 5]
    assert flows.n_bytes.tolist() == [20, 0, 10]
    assert order.tolist() == [1, 2, 0]
