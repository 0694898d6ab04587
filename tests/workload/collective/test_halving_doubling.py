"""Recursive halving and doubling: bytes and steps in closed form, powers of two and others."""

from fractions import Fraction

import pytest

from sim.workload.collective import halving_doubling
from tests.workload.collective.symbolic import sent_shares


@pytest.mark.parametrize("n", [2, 4, 8, 64])
def test_powers_of_two_send_as_much_as_a_ring_in_log_n_steps(n):
    log = n.bit_length() - 1
    for build, rounds in ((halving_doubling.all_reduce, 2), (halving_doubling.reduce_scatter, 1), (halving_doubling.all_gather, 1)):
        plan = build(n)
        assert sent_shares(plan) == [Fraction(rounds * (n - 1), n)] * n
        assert int(plan.step.max()) + 1 == rounds * log == len(plan) // n


def test_eight_members_by_hand():
    plan = halving_doubling.reduce_scatter(8)
    first, last = plan.src == 0, plan.step == 2
    assert plan.dst[first].tolist() == [4, 2, 1]
    assert list(zip(plan.block[first].tolist(), plan.part[first].tolist())) == [(4, 4), (2, 2), (1, 1)]
    assert plan.dst[last].tolist() == [1, 0, 3, 2, 5, 4, 7, 6]


@pytest.mark.parametrize(("n", "pairs"), [(3, 1), (5, 1), (6, 2), (12, 4), (13, 5)])
def test_others_hand_over_before_and_get_the_result_after(n, pairs):
    seats = n - pairs
    two = 2 * Fraction(seats - 1, seats)
    shares = sent_shares(halving_doubling.all_reduce(n))
    assert shares == [Fraction(1), two + 1] * pairs + [two] * (n - 2 * pairs)
    plan = halving_doubling.all_gather(n)
    assert sent_shares(plan)[:2] == [Fraction(1, n), sent_shares(plan)[1]]
    assert (plan.step == int(plan.step.max())).sum() == pairs
    assert sorted(plan.carried()[1][plan.carried()[0] == len(plan) - 1].tolist()) == [block for block in range(n) if block != 2 * pairs - 2]
