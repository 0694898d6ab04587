"""From a scenario to its graph: patterns, listed flows, seeds, the optimizer's collectives."""

import numpy as np
import pytest

from sim.scenario import Scenario
from sim.workload.blocks import FlowKind
from sim.workload.build import build_dag, flow_order


def traffic(**given):
    return Scenario.from_data({"cluster": {"topology": "one-switch", "gpus": 4}, "traffic": given})


def model(**parallelism):
    return Scenario.from_data(
        {"cluster": {"topology": "rail-optimised", "gpus": 16}, "model": {"name": "gpt-350m"}, "parallelism": parallelism}
    )


def test_incast():
    dag = build_dag(traffic(pattern="incast", flow_bytes=100))
    dag.validate()
    assert dag.n_tasks == 0
    assert dag.flow_src.tolist() == [1, 2, 3]
    assert dag.flow_dst.tolist() == [0, 0, 0]
    assert (dag.flow_kind == FlowKind.TRAFFIC).all()
    assert dag.n_ranks == 4


def test_listed_flows_start_when_they_say_and_remember_their_place():
    flows = [{"src": 0, "dst": 1, "bytes": 9, "start_us": 2.5}, {"src": 2, "dst": 1, "bytes": 8}]
    scenario = traffic(pattern="flows", flows=flows)
    dag = build_dag(scenario)
    assert dag.flow_bytes.tolist() == [8, 9]
    assert dag.start_ps.tolist() == [0, 2_500_000]
    assert flow_order(scenario).tolist() == [1, 0]
    assert flow_order(traffic(pattern="ring")).tolist() == [0, 1, 2, 3]


def test_permutation_follows_the_seed():
    first, same, other = (
        build_dag(Scenario.from_data({"cluster": {"topology": "one-switch", "gpus": 64}, "traffic": {"pattern": "permutation"}, "simulation": {"seed": seed}}))
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first.flow_dst, same.flow_dst)
    assert not np.array_equal(first.flow_dst, other.flow_dst)


def test_same_scenario_same_arrays():
    one, two = build_dag(model(tp=2, pp=2, dp=4)), build_dag(model(tp=2, pp=2, dp=4))
    for name in ("task_duration_ps", "flow_bytes", "done_ptr", "done_succ", "flow_draw_key"):
        assert np.array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.parametrize("optimizer", ["distributed", "all-reduce"])
def test_optimizer_decides_the_collectives(optimizer):
    dag = build_dag(model(tp=2, pp=2, dp=4, optimizer=optimizer))
    names = {name.split(",")[0] for name in dag.collective_name}
    gradients = {"reduce-scatter", "all-gather"} if optimizer == "distributed" else {"all-reduce"}
    assert names == gradients | {"embedding all-reduce"}
    assert set(dag.flow_collective[dag.flow_kind != FlowKind.PP]) == set(range(len(dag.collective_name)))


def test_efficiency_scales_compute_only():
    slow, fast = build_dag(model(tp=1, pp=1, dp=16, efficiency=0.25)), build_dag(model(tp=1, pp=1, dp=16, efficiency=0.5))
    assert slow.task_duration_ps[0] == pytest.approx(2 * fast.task_duration_ps[0], abs=1)
    assert np.array_equal(slow.flow_bytes, fast.flow_bytes)
