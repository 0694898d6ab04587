"""From a scenario, and where times are needed its result, to files of another tool."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sim.errors import FormatError
from sim.formats import htsim_tree, import_htsim
from sim.formats.hpcc_config_text import config_text
from sim.formats.hpcc_faults import carried, told
from sim.formats.hpcc_flows import flows_text
from sim.formats.hpcc_topology import topology_text, unsaid
from sim.formats.htsim_cm import cm_text
from sim.formats.htsim_topo import topo_text
from sim.scenario import Cluster, Scenario
from sim.topology.network import Network
from sim.units import PS_PER_S
from sim.workload.dag import Dag
from sim.workload.program import work_of
from sim.workload.program_htsim_work import HtsimWork

DIRECTORIES = ("hpcc", "htsim")  # kinds that are several files
AFTER_LAST_S = 10.0  # s that a simulation may go on after its last flow has started


@dataclass
class Exported:
    """Files by name, as text in pieces, and what the format could not carry, one line each."""

    files: dict[str, Iterator[str]]
    notices: list[str] = field(default_factory=list)


def needs_a_run(kind: str, scenario: Scenario, dag: Dag) -> bool:
    """Whether a kind of `DIRECTORIES` can only say from a run when messages start."""
    waits = dag.n_tasks > 0 or bool(dag.indegree.any())
    return waits and not (kind == "htsim" and _triggers(scenario) is not None)


def hpcc(scenario: Scenario, network: Network, dag: Dag, result=None) -> Exported:
    """topology.txt, flow.txt and, for a controller that it has, config.txt of the HPCC simulator."""
    flows, start_ps, said = _started(dag, result)
    host, faults = network.hosts, carried(scenario.faults, network)
    stop_s = scenario.simulation.time_limit_s or int(start_ps.max(initial=0)) / PS_PER_S + AFTER_LAST_S
    files, left = {}, []
    try:
        config, unlike = config_text(scenario.transport, network, stop_s + faults.shift_ps / PS_PER_S, faults.link_down)
        files["config.txt"] = iter([config])
        left = [f"transport.{name}" for name in unlike]
    except FormatError as problem:
        said.append(f"config.txt is not written: {problem}")
        faults = faults.without_config(scenario.faults)
    text = flows_text(host[dag.flow_src[flows]], host[dag.flow_dst[flows]], dag.flow_bytes[flows], start_ps + faults.shift_ps)
    files |= {"topology.txt": iter([topology_text(faults.network) + "\n"]), "flow.txt": iter([text])}
    if faults.shift_ps:
        said.append(f"LINK_DOWN counts whole us from 2 s on: time 0 is {faults.shift_ps / PS_PER_S:.12g} s there")
    if faults.left:
        said.append("of faults these files carry one link that fails for good, and losses of links from time 0 on")
    said += [*unsaid(network), *_beyond(scenario, "hpcc", left + told(faults.left))]
    return Exported(files, said)


def htsim(scenario: Scenario, network: Network, dag: Dag, result=None) -> Exported:
    """A connection matrix of htsim, and the topology if it is a folded Clos."""
    said = _beyond(scenario, "htsim", ["transport"] + ["faults"] * bool(scenario.faults))
    work = _triggers(scenario)
    if work is None:
        flows, start_ps, more = _started(dag, result)
        work = HtsimWork.of_messages(network.n_hosts, dag.flow_src[flows], dag.flow_dst[flows], dag.flow_bytes[flows], start_ps)
        said += more
    files = {"connections.cm": iter([cm_text(work)])}
    try:
        topo, more = htsim_tree.tree_of(network)
        files["network.topo"] = iter([topo_text(topo)])
        said += more
    except FormatError as problem:
        said.append(f"the topology is not written: {problem}")
        if settings := _restoring(scenario.cluster):
            said.append(f"connections.cm alone comes back with one switch at 400 Gb/s; run it with {' '.join(settings)} for this network")
    return Exported(files, said)


def _restoring(cluster: Cluster) -> list[str]:
    """The --set of a run that make of the cluster of an imported matrix the given one; none for a network from a file, which no key describes."""
    if cluster.topology == "file":
        return []
    taken = import_htsim.cluster_of(cluster.gpus)
    plain, wanted = Cluster(**taken), cluster.given() | {key: getattr(cluster, key) for key in taken}
    return [f"--set cluster.{key}={str(value).lower() if value is True else value}" for key, value in wanted.items() if value != getattr(plain, key)]


def _triggers(scenario: Scenario) -> HtsimWork | None:
    """The connection matrix that a scenario was imported from."""
    if scenario.program is None or scenario.program.kind != "htsim" or scenario.background:
        return None
    return work_of("htsim", scenario.program.work)


def _started(dag: Dag, result) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """(flows by start, their starts in ps, what to say): as given, or as the run had them."""
    if result is None:
        start_ps = dag.start_ps[dag.n_tasks :]
        if dag.n_tasks or dag.indegree.any():
            raise FormatError("these messages wait for others: their starts are only known from a run")
        said = []
    else:
        start_ps = result.raw.start_ps[dag.n_tasks :]
        said = ["starts are those of this run: the format carries no dependencies and no compute"]
    flows = np.argsort(start_ps, kind="stable")
    flows = flows[start_ps[flows] >= 0]
    if len(flows) < dag.n_flows:
        said.append(f"PARTIAL: {dag.n_flows - len(flows)} of {dag.n_flows} flows had not started when the run stopped; they are left out")
    return flows, start_ps[flows], said


def _beyond(scenario: Scenario, kind: str, left: list[str]) -> list[str]:
    """What the formats leave out of a scenario, besides what is known already."""
    listed = scenario.traffic.flows if scenario.traffic else ()
    left = left + ["paths of single flows"] * any(flow.path or flow.ack_path for flow in listed)
    return [f"not carried by {kind}'s files: {', '.join(left)}"] if left else []
