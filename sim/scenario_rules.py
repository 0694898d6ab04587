"""Rules that span sections of a scenario: the flows against the hosts, and what is legal but worth saying."""

from typing import TYPE_CHECKING

from sim.errors import ScenarioError
from sim.scenario_cluster import Cluster
from sim.scenario_collective import check_collective, in_one_server, members
from sim.scenario_parts import Traffic
from sim.units import show_bytes, show_number, show_rate

if TYPE_CHECKING:
    from sim.scenario import Scenario
    from sim.scenario_training import Parallelism

IDLE_NAMED = 4  # spans of idle GPUs that a notice names
LARGE_BDP_BYTES = 10_000_000  # about a fifth of the buffer of a 51.2 Tb/s switch: more in flight outgrows any queue


KEYS_OF_PATTERN = {
    "senders": ("incast",),
    "receiver": ("incast",),
    "flow_bytes": ("incast", "ring", "permutation", "all-to-all"),
    **dict.fromkeys(("collective", "algorithm", "collective_bytes", "channels", "chunks", "repeat", "ranks"), ("collective",)),
}


def check_traffic(traffic: Traffic, cluster: Cluster) -> None:
    """Every host of `traffic` must exist, and no flow may go to itself."""
    gpus = cluster.gpus
    if traffic.pattern == "collective":
        check_collective(traffic, cluster)
    legal = f"cluster.gpus = {gpus} makes the legal range 0 to {gpus - 1}"
    if traffic.pattern == "incast":
        if traffic.receiver >= gpus:
            raise ScenarioError(f"traffic.receiver = {traffic.receiver}: there is no such GPU; {legal}")
        if traffic.senders is not None and traffic.senders > gpus - 1:
            raise ScenarioError(
                f"traffic.senders = {traffic.senders}: must be at most cluster.gpus - 1, the receiver apart; the nearest is {gpus - 1}"
            )
    for index, flow in enumerate(traffic.flows):
        for end in ("src", "dst"):
            if getattr(flow, end) >= gpus:
                raise ScenarioError(
                    f"traffic.flows.{index}.{end} = {getattr(flow, end)}: there is no such GPU; {legal}"
                )
        if flow.src == flow.dst:
            raise ScenarioError(f"traffic.flows.{index}: src = dst = {flow.src}: a flow cannot go to itself; {legal}")


def gpus_used(scenario: "Scenario") -> int:
    """GPUs 0..n-1 that the workload may touch."""
    if scenario.parallelism is not None:
        return max([scenario.parallelism.gpus, *(job.first_gpu + job.gpus for job in scenario.jobs)])
    if scenario.program is not None:
        return scenario.program.ranks
    traffic = scenario.traffic
    if traffic.pattern == "incast" and traffic.senders is not None:
        return min(scenario.cluster.gpus, max(traffic.receiver, traffic.senders) + 1)
    if traffic.pattern == "flows":
        return 1 + max(max(flow.src, flow.dst) for flow in traffic.flows)
    if traffic.pattern == "collective":
        return 1 + max(members(traffic, scenario.cluster).gpus)
    return scenario.cluster.gpus


def idle_gpus(scenario: "Scenario") -> list[tuple[int, int, int]]:
    """(first, last, how many of them) of GPUs that the workload leaves idle, before, between and behind its jobs and within their room."""
    gpus, used = scenario.cluster.gpus, gpus_used(scenario)
    if scenario.parallelism is None:
        return [(used, gpus - 1, gpus - used)] if used < gpus else []
    own = scenario.parallelism
    rooms = [(0, own.gpus if scenario.jobs else gpus, own), *((job.first_gpu, job.gpus, job.parallelism) for job in scenario.jobs), (gpus, 0, None)]
    found, free = [], 0
    for first, room, job in sorted(rooms, key=lambda room: room[0]):
        if first > free:
            found.append((free, first - 1, first - free))
        free = first + room
        left = room - job.gpus if job else 0
        if left:
            begins = free - left if job.placement == "packed" else first
            found.append((begins, free - 1, left))
    return found


def _named(first: int, last: int, count: int) -> str:
    span = f"gpu{first} to gpu{last}" if last > first else f"gpu{first}"
    return span if count == last - first + 1 else f"{count} of {span}"


def trains(scenario: "Scenario") -> bool:
    """Whether what runs is an iteration of training, and no mere set of flows."""
    return scenario.model is not None or (scenario.program is not None and scenario.program.kind != "htsim")


