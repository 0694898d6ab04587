"""How many tasks, flows and bytes a scenario's Dag will have, without building it."""

from dataclasses import dataclass

from sim.scenario import Scenario
from sim.workload.collectives import SENDERS_MAX, counted_load, task_count
from sim.workload.jobs import tally


@dataclass(frozen=True)
class Sizes:
    """What a scenario's graph will hold."""

    tasks: int
    flows: int
    network_bytes: float  # payload of all flows


def sizes(scenario: Scenario) -> Sizes:
    """Counts of a scenario, at once."""
    traffic, hosts = scenario.traffic, scenario.cluster.gpus
    counts = tally(scenario)
    sent = sum(float(one.n_bytes.sum()) * (len(one.src) if one.n_bytes.shape[1] == 1 else 1) for one in counts.counted)
    if traffic is None:
        return Sizes(counts.n_tasks, counts.n_flows, sent)
    if traffic.pattern == "collective":
        found, times = counted_load(scenario, SENDERS_MAX), traffic.repeat
        return Sizes(
            task_count(scenario, found), counts.n_flows + found.messages * times, sent + found.total_bytes(traffic.collective_bytes) * times
        )
    if traffic.pattern == "flows":
        return Sizes(0, counts.n_flows + len(traffic.flows), sent + sum(flow.bytes for flow in traffic.flows))
    flows = {
        "incast": traffic.senders or hosts - 1,
        "ring": hosts,
        "permutation": hosts,
        "all-to-all": hosts * (hosts - 1),
    }[traffic.pattern]
    return Sizes(0, counts.n_flows + flows, sent + flows * traffic.flow_bytes)
