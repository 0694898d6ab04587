"""From a scenario to its Dag."""

import numpy as np

from sim.scenario import Scenario, Traffic
from sim.units import ps_from_us
from sim.workload import patterns
from sim.workload.background import add_background
from sim.workload.blocks import Flows
from sim.workload.collect import Work
from sim.workload.collectives import add_collectives, counted_load
from sim.workload.dag import Dag
from sim.workload.jobs import add_jobs
from sim.workload.program import add_program


def build_dag(scenario: Scenario) -> Dag:
    """The tasks and flows of a scenario: training iterations, plain traffic or imported work, and what others send besides.

    Ranks and hosts are GPUs by number. Flows of pattern "flows" are sorted by start; `flow_order` says where each stood.
    """
    work = Work()
    if scenario.traffic is not None and scenario.traffic.pattern == "collective":
        add_collectives(work, scenario)
    elif scenario.traffic is not None:
        work.add_flows(_traffic(scenario.traffic, scenario.cluster.gpus, scenario.simulation.seed))
    elif scenario.program is not None:
        add_program(work, scenario.program)
    else:
        add_jobs(work, scenario)
    add_background(work, scenario)
    return work.dag(scenario.cluster.gpus)


def flow_order(scenario: Scenario) -> np.ndarray:
    """int64[F]: for each flow of the Dag, its index in traffic.flows (the identity for other patterns)."""
    if scenario.traffic.pattern == "collective":
        return np.arange(counted_load(scenario).messages * scenario.traffic.repeat)
    if scenario.traffic.pattern != "flows":
        return np.arange(len(_traffic(scenario.traffic, scenario.cluster.gpus, scenario.simulation.seed)))
    return np.argsort([ps_from_us(flow.start_us) for flow in scenario.traffic.flows], kind="stable")


def _traffic(traffic: Traffic, hosts: int, seed: int) -> Flows:
    if traffic.pattern == "incast":
        return patterns.incast(traffic.senders or hosts - 1, traffic.receiver, traffic.flow_bytes)
    if traffic.pattern == "ring":
        return patterns.ring(hosts, traffic.flow_bytes)
    if traffic.pattern == "permutation":
        return patterns.permutation(hosts, traffic.flow_bytes, seed)
    if traffic.pattern == "all-to-all":
        return patterns.all_to_all(hosts, traffic.flow_bytes)
    listed = traffic.flows
    flows, _ = patterns.explicit(
        [flow.src for flow in listed], [flow.dst for flow in listed], [flow.bytes for flow in listed],
        [ps_from_us(flow.start_us) for flow in listed],
    )  # fmt: skip
    return flows