def notices(scenario: "Scenario") -> list[str]:
    """What is legal but worth saying before a run, one line each."""
    cluster, transport, said = scenario.cluster, scenario.transport, []
    idle = idle_gpus(scenario)
    if idle:
        count = sum(of for _, _, of in idle)
        said.append(f"{count} of {cluster.gpus} GPUs are idle: " + ", ".join(_named(*some) for some in idle[:IDLE_NAMED]) + ", ..." * (len(idle) > IDLE_NAMED))
    timed = _nvlink_is_timed(scenario)
    said += [f"cluster.{key} has no effect on topology {cluster.topology}" for key in cluster.unused_sizes() if key != "nvlink_gbps" or not timed]
    links = {
        "nic": (cluster.nic_gbps, cluster.nic_delay_ns),
        "fabric": (cluster.fabric_gbps, cluster.fabric_delay_ns),
        "core": (cluster.core_gbps, cluster.core_delay_ns),
    }
    for name, (gbps, delay_ns) in links.items() if cluster.topology != "file" else ():
        in_flight = gbps * delay_ns / 8
        if in_flight > LARGE_BDP_BYTES:
            said.append(
                f"cluster.{name}_delay_ns = {show_number(delay_ns)}: {show_bytes(in_flight)} are in flight on one such link, a large bandwidth-delay product"
            )
    given = transport.ecn_kmin_kb is not None or transport.ecn_kmax_kb is not None
    rates = sorted({gbps for gbps, _ in links.values()} - {transport.ecn_reference_gbps})
    if given and rates and cluster.topology != "file":
        said.append(
            f"ECN thresholds are given at {show_rate(transport.ecn_reference_gbps * 1e9)} and scaled with the rate for "
            + ", ".join(show_rate(gbps * 1e9) for gbps in rates)
        )
    if scenario.traffic is not None:
        said += _about_traffic(scenario.traffic, cluster)
    if scenario.parallelism is not None:
        said += _about_parallelism(scenario)
    return said


def _nvlink_is_timed(scenario: "Scenario") -> bool:
    """Whether something inside servers is timed by NVLink's rate, whatever links the network has."""
    if scenario.parallelism is None:
        return scenario.traffic is not None and scenario.traffic.algorithm == "nvls"
    return any(1 < one.tp <= scenario.cluster.gpus_per_node for _, one in _strategies(scenario))


def _strategies(scenario: "Scenario") -> "list[tuple[str, Parallelism]]":
    return [("", scenario.parallelism), *((f"jobs.{index}.", job.parallelism) for index, job in enumerate(scenario.jobs))]


def _about_parallelism(scenario: "Scenario") -> list[str]:
    said = []
    for where, one in _strategies(scenario):
        without = {
            "ep = 1": ("expert_skew", "capacity_factor", "expert_algorithm") if one.ep == 1 else (),
            "cp = 1": ("context_form",) if one.cp == 1 else (),
            "optimizer 'zero-3'": ("bucket_parameters", "overlap_gradients") if one.optimizer == "zero-3" else (),
        }
        said += [f"{where}parallelism.{key} has no effect with {why}" for why, keys in without.items() for key in keys if key in one.model_fields_set]
    idle = [(first, last) for first, last, count in idle_gpus(scenario) if count == last - first + 1]
    return said + [
        f"stragglers.{index}.gpu = {slow.gpu} has no effect: that GPU is idle"
        for index, slow in enumerate(scenario.stragglers)
        if any(first <= slow.gpu <= last for first, last in idle)
    ]


def _about_traffic(traffic: Traffic, cluster: Cluster) -> list[str]:
    unused = [key for key, patterns in KEYS_OF_PATTERN.items() if key in traffic.model_fields_set and traffic.pattern not in patterns]
    said = [f"traffic.{key} has no effect on pattern {traffic.pattern!r}" for key in unused]
    empty = [index for index, flow in enumerate(traffic.flows) if flow.bytes == 0]
    size_bytes = {"flows": 1, "collective": traffic.collective_bytes}.get(traffic.pattern, traffic.flow_bytes)
    if empty or size_bytes == 0:
        said.append(f"flows of 0 bytes are done after their path's delay: {len(empty) or 'all'}")
    if traffic.pattern == "collective":
        if in_one_server(traffic, cluster):
            said.append(f"this {traffic.collective} never leaves its server: it loads NVLink, not the fabric")
        if traffic.algorithm == "nvls":
            said.append("what the NVSwitch adds up is timed by a formula, not sent packet by packet, so NVLink ports look idle")
    return said
