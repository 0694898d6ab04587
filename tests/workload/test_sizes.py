"""Counts of tasks, flows and bytes told beforehand, against what is built."""

import pytest

from sim.scenario import Scenario
from sim.workload.build import build_dag
from sim.workload.sizes import sizes

TRAFFIC = [
    {"pattern": "incast", "senders": 3},
    {"pattern": "incast", "receiver": 2},
    {"pattern": "ring"},
    {"pattern": "permutation"},
    {"pattern": "all-to-all", "flow_bytes": 77},
    {"pattern": "flows", "flows": [{"src": 0, "dst": 1, "bytes": 5}, {"src": 3, "dst": 1, "bytes": 0}]},
]


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_traffic_is_counted_as_built(traffic):
    check(Scenario.from_data({"cluster": {"topology": "one-switch", "gpus": 8}, "traffic": traffic}))


@pytest.mark.parametrize("optimizer", ["all-reduce", "distributed"])
def test_iterations_are_counted_as_built(optimizer):
    check(
        Scenario.from_data(
            {
                "cluster": {"topology": "rail-optimised", "gpus": 32},
                "model": {"name": "gpt-1.3b"},
                "parallelism": {"tp": 4, "pp": 2, "dp": 4, "optimizer": optimizer},
            }
        )
    )


def check(scenario):
    counted, dag = sizes(scenario), build_dag(scenario)
    assert (counted.tasks, counted.flows) == (dag.n_tasks, dag.n_flows)
    assert counted.network_bytes == pytest.approx(dag.flow_bytes.sum(), rel=1e-4)
