"""How large a job can be: refused in one line before it is built, and never where it fits."""

import numpy as np
import pytest

from sim.errors import ScenarioError
from sim.scenario import Scenario
from sim.workload.build import build_dag
from sim.workload.jobs import shape_of, strategy_of
from sim.workload.limits import least_messages, least_tasks
from sim.workload.seat import gradient_channels
from sim.workload.sizes import sizes
from sim.workload.transformer import stage_expert_parameters, stage_parameters

SMALL = {"layers": 4, "hidden": 64, "heads": 4, "vocabulary": 100, "sequence": 64}


def made(model=(), **parallelism):
    cluster = {"topology": "rail-optimised", "gpus": 16, "gpus_per_node": 4}
    return Scenario.from_data({"cluster": cluster, "model": {**SMALL, **dict(model)}, "parallelism": {"pp": 2, "dp": 8, **parallelism}})


@pytest.mark.parametrize(
    ("model", "parallelism", "words"),
    [
        ({"hidden": 1_000_000}, {"iterations": 100}, "messages or more; a graph holds at most 20 M"),
        ({}, {"optimizer": "zero-3", "micro_batches": 32_768, "iterations": 10}, "messages or more; a graph holds at most 20 M"),
        ({"layers": 10_000}, {"dp": 4, "cp": 2, "micro_batches": 32_768}, "messages or more; a graph holds at most 20 M"),
        ({}, {"micro_batches": 32_768, "iterations": 300, "pp": 1, "dp": 16}, "tasks or more; a graph holds at most 40 M"),
        ({"hidden": 1_000_000, "sequence": 10**7}, {"micro_batch": 10**6}, "make the output of a layer 20000 PB; at most 1.13 PB"),
        ({"hidden": 10**6, "layers": 10_000, "experts": 10**5, "expert_ffn": 10**7}, {}, "parameters on one GPU; at most 1.13 P"),
        ({"sequence": 10**7}, {"efficiency": 1e-6, "iterations": 100}, "one GPU would be at work for up to"),
    ],
)  # fmt: skip
def test_what_is_too_large_is_refused_at_once(model, parallelism, words):
    for count in (sizes, build_dag):
        with pytest.raises(ScenarioError) as problem:
            count(made(model, **parallelism))
        assert words in str(problem.value) and "\n" not in str(problem.value)


@pytest.mark.parametrize(
    "parallelism",
    [
        {}, {"optimizer": "zero-2", "bucket_parameters": 1, "micro_batches": 3}, {"optimizer": "zero-3", "gradient_algorithm": "halving-doubling"},
        {"cp": 2, "dp": 4, "context_form": "ring"}, {"cp": 4, "dp": 2}, {"ep": 8}, {"ep": 4, "expert_algorithm": "hierarchical"},
        {"ep": 2, "optimizer": "zero-3", "micro_batches": 5}, {"virtual_stages": 2, "micro_batches": 4}, {"schedule": "zb-h1"},
    ],
)  # fmt: skip
def test_what_is_known_at_least_is_never_more_than_there_is(parallelism):
    scenario = made({"experts": 8} if "ep" in parallelism else {"vocabulary": 1_000_000}, **parallelism)
    shape, strategy, dag = shape_of(scenario.model), strategy_of(scenario.parallelism), build_dag(scenario)
    parameters = [
        stage_parameters(shape, strategy.tp, 2, stage, strategy.chunks) + stage_expert_parameters(shape, strategy.tp, 2, strategy.ep, stage, strategy.chunks)
        for stage in (0, 1)
    ]
    channels = gradient_channels(strategy, np.arange(16), 4, experts="ep" in parallelism)
    assert dag.n_flows / 8 < least_messages(shape, strategy, max(parameters), channels) <= dag.n_flows
    assert dag.n_tasks / 8 < least_tasks(shape, strategy) <= dag.n_tasks


def test_slow_gpus_count():
    slow = made({"sequence": 10**7}, efficiency=1e-3)
    slower = slow.replace("stragglers", [{"gpu": 3, "speed": 0.01}])
    assert np.all(build_dag(slow).task_duration_ps >= 0)
    with pytest.raises(ScenarioError, match="one GPU would be at work"):
        build_dag(slower)
