"""Stages in the server and on the rails: bytes over each, and who meets whom."""

from fractions import Fraction

import numpy as np
import pytest

from sim.workload.collective import hierarchical


def shares(plan, local):
    """What member 0 sends inside its server and across, as shares of the data."""
    found = {True: Fraction(0), False: Fraction(0)}
    for src, dst, part, parts in zip(plan.src.tolist(), plan.dst.tolist(), plan.part.tolist(), plan.parts.tolist()):
        if src == 0:
            found[dst < local] += Fraction(part, parts)
    return found[True], found[False]


@pytest.mark.parametrize(("nodes", "local"), [(4, 8), (2, 2), (3, 4)])
def test_bytes_in_the_server_and_across(nodes, local):
    n = nodes * local
    inside, rail = Fraction(local - 1, local), Fraction(nodes - 1, nodes) / local
    assert shares(hierarchical.all_reduce(n, local), local) == (2 * inside, 2 * rail)
    assert shares(hierarchical.reduce_scatter(n, local), local) == (inside, rail)
    assert shares(hierarchical.all_gather(n, local), local) == (inside, rail)
    assert shares(hierarchical.all_to_all(n, local), local) == (inside, Fraction(nodes - 1, nodes))


@pytest.mark.parametrize("build", [hierarchical.all_reduce, hierarchical.reduce_scatter, hierarchical.all_gather, hierarchical.all_to_all])
def test_nothing_changes_rails_between_servers(build):
    plan = build(12, 4)
    across = plan.src // 4 != plan.dst // 4
    assert (plan.src[across] % 4 == plan.dst[across] % 4).all() and across.any() and not across.all()


def test_steps_of_an_all_reduce():
    plan = hierarchical.all_reduce(32, 8)
    assert int(plan.step.max()) + 1 == 7 + 2 * 3 + 7
    assert len(plan) == 32 * (7 + 6 + 7)


def test_all_to_all_of_two_servers_by_hand():
    plan = hierarchical.all_to_all(4, 2)
    assert list(zip(plan.src.tolist(), plan.dst.tolist(), plan.part.tolist())) == [
        (0, 1, 2), (1, 0, 2), (2, 3, 2), (3, 2, 2), (0, 2, 2), (1, 3, 2), (2, 0, 2), (3, 1, 2),
    ]  # fmt: skip
    assert sorted(zip(plan.before.tolist(), plan.then.tolist())) == [(0, 5), (1, 4), (2, 7), (3, 6)]
    row, block = plan.carried()
    assert [block[row == 0].tolist(), block[row == 5].tolist()] == [[1 * 4 + 0, 3 * 4 + 0], [3 * 4 + 0, 3 * 4 + 1]]


def test_one_member_in_a_server_is_a_ring_and_one_server_too():
    assert np.array_equal(hierarchical.all_reduce(4, 1).dst, hierarchical.all_reduce(4, 1).src.reshape(-1, 4)[:, [1, 2, 3, 0]].ravel())
    assert len(hierarchical.all_reduce(4, 4)) == 2 * 3 * 4
