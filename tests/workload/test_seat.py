"""Rings and trees of training over all NICs of a server: which NICs carry what, bytes as before, members server by server."""

import numpy as np
import pytest

from sim.errors import ScenarioError
from sim.scenario import Scenario
from sim.workload.blocks import FlowKind
from sim.workload.build import build_dag
from sim.workload.jobs import strategy_of
from sim.workload.seat import by_server, channels_of
from sim.workload.sizes import sizes
from sim.workload.strategy import Strategy

SMALL = {"layers": 4, "hidden": 64, "heads": 16, "vocabulary": 128, "sequence": 64}
PER_NODE = 4


def made(gpus=16, **parallelism):
    cluster = {"topology": "rail-optimised", "gpus": gpus, "gpus_per_node": PER_NODE}
    return Scenario.from_data({"cluster": cluster, "model": SMALL, "parallelism": parallelism})


def sent(scenario, kind):
    """Bytes that every GPU sends in all, and those that leave its server."""
    dag = build_dag(scenario)
    mine = dag.flow_kind == kind
    src, dst, size = dag.flow_src[mine], dag.flow_dst[mine], dag.flow_bytes[mine]
    away = src // PER_NODE != dst // PER_NODE
    return np.bincount(src, size, scenario.cluster.gpus), np.bincount(src[away], size[away], scenario.cluster.gpus), away.sum()


@pytest.mark.parametrize(
    ("kind", "parallelism"),
    [
        (FlowKind.DP, {"dp": 16}),
        (FlowKind.DP, {"tp": 2, "dp": 8}),
        (FlowKind.DP, {"dp": 16, "optimizer": "all-reduce"}),
        (FlowKind.DP, {"dp": 16, "optimizer": "zero-3"}),
        (FlowKind.DP, {"tp": 2, "dp": 8, "placement": "spread"}),
        (FlowKind.DP, {"tp": 2, "dp": 8, "placement": "random"}),
        (FlowKind.CP, {"cp": 16, "dp": 1}),
        (FlowKind.TP, {"tp": 16, "dp": 1}),
    ],
)
def test_all_nics_of_a_server_carry_the_same(kind, parallelism):
    """Each ring leaves a server once: a ring of n members in servers of g has its bytes on one NIC of g, g rings on all."""
    every, away, _ = sent(made(**parallelism), kind)
    inside = PER_NODE // parallelism.get("tp", 1) or PER_NODE
    assert away == pytest.approx(np.full(16, every[0] / inside), rel=0.01) and every == pytest.approx(np.full(16, every[0]), rel=0.01)
    one, alone, _ = sent(made(**parallelism, channels=1), kind)
    assert one == pytest.approx(every, rel=0.01)
    assert sorted(np.flatnonzero(alone) // PER_NODE) == sorted(list(range(4)) * (PER_NODE // inside))


def test_trees_too():
    """Two trees a channel, each over the servers' own members: 8 in servers of 4 with 4 channels use every NIC."""
    _, away, _ = sent(made(gpus=8, dp=8, optimizer="all-reduce", gradient_algorithm="double-binary-tree"), FlowKind.DP)
    assert (away > 0).all()


def test_one_ring_suffices_within_a_server_or_where_each_member_has_its_own():
    strategy = Strategy(1, 1, 8)
    assert channels_of(strategy, "ring", 4, 4) == 1 == channels_of(strategy, "ring", 8, 1)
    assert channels_of(strategy, "ring", 8, 4) == 4 == channels_of(strategy, "double-binary-tree", 8, 4)
    assert channels_of(strategy, "halving-doubling", 8, 4) == 1 == channels_of(strategy, "hierarchical", 8, 4)


@pytest.mark.parametrize(("wished", "inside", "rings"), [(2, 4, 2), (8, 4, 4), (8, 1, 8), (1, 4, 1)])
def test_wished_channels_have_a_nic_each_where_several_members_share_a_server(wished, inside, rings):
    assert channels_of(Strategy(1, 1, 8, channels=wished), "ring", 8, inside) == rings


def test_channels_are_counted_and_refused_like_everything_else():
    scenario = made(dp=16, channels=3)
    assert strategy_of(scenario.parallelism).channels == 3 and sizes(scenario).flows == build_dag(scenario).n_flows
    assert sent(scenario, FlowKind.DP)[2] == 3 * sent(made(dp=16, channels=1), FlowKind.DP)[2]
    with pytest.raises(ScenarioError, match="parallelism.channels = 0"):
        made(dp=16, channels=0)


def test_members_go_server_by_server_and_else_in_their_order():
    groups, host = np.array([[0, 1, 2, 3], [4, 5, 6, 7]]), np.array([0, 4, 1, 5, 12, 8, 9, 13])
    assert by_server(groups, host, PER_NODE).tolist() == [[0, 2, 1, 3], [5, 6, 4, 7]]
