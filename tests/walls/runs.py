"""Small scenarios for the kernel's walls, and every number of a run as comparable arrays."""

from dataclasses import fields

import numpy as np

from sim.case import case_of
from sim.congestion.registry import CONTROLLERS
from sim.scenario import Scenario
from sim.simulation import Simulation

EVERY_CONTROLLER = tuple(CONTROLLERS)
ENOUGH = 10**9  # packet-hops: to the end at once
NOT_RESULTS = {"scenario", "network", "dag", "cpu_s", "wall_s", "peak_rss_bytes", "notices", "mode", "level", "kernel", "records"}
NOT_COUNTED = {"windows"}  # how the work was cut, no result


def incast(controller="dcqcn", senders=2, flow_bytes=20_000, **transport):
    """All send to the last host at once over one switch."""
    return {
        "cluster": {"topology": "one-switch", "gpus": senders + 1, "gpus_per_node": 1, "nvlink_gbps": 0, "nic_gbps": 100},
        "traffic": {"pattern": "incast", "senders": senders, "receiver": senders, "flow_bytes": flow_bytes},
        "transport": {"congestion_control": controller, **transport},
    }  # fmt: skip


def fabric(controller="dcqcn", flow_bytes=20_000, hosts=8, pattern="all-to-all", **transport):
    """A leaf-spine with half the uplinks it needs, so that queues form inside."""
    return {
        "cluster": {
            "topology": "leaf-spine", "gpus": hosts, "gpus_per_node": 1, "nvlink_gbps": 0, "nic_gbps": 100,
            "hosts_per_leaf": 4, "spines": 2,
        },
        "traffic": {"pattern": pattern, "flow_bytes": flow_bytes},
        "transport": {"congestion_control": controller, **transport},
    }  # fmt: skip


def ring(controller="dcqcn", flow_bytes=5000, hosts=4, **transport):
    """All to all round a ring of hosts that forward."""
    links = "".join(f"{host} {(host + 1) % hosts} 100Gbps 1us 0\n" for host in range(hosts))
    return {
        "cluster": {"topology": "file", "graph": f"{hosts} 0 {hosts}\n\n{links}", "hosts_forward": True},
        "traffic": {"pattern": "all-to-all", "flow_bytes": flow_bytes},
        "transport": {"congestion_control": controller, **transport},
    }


def training(**parallelism):
    """One iteration of a tiny model: compute tasks, NVLink and NICs, flows that wait for each other."""
    return {
        "cluster": {"topology": "rail-optimised", "gpus": 8, "gpus_per_node": 4, "spines": 2},
        "model": {"layers": 4, "hidden": 64, "heads": 4, "vocabulary": 512, "sequence": 64},
        "parallelism": {"tp": 2, "pp": 2, "dp": 2, **parallelism},
    }


def with_faults(data, *faults, **transport):
    """`data` with faults and some keys of its transport changed."""
    return {**data, "faults": list(faults), "transport": {**data["transport"], **transport}}


def simulation(data, *, careful=False):
    """A simulation of scenario data; `careful`: every switch walks all of its ports jointly."""
    case = case_of(Scenario.from_data(data))
    case.settings = case.settings._replace(always_careful=careful)
    return Simulation(case)


def finish(sim, budget=ENOUGH):
    """Advance by `budget` packet-hops at a time until nothing is left to do."""
    while not sim.advance(budget):
        pass
    return sim


def arrays(sim):
    """Every result of a simulation as name -> integer array."""
    raw = sim.result().raw
    found = {field.name: getattr(raw, field.name) for field in fields(raw) if field.name not in NOT_RESULTS | {"reroutes"}}
    found |= {f"reroutes {name}": values for name, values in vars(raw.reroutes).items()}
    counters = {name: value for name, value in found.pop("counters").items() if name not in NOT_COUNTED}
    found["status"] = ["finished", "time limit", "deadlock", "cancelled"].index(found["status"])
    return {name: np.asarray(value) for name, value in {**found, **counters}.items()}


def run(data, budget=ENOUGH, **options):
    """Every result of a whole run of scenario data."""
    return arrays(finish(simulation(data, **options), budget))


def differences(first, second):
    """What differs between two runs: name -> (places, values there in the first, in the second); {} for equal runs."""
    found = {}
    for name in first.keys() | second.keys():
        a, b = first[name], second[name]
        if a.shape != b.shape:
            found[name] = ("shapes", a.shape, b.shape)
        elif not np.array_equal(a, b):
            where = np.argwhere(a != b)[:5]
            found[name] = (where.tolist(), a[tuple(where.T)].tolist(), b[tuple(where.T)].tolist())
    return found
