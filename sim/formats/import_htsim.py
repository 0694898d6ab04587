"""htsim's files as a scenario: a connection matrix (.cm), a topology (.topo), or both."""

from sim.errors import FormatError
from sim.formats.htsim_cm import is_htsim_cm, read_cm
from sim.formats.htsim_topo import graph_text, is_htsim_topo, read_topo
from sim.formats.import_messages import messages
from sim.formats.import_parts import Found, plain_name, with_buffers
from sim.scenario import Scenario
from sim.workload.program_htsim_work import HtsimWork, to_text

TAKES = "a connection matrix (Nodes, Connections, 0->1 id 1 start 0 size 2000000), and a topology (Nodes, Tiers, Tier 0, ...)"
FLOW_BYTES = 1_000_000  # of the ring where there is a topology but no connection matrix


def scenario_of(found: Found) -> tuple[Scenario, list[str]]:
    """The scenario of the files, and what to know about it."""
    matrix = found.take_where("connection matrix", is_htsim_cm)
    topology = found.take_where("topology", is_htsim_topo)
    found.end()
    if matrix is None and topology is None:
        raise found.missing("connection matrix or topology")
    work, said = read_cm(matrix[1], matrix[0]) if matrix else (None, [])
    if topology:
        topo = read_topo(topology[1], topology[0])
        cluster = {"topology": "file", "graph": graph_text(topo), "gpus_per_node": 1}
        if work and work.nodes > topo.nodes:
            raise FormatError(
                f"{matrix[0]} has {work.nodes} nodes, {topology[0]} {topo.nodes}: a node needs a host of its own; "
                f"the nearest is Nodes {work.nodes} in the topology"
            )
    else:
        cluster = cluster_of(work.nodes)
        said.append(f"no topology is given: {work.nodes} hosts around one switch at 400 Gb/s are taken")
    names = [file[0] for file in (matrix, topology) if file]
    data = {
        "name": plain_name(names[0]), "title": f"htsim {plain_name(names[0])}", "cluster": cluster,
        "description": f"Imported from htsim's {' and '.join(names)}" + (f": {len(work.src)} connections, {len(work.trigger_id)} triggers." if work else "."),
    }  # fmt: skip
    data |= _work(work, ", ".join(names), matrix and matrix[0], said)
    return with_buffers(Scenario.from_data(data), said), said


def cluster_of(nodes: int) -> dict:
    """The cluster of a connection matrix that comes without a topology."""
    return {"topology": "one-switch", "gpus": nodes, "gpus_per_node": 1, "nvlink_gbps": 0}


def _work(work: HtsimWork | None, source: str, matrix: str | None, said: list[str]) -> dict:
    if work is None:
        said.append(f"no connection matrix is given: every host sends {FLOW_BYTES // 10**6} MB to the next")
        return {"traffic": {"pattern": "ring", "flow_bytes": FLOW_BYTES}}
    if not len(work.src):
        raise FormatError(f"{matrix}: lists 0 connections: at least 1 is needed")
    if (work.trigger >= 0).any():
        return {"program": {"kind": "htsim", "source": source, "ranks": work.nodes, "work": to_text(work)}}
    return messages(work.nodes, work.src, work.dst, work.n_bytes, work.start_ps, source)
