"""Algorithms that go server by server and cannot: said in one line, and true of what is built."""

import numpy as np
import pytest

from sim.case import case_of
from sim.scenario import Scenario
from sim.workload.blocks import FlowKind
from sim.workload.build import build_dag
from sim.workload.fallback import fallback_notices

MIXTURE = {"layers": 2, "hidden": 64, "heads": 8, "vocabulary": 100, "sequence": 64, "experts": 8, "top_k": 2, "expert_ffn": 64}
UNEQUAL = "servers hold unequally many members of its"
ALONE = "no server holds two members of its"


def made(gpus=16, **parallelism):
    cluster = {"topology": "rail-optimised", "gpus": gpus, "gpus_per_node": 4}
    return Scenario.from_data({"cluster": cluster, "model": MIXTURE, "parallelism": parallelism})


def pairs(scenario, kind):
    """How many others each GPU sends to."""
    dag = build_dag(scenario)
    mine = dag.flow_kind == kind
    return np.bincount(np.unique(dag.flow_src[mine] * 64 + dag.flow_dst[mine]) // 64)


@pytest.mark.parametrize("algorithm", ["pxn", "hierarchical"])
@pytest.mark.parametrize(
    ("placed", "why", "peers"),
    [
        ({"dp": 8, "ep": 8}, None, 4),  # 3 in the server, 1 on the rail
        ({"tp": 2, "dp": 8, "ep": 8, "placement": "spread"}, None, 4),  # 1 in the server, 3 on the rail
        ({"tp": 4, "dp": 4, "ep": 4}, ALONE, 3),
        ({"tp": 2, "dp": 8, "ep": 4, "placement": "random"}, UNEQUAL, 3),
    ],
)
def test_tokens(algorithm, placed, why, peers):
    scenario = made(gpus=8 if "tp" not in placed else 16, **placed, expert_algorithm=algorithm)
    rule = f"parallelism.expert_algorithm = {algorithm!r} sends tokens straight to their experts: {why} expert-parallel groups"
    assert fallback_notices(scenario) == [rule] * bool(why)
    assert (pairs(scenario, FlowKind.EP) == peers).all()


@pytest.mark.parametrize(
    ("placed", "why", "peers"),
    [
        ({"tp": 2, "dp": 8}, None, 2),  # a ring in the server, a ring on the rail
        ({"tp": 2, "dp": 4, "pp": 2, "placement": "random"}, UNEQUAL, 1),
        ({"tp": 4, "dp": 4}, ALONE, 1),
    ],
)
def test_gradients(placed, why, peers):
    scenario = made(**placed, gradient_algorithm="hierarchical")
    rule = f"parallelism.gradient_algorithm = 'hierarchical' sends gradients around plain rings: {why} data-parallel groups"
    assert fallback_notices(scenario) == [rule] * bool(why)
    assert (pairs(scenario, FlowKind.DP) == peers).any() if why else (pairs(scenario, FlowKind.DP) == peers).all()


def test_gradients_of_experts_and_further_jobs_are_told_apart():
    job = {"model": MIXTURE, "parallelism": {"dp": 8, "ep": 2, "gradient_algorithm": "hierarchical"}}
    scenario = made(gpus=16, dp=8).replace("jobs", [job])
    assert fallback_notices(scenario) == []
    wide = scenario.replace("jobs", [{**job, "parallelism": {**job["parallelism"], "ep": 4}}])
    line = f"jobs.0.parallelism.gradient_algorithm = 'hierarchical' sends gradients of experts around plain rings: {ALONE} data-parallel groups"
    assert fallback_notices(wide) == [line] and line in case_of(wide).notices


def test_nothing_is_said_where_nothing_goes_server_by_server_or_is_sent():
    assert fallback_notices(made(dp=16, ep=8)) == []
    assert fallback_notices(made(tp=8, pp=2, dp=1, gradient_algorithm="hierarchical")) == []
    traffic = Scenario.from_data({"cluster": {"topology": "one-switch", "gpus": 4}, "traffic": {"pattern": "ring"}})
    assert fallback_notices(traffic) == []
