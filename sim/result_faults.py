"""Whether the faults of a scenario met any traffic: a run is as if they were not there where no flow's path crosses what they touch."""

import numpy as np

from sim.case import entropy
from sim.topology.build import fault_ports
from sim.topology.routing import route

MOST_NAMED = 4


def unused_faults(result) -> str | None:
    """A sentence that names the links and switches with a fault that no flow was to cross, data or ACKs; None where there is none."""
    faults = result.scenario.faults
    if not faults or not result.dag.n_flows:
        return None
    crossed = crossed_ports(result)
    named = dict.fromkeys("–".join(filter(None, (fault.a, fault.b))) for fault in faults if not crossed[fault_ports(result.network, fault)].any())
    if not named:
        return None
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    which, its = ("no flow's path crosses it", "the fault changes") if len(named) == 1 else ("no flow's path crosses them", "the faults change")
    return f"Without effect: {', '.join(list(named)[:MOST_NAMED])}{more}: {which}, so that {its} nothing in this run."


def crossed_ports(result) -> np.ndarray:
    """bool[ports]: what some flow with bytes took, or would have taken had nothing failed, in either direction of its messages."""
    dag, raw, network, seed = result.dag, result.raw, result.network, result.scenario.cluster.ecmp_seed
    sent = dag.flow_bytes > 0
    key, src, dst = entropy(dag)[sent], network.hosts[dag.flow_src][sent], network.hosts[dag.flow_dst][sent]
    crossed = np.zeros(network.n_ports, bool)
    for ports in (raw.data_ports, raw.ack_ports, raw.reroutes.data_ports, raw.reroutes.ack_ports):
        crossed[ports] = True
    if result.scenario.traffic is None or not any(flow.path or flow.ack_path for flow in result.scenario.traffic.flows):
        crossed[route(network, src, dst, key, seed)[1]] = True
        crossed[route(network, dst, src, ~key, seed)[1]] = True
    return crossed
