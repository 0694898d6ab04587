"""What can be known of a scenario before a run, cached by the scenario's own hash."""

import streamlit as st

from sim.estimate import estimate as estimate_run
from sim.scenario import Cluster, Scenario
from sim.topology.build import build_network, fault_ports

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


def faulty_ports(network, scenario: Scenario) -> dict[int, str]:
    """Port id of every link with a fault, and the fault in words; raises ScenarioError for an unknown link."""
    found = {}
    for fault in scenario.faults:
        for port in fault_ports(network, fault)[::2].tolist():
            found[port] = f"{found[port]}, {describe_fault(fault)}" if port in found else describe_fault(fault)
    return found


def describe_fault(fault) -> str:
    extra = {"degrade": f" to {fault.rate_factor or 0:.0%} of its rate", "loss": f" {fault.probability or 0:.3%}"}.get(
        fault.kind, ""
    )
    return f"{fault.kind}{extra} at {fault.at_us:g} µs"
