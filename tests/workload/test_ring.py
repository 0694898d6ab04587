"""Ring collectives: bytes per rank, order of the flows, what waits for what."""

import numpy as np
import pytest

from sim.workload.blocks import FlowKind, TaskKind
from sim.workload.collect import Work
from sim.workload.collective import ring
from sim.workload.collective.template import instantiate, tasks_on
from tests.workload.tiny_player import play


@pytest.mark.parametrize("n", [2, 3, 8])
@pytest.mark.parametrize(("plan", "factor"), [(ring.all_reduce, 2), (ring.reduce_scatter, 1), (ring.all_gather, 1)])
def test_bytes_per_rank(n, plan, factor):
    size = 4 * 840 * n
    work = Work()
    instantiate(work, plan(n), np.arange(n)[None], np.array([size // 4]), 4, FlowKind.DP)
    flows = work.flows()
    for ends in (flows.src, flows.dst):
        assert np.bincount(ends, flows.n_bytes).tolist() == [factor * (n - 1) / n * size] * n


def test_chunks_are_padded_upwards():
    assert ring.all_gather(4).message_bytes(np.array([9, 8, 1]), 2)[:, 0].tolist() == [6, 4, 2]


def test_flows_of_two_rings_in_order():
    members = np.array([[0, 2, 4], [1, 3, 5]])
    work = Work()
    work.name(["other"])
    placed = instantiate(
        work, ring.reduce_scatter(3), members, np.array([30, 60]), 1, FlowKind.DP, names=lambda k, g: f"bucket {k}, group {g}"
    )
    flows = work.flows()
    assert placed.node.shape == (2, 2, 6)
    assert flows.src[:3].tolist() == [0, 2, 4]
    assert flows.dst[:3].tolist() == [2, 4, 0]
    assert flows.step[:6].tolist() == [0, 0, 0, 1, 1, 1]
    assert flows.collective[::6].tolist() == [1, 2, 3, 4]
    assert work.dag(6).collective_name[4] == "bucket 1, group 1"
    assert flows.n_bytes[[0, 12]].tolist() == [10, 20]
    assert not flows.draw_key.any(), "members, twins in other rings, steps and collectives draw alike"


def test_edges_of_a_series_by_hand():
    work = Work()
    ready, waits = np.array([[[0, 1, 2]], [[3, 4, 5]]]), np.array([[[6, 7, 8]], [[6, 7, 8]]])
    placed = instantiate(work, ring.reduce_scatter(3), np.arange(3)[None], np.array([3, 3]), 1, FlowKind.DP, ready=ready)
    placed.follow(work)
    placed.finish(work, waits)
    found = {}
    for before, after in zip(*work.done.arrays(10)):
        found.setdefault(int(after), set()).add(int(before))
    assert found == {
        10: {0}, 11: {1}, 12: {2},  # first step of the first collective: the own share
        13: {0, 12}, 14: {1, 10}, 15: {2, 11},  # second step: the own share and the arrival from the left
        16: {3, 12, 15, 13}, 17: {4, 10, 13, 14}, 18: {5, 11, 14, 15},  # next collective: its share, the last two arrivals of the first, what left last
        19: {3, 18}, 20: {4, 16}, 21: {5, 17},
        6: {12, 15, 18, 21}, 7: {10, 13, 16, 19}, 8: {11, 14, 17, 20},  # a member is done with the last two arrivals of each
    }  # fmt: skip


@pytest.mark.parametrize(("elements", "lag"), [(3 << 20, 2), (3 << 24, 1)])
def test_large_messages_of_a_queue_pair_go_one_at_a_time_small_ones_two(elements, lag):
    work = Work()
    placed = instantiate(work, ring.all_reduce(3), np.arange(3)[None], np.array([elements]), 4, FlowKind.DP)
    node = placed.node.reshape(4, 3) - placed.node.min()
    before, after = work.done.arrays()
    edges = set(zip(before.tolist(), after.tolist()))
    for member in range(3):
        mine = node[:, member].tolist()
        assert [(a, b) in edges for a, b in zip(mine, mine[1:])] == [lag == 1] * 3
        assert [(a, b) in edges for a, b in zip(mine, mine[2:])] == [lag == 2] * 2


def test_a_member_is_done_when_all_has_arrived_though_messages_of_a_queue_pair_overtake_each_other():
    work, rng, members = Work(), np.random.default_rng(3), np.arange(6)
    begin, end = (tasks_on(work, members[None, None], TaskKind.WAIT) for _ in range(2))
    instantiate(work, ring.all_gather(6), members[None], np.array([6000]), 1, FlowKind.DP, ready=begin).finish(work, end)
    dag, overtaken = work.dag(6), False
    for _ in range(50):
        started, ended, _ = play(dag, flow_ps=lambda size: int(rng.integers(1, 1000)))
        for member in members:
            arrived = ended[dag.n_tasks :][dag.flow_dst == member]
            overtaken |= bool((np.diff(arrived) < 0).any())
            assert started[end[0, 0, member]] >= arrived.max()
    assert overtaken
