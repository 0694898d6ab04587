"""What can be known of a scenario before a run, cached by the scenario's own hash."""

import numpy as np
import streamlit as st

from sim.estimate import estimate as estimate_run
from sim.scenario import Cluster, Scenario
from sim.topology.build import build_network, fault_ports
from sim.workload.build import strategy_of
from sim.workload.placement import place

PREVIEWS_KEPT = 16


def network(cluster: Cluster):
    """The network of a cluster; raises ScenarioError if it cannot be built."""
    return _network(cluster.model_dump_json(), cluster)


@st.cache_resource(max_entries=PREVIEWS_KEPT, show_spinner=False)
def _network(key: str, _cluster: Cluster):
    return build_network(_cluster)


def estimate(scenario: Scenario):
    return _estimate(scenario.digest(), scenario)


@st.cache_resource(max_entries=PREVIEWS_KEPT, show_spinner=False)
def _estimate(key: str, _scenario: Scenario):
    return estimate_run(_scenario)


def over(scenario: Scenario, network) -> dict[str, str]:
    """By kind of parallelism, what its bytes cross: NVLink between GPUs of one server, the network, or both."""
    strategy = strategy_of(scenario.parallelism)
    server = network.node_server[network.hosts[place(strategy.world, scenario.cluster.gpus)]]
    stages = np.array([strategy.stage_ranks(stage) for stage in range(strategy.pp)])
    groups = np.concatenate([strategy.data_groups(stage) for stage in range(strategy.pp)])
    ends = {
        "PP": (stages[:-1], stages[1:]),
        "DP": (groups, np.roll(groups, -1, axis=1)),
        "EMBEDDING": (stages[:1], stages[-1:]),
    }
    found = {"TP": "NVLink"}
    for kind, (src, dst) in ends.items():
        inside = (server[src] == server[dst]) & (server[src] >= 0)
        found[kind] = "NVLink" if inside.all() else "NVLink and network" if inside.any() else "network"
    return found


def faulty_ports(network, scenario: Scenario) -> dict[int, str]:
    """Port id of every link with a fault, and the fault in words; raises ScenarioError for an unknown link."""
    found = {}
    for fault in scenario.faults:
        for port in fault_ports(network, fault)[::2].tolist():
            found[port] = f"{found[port]}, {describe_fault(fault)}" if port in found else describe_fault(fault)
    return found


def describe_fault(fault) -> str:
    extra = {
        "degrade": f" to {100 * (fault.rate_factor or 0):g} % of its rate",
        "loss": f" of {100 * (fault.probability or 0):g} %",
    }.get(fault.kind, "")
    return f"{fault.kind}{extra} at {fault.at_us:g} µs"
