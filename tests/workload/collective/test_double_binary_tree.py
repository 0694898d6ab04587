"""Two complementary trees: their shape, bytes per member, depth, and chains in servers."""

from fractions import Fraction

import numpy as np
import pytest

from sim.workload.collective import double_binary_tree
from sim.workload.collective.double_binary_tree import chained, pair
from sim.workload.collective.registry import template
from tests.workload.collective.symbolic import sent_shares


def depth(parent):
    found = []
    for node in range(len(parent)):
        steps = 0
        while parent[node] >= 0:
            node, steps = parent[node], steps + 1
        found.append(steps)
    return max(found)


def test_trees_of_eight_by_hand():
    first, second = pair(8)
    assert first.tolist() == [-1, 2, 4, 2, 0, 6, 4, 6]
    assert second.tolist() == [1, 3, 1, 7, 5, 3, 5, -1]


@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 8, 16, 31, 33, 64, 100])
def test_inner_nodes_of_one_tree_are_leaves_of_the_other(n):
    trees = pair(n)
    inner = [set(tree[tree >= 0].tolist()) for tree in trees]
    assert len(inner[0] & inner[1]) <= n % 2, "with an odd number one member has a child in both"
    for tree in trees:
        assert (tree < 0).sum() == 1 and np.bincount(tree[tree >= 0]).max() <= 2
        assert depth(tree) <= n.bit_length()


@pytest.mark.parametrize("n", [2, 8, 13, 64])
def test_about_the_data_once_up_and_once_down(n):
    up = [0] * n
    plan = template("all-reduce", "double-binary-tree", n)
    for src, adds in zip(plan.src.tolist(), plan.adds.tolist()):
        up[src] += Fraction(1, 2) if adds else 0
    shares = sent_shares(plan)
    assert sum(shares) == 2 * (n - 1), "as in a ring, 2(n-1)/n on average"
    assert max(up) <= 1 and max(share - once for share, once in zip(shares, up)) <= 1
    assert sent_shares(template("all-reduce", "double-binary-tree", 2)) == [1, 1], "of two each sends S, and a ring's 2(n-1)/n S is S as well"


def test_members_of_a_server_are_a_chain_that_begins_with_the_member_of_the_channel():
    parent = chained(np.array([-1, 0]), 4, first=1)
    assert parent.tolist() == [3, -1, 1, 2, 7, 1, 5, 6]
    plan = template("all-reduce", "double-binary-tree", 8, 4, channels=4)
    across = [(s % 4, d % 4) for s, d in zip(plan.src.tolist(), plan.dst.tolist()) if s // 4 != d // 4]
    assert sorted(set(across)) == [(0, 0), (1, 1), (2, 2), (3, 3)], "every channel crosses on its own rail"
    per_nic = sum(Fraction(int(p), int(q)) for s, d, p, q in zip(plan.src, plan.dst, plan.part, plan.parts) if s == 0 and d // 4 == 1)
    assert per_nic == Fraction(1, 4), "between two servers S crosses each way, where a ring's 2(n-1)/n S would: NVIDIA/nccl#812"


def test_steps_are_twice_the_depth():
    plan = double_binary_tree.lanes(64, 1, 1)[0]
    assert int(plan.step.max()) + 1 == 2 * depth(pair(64)[0]) == 2 * 6
