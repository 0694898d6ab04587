"""Direct messages: who sends what to whom, in which position, with which draws."""

from fractions import Fraction

import numpy as np

from sim.workload.collective import direct
from tests.workload.collective.symbolic import sent_shares


def test_all_to_all_by_hand():
    plan = direct.all_to_all(4)
    assert plan.dst[plan.src == 2].tolist() == [3, 0, 1], "in step k member j sends to j + k + 1"
    assert plan.step[plan.src == 2].tolist() == [0, 1, 2] and np.array_equal(plan.draw, plan.step)
    assert not len(plan.before) and plan.own.all()
    assert plan.block[plan.src == 2].tolist() == [3 * 4 + 2, 2, 4 + 2]
    assert plan.message_bytes([1000], 2).tolist() == [[500] * 12]


def test_bytes_per_rank():
    for n in (2, 5, 16):
        share = Fraction(n - 1, n)
        for build, factor in ((direct.all_to_all, 1), (direct.reduce_scatter, 1), (direct.all_gather, 1), (direct.all_reduce, 2)):
            assert sent_shares(build(n)) == [factor * share] * n
        assert sent_shares(direct.broadcast(n)) == [n - 1] + [0] * (n - 1)


def test_a_sum_goes_out_when_all_of_it_has_come():
    plan = direct.all_reduce(3)
    meeting = np.flatnonzero(~plan.is_message)
    assert plan.src[meeting].tolist() == [0, 1, 2]
    came = plan.before[plan.then == meeting[1]]
    assert plan.dst[came].tolist() == [1, 1] and plan.adds[came].all()
    gone = plan.then[plan.before == meeting[1]]
    assert plan.src[gone].tolist() == [1, 1] and not plan.adds[gone].any()
    assert len(plan.before) == 2 * 6, "n(n-1) edges in and as many out, not n(n-1)^2"
