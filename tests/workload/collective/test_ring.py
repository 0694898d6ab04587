"""Rings: bytes per rank, steps, order of the members by channel, broadcast as a chain."""

from fractions import Fraction

import pytest

from sim.workload.collective import ring
from sim.workload.collective.registry import template
from tests.workload.collective.symbolic import sent_shares


@pytest.mark.parametrize("n", [2, 3, 8, 64])
@pytest.mark.parametrize(("build", "rounds"), [(ring.all_reduce, 2), (ring.reduce_scatter, 1), (ring.all_gather, 1)])
def test_bytes_per_rank_and_steps(n, build, rounds):
    plan = build(n)
    assert sent_shares(plan) == [Fraction(rounds * (n - 1), n)] * n
    assert int(plan.step.max()) + 1 == rounds * (n - 1)


def test_messages_of_three_members_by_hand():
    plan = ring.all_reduce(3)
    assert list(zip(plan.src.tolist(), plan.dst.tolist(), plan.step.tolist()))[:6] == [(0, 1, 0), (1, 2, 0), (2, 0, 0), (0, 1, 1), (1, 2, 1), (2, 0, 1)]
    assert plan.block.tolist() == [2, 0, 1, 1, 2, 0, 0, 1, 2, 2, 0, 1]
    assert plan.adds.tolist() == [True] * 6 + [False] * 6 and plan.own.tolist() == [True] * 9 + [False] * 3
    assert {(0, 4), (1, 5), (2, 3)} <= set(zip(plan.before.tolist(), plan.then.tolist()))
    assert plan.message_bytes([10], 4).tolist() == [[16] * 12], "10 elements of 4 bytes are cut into 4, 4 and 2: padded to 4"


def test_channels_leave_servers_by_members_of_their_own_and_stay_on_their_rail():
    orders = ring.orders(8, 4, 4)
    assert [order.tolist() for order in orders] == [
        [0, 1, 2, 3, 7, 6, 5, 4], [1, 2, 3, 0, 4, 7, 6, 5], [2, 3, 0, 1, 5, 4, 7, 6], [3, 0, 1, 2, 6, 5, 4, 7],
    ]  # fmt: skip
    for order in orders:
        crossing = [(a, b) for a, b in zip(order.tolist(), [*order[1:].tolist(), order[0]]) if a // 4 != b // 4]
        assert len(crossing) == 2 and all(a % 4 == b % 4 for a, b in crossing)
    assert ring.orders(8, 1, 2) == [None, None], "without company in the server members come in their order"


def test_channels_share_the_data_evenly():
    assert sent_shares(template("all-reduce", "ring", 8, 4, channels=4)) == [Fraction(14, 8)] * 8


@pytest.mark.parametrize("channels", [1, 3])
def test_a_broadcast_is_a_chain_from_the_first_member(channels):
    plan = template("broadcast", "ring", 12, 4, channels=channels)
    shares = sent_shares(plan)
    assert sum(shares) == 11 and max(shares) == 1 and int(plan.step.max()) == 10
    assert set(plan.src[plan.step == 0].tolist()) == {0}
