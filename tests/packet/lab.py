"""Tiny networks written as lists of links, run to their end on the exact clock, and what to read off them."""

import numpy as np

from sim.scenario import Scenario
from sim.simulation import Simulation

ENOUGH = 10**9  # packet-hops: to the end at once
US = 10**6  # ps
WIRE, ACK = 1048, 60  # B of a full packet with its 48 B of headers, and of an ACK


def ps(size_bytes, gbps):
    """Serialisation by exact division, rounded down to whole ps."""
    return size_bytes * 8000 // gbps


def graph(links, hosts):
    """Text of a network: hosts are nodes 0..hosts-1, all others switches; a link is (a, b, Gb/s, ns[, loss])."""
    nodes = 1 + max(max(link[:2]) for link in links)
    rows = [f"{a} {b} {gbps}Gbps {ns}ns {loss}" for a, b, gbps, ns, loss in ((*link, 0)[:5] for link in links)]
    return "\n".join([f"{nodes} {nodes - hosts} {len(links)}", " ".join(map(str, range(hosts, nodes))), *rows])


def scenario(links, flows, hosts=2, faults=(), simulation=None, hosts_forward=False, **transport):
    """A scenario of those links; flows are (src, dst, bytes[, start us]) or tables; no controller unless asked."""
    rows = [
        flow if isinstance(flow, dict) else dict(zip(("src", "dst", "bytes", "start_us"), flow, strict=False))
        for flow in flows
    ]
    return Scenario.from_data(
        {
            "cluster": {"topology": "file", "graph": graph(links, hosts), **({"hosts_forward": True} if hosts_forward else {})},
            "traffic": {"pattern": "flows", "flows": rows},
            "transport": {"congestion_control": "none", **transport},
            "simulation": simulation or {},
            "faults": list(faults),
        }
    )


def simulate(*args, ends="finished", **options):
    """The simulation of `scenario(...)`, run to its end, which must be as expected (None: not run yet)."""
    sim = Simulation(scenario(*args, **options))
    if ends is None:
        return sim
    while not sim.advance(ENOUGH):
        pass
    assert sim.status == ends, sim.result().notices
    return sim


def fct_ps(sim):
    """list[int]: from each flow's start to its last ACK, in order of start."""
    started = sim.plan.node["started"][sim.case.dag.n_tasks : sim.case.dag.n_nodes]
    return (sim.plan.flow["acked"][: sim.case.dag.n_flows] - started).tolist()


def delivered_ps(sim):
    """list[int]: when each flow's last data packet arrived."""
    return sim.plan.node["ended"][sim.case.dag.n_tasks : sim.case.dag.n_nodes].tolist()


def port(sim, a, b):
    """Record of the first port from a to b."""
    return sim.state.port[sim.case.network.ports_between(a, b)[0]]


def sent(sim, a, b):
    """(packets, bytes) that left a for b over all parallel links."""
    ports = sim.state.port[sim.case.network.ports_between(a, b)]
    return int(ports["tx_packets"].sum()), int(ports["tx_bytes"].sum())


def counter(sim, name):
    return int(sim.state.g[0][name])


def queue_peaks(sim):
    return np.asarray(sim.state.port["max_queue"])
