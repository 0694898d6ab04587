"""Collectives of imported graphs: dimension by dimension every contribution arrives once, and bytes are those of the formulas."""

from fractions import Fraction

import numpy as np
import pytest

from sim.errors import ScenarioError
from sim.workload.program_collectives import Plan, extent, ring_all_to_all, template
from tests.workload.collective.symbolic import prove, sent_shares

THREE = Plan((2, 3, 2))
SIZES = ((0, 2), (1, 3), (2, 2))


@pytest.mark.parametrize("collective", ["all-reduce", "reduce-scatter", "all-gather"])
@pytest.mark.parametrize("sizes", [SIZES, ((0, 2), (2, 2)), ((1, 3),)])
def test_every_contribution_arrives_once_whatever_the_dimensions(collective, sizes):
    prove(template(THREE, collective, sizes), collective)


@pytest.mark.parametrize("name", ["ring", "direct", "halving-doubling"])
def test_other_algorithms_along_the_dimensions(name):
    plan = Plan((2, 4), (("all-reduce", (name, name)),))
    prove(template(plan, "all-reduce", ((0, 2), (1, 4))), "all-reduce")


def test_members_send_what_the_formulas_say():
    n = 12
    assert sent_shares(template(THREE, "all-reduce", SIZES)) == [Fraction(2 * (n - 1), n)] * n
    assert sent_shares(template(THREE, "reduce-scatter", SIZES)) == [Fraction(n - 1, n)] * n
    assert sent_shares(template(THREE, "all-to-all", SIZES)) == [Fraction(1, 2) + Fraction(2, 3) + Fraction(1, 2)] * n
    assert sent_shares(ring_all_to_all(4)) == [Fraction(3 + 2 + 1, 4)] * 4


def test_messages_stay_within_their_dimension():
    found = template(Plan((2, 3)), "all-reduce", ((0, 2), (1, 3)))
    first, second = (found.src // 2 != found.dst // 2), (found.src % 2 != found.dst % 2)
    assert (first ^ second).all() and first.any() and second.any()


def test_an_all_to_all_round_the_ring_uses_neighbours_only():
    found = ring_all_to_all(5)
    assert ((found.dst - found.src) % 5 == 1).all() and len(found) == 20
    assert found.message_bytes(np.array([100]), 1)[0][:5].tolist() == [80] * 5


def test_one_algorithm_runs_over_all_dimensions_at_once():
    plan = Plan((2, 4), (("all-reduce", ("ring",)),))
    found = template(plan, "all-reduce", ((0, 2), (1, 4)))
    assert len(found) == 2 * 7 * 8 and ((found.dst - found.src) % 8 == 1).all()


def test_splits_cut_every_message():
    one, four = template(Plan((2, 2)), "all-reduce", ((0, 2), (1, 2))), template(Plan((2, 2), (), 4), "all-reduce", ((0, 2), (1, 2)))
    assert len(four) == 4 * len(one) and sent_shares(four) == sent_shares(one)


def test_a_broadcast_begins_at_the_first_member_and_a_barrier_moves_nothing():
    found = template(THREE, "broadcast", SIZES)
    prove(found, "broadcast")
    assert set(found.src[found.step == 0].tolist()) == {0}
    prove(template(THREE, "barrier", SIZES), "all-reduce")


@pytest.mark.parametrize(
    "members, sizes",
    [
        (range(12), SIZES), ([0, 1], ((0, 2),)), ([1, 3, 5], ((1, 3),)), ([0, 1, 6, 7], ((0, 2), (2, 2))),
        ([0, 1, 2], ((0, 3),)), ([0, 3], ((0, 2),)), ([4, 99], ((0, 2),)),
    ],
)  # fmt: skip
def test_extents_of_groups(members, sizes):
    assert extent(THREE, list(members)) == sizes


def test_without_dimensions_every_group_is_one():
    assert extent(Plan(), [3, 5, 9]) == ((0, 3),)


def test_an_algorithm_that_does_not_exist_for_a_collective():
    with pytest.raises(ScenarioError, match="all-to-all"):
        template(Plan((), (("all-to-all", ("double-binary-tree",)),)), "all-to-all", ((0, 4),))
