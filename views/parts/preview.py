"""What can be known of a scenario before a run, cached by the scenario's own hash."""

import numpy as np
import streamlit as st

from sim.estimate import estimate as estimate_run
from sim.scenario import Cluster, Scenario
from sim.topology.build import build_network, fault_ports
from sim.units import show_number
from sim.workload.bytes import bytes_per_gpu
from sim.workload.jobs import tally
from views.parts import faults

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


def sent(scenario: Scenario, network):
    """Rows of bytes per GPU, and by kind of parallelism what they cross: NVLink between GPUs of one server, the network, or both."""
    return _sent(scenario.digest(), scenario, network)


@st.cache_resource(max_entries=PREVIEWS_KEPT, show_spinner=False)
def _sent(key: str, _scenario: Scenario, _network):
    counts = tally(_scenario)
    return bytes_per_gpu(_scenario, counts), _over(_scenario, _network, counts)


def _over(scenario: Scenario, network, counts) -> dict[str, str]:
    server = network.node_server[network.hosts]
    in_node = scenario.parallelism is not None and scenario.parallelism.tp <= scenario.cluster.gpus_per_node
    inside: dict[str, list[bool]] = {"TP": [True]} if in_node else {}
    for one in counts.counted:
        here = (server[one.src] == server[one.dst]) & (server[one.src] >= 0)
        inside.setdefault(one.kind.name, []).extend((bool(here.any()), bool(here.all())))
    return {kind: "NVLink" if all(seen) else "NVLink and network" if any(seen) else "network" for kind, seen in inside.items()}


def faulty_ports(network, scenario: Scenario) -> dict[int, str]:
    """Port id of every link with a fault, and the fault in words; raises ScenarioError for an unknown link."""
    found = {}
    for fault in scenario.faults:
        for port in np.unique(fault_ports(network, fault) & ~1).tolist():
            found[port] = f"{found[port]}, {describe_fault(fault)}" if port in found else describe_fault(fault)
    return found


def describe_fault(fault) -> str:
    """A fault in words: "link fails at 50 µs", "leaf0 fails at 0 µs"."""
    extra = {
        "degrade": f" to {100 * (fault.rate_factor or 0):g} % of its rate",
        "loss": f": {100 * (fault.probability or 0):g} %",
    }.get(fault.kind, "")
    what = faults.WORDS[fault.kind]
    return f"{what if fault.b is not None else what.replace('switch', fault.a, 1)}{extra} at {show_number(fault.at_us)} µs"
