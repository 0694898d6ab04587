"""Collectives of a scenario as graphs: repeats in turn, names, hosts, counts told beforehand."""

import numpy as np
import pytest

from sim.case import entropy
from sim.errors import ScenarioError
from sim.scenario import Scenario
from sim.workload.blocks import FlowKind, TaskKind
from sim.workload.build import build_dag, flow_order
from sim.workload.collective.registry import LANES
from sim.workload.collectives import counted_load
from sim.workload.sizes import sizes
from tests.workload.tiny_player import play


def scenario(gpus=16, **traffic):
    cluster = {"topology": "rail-optimised", "gpus": gpus, "gpus_per_node": 4}
    return Scenario.from_data({"cluster": cluster, "traffic": {"pattern": "collective", "collective_bytes": 1_000_003, **traffic}})


@pytest.mark.parametrize(("collective", "algorithm"), LANES)
@pytest.mark.parametrize("more", [{}, {"repeat": 3, "chunks": 2, "ranks": 8}])
def test_graphs_are_counted_as_built(collective, algorithm, more):
    found = scenario(collective=collective, algorithm=algorithm, **more)
    counted, dag = sizes(found), build_dag(found)
    dag.validate()
    assert (counted.tasks, counted.flows, counted.network_bytes) == (dag.n_tasks, dag.n_flows, dag.flow_bytes.sum())
    assert np.array_equal(dag.flow_collective, dag.flow_iteration) and len(dag.collective_name) == found.traffic.repeat
    assert (dag.flow_kind == FlowKind.COLLECTIVE).all() and len(flow_order(found)) == dag.n_flows


def test_a_ring_by_hand():
    dag = build_dag(scenario(ranks=[3, 5, 9], collective_bytes=3000))
    assert dag.collective_name == ("all-reduce, ring",)
    assert dag.flow_src.tolist() == [3, 5, 9] * 4 and dag.flow_dst.tolist() == [5, 9, 3] * 4
    assert dag.flow_step.tolist() == np.repeat(range(4), 3).tolist() and set(dag.flow_bytes.tolist()) == {1000}
    assert dag.n_tasks == 0 and not dag.flow_collective.any()


def test_members_begin_a_repeat_when_they_are_done_with_the_one_before():
    dag = build_dag(scenario(collective="all-to-all", ranks=4, repeat=3))
    assert [name[-8:] for name in dag.collective_name] == ["number 1", "number 2", "number 3"]
    assert dag.n_tasks == 2 * 4 and (dag.task_kind == TaskKind.WAIT).all()
    rng = np.random.default_rng(7)
    start, end, _ = play(dag, flow_ps=lambda size: int(rng.integers(1, 1000)))
    start, end = start[dag.n_tasks :], end[dag.n_tasks :]
    for index in (1, 2):
        for member in range(4):
            got = end[(dag.flow_iteration == index - 1) & (dag.flow_dst == member)].max()
            sends = start[(dag.flow_iteration == index) & (dag.flow_src == member)]
            assert (sends == got).all()


def test_one_connection_is_one_queue_pair_whatever_the_step():
    dag = build_dag(scenario(repeat=2))
    pair = dag.flow_src * 16 + dag.flow_dst
    assert len(np.unique(entropy(dag))) == len(np.unique(pair))


def test_more_messages_than_a_graph_can_hold_are_refused():
    with pytest.raises(ScenarioError) as refused:
        counted_load(scenario(algorithm="direct", chunks=4096, repeat=30))
    assert str(refused.value) == (
        "traffic.repeat = 30 x 1.97 M messages of this all-reduce are 59 M: must be at most 20 M; use fewer repeats, chunks or channels, "
        "or another traffic.algorithm"
    )
