"""SimAI's files as a scenario: a workload, a topology, or both."""

from sim.errors import FormatError
from sim.formats.import_parts import Found, default_cluster, plain_name, with_buffers
from sim.formats.simai_topology import is_simai_topology, read_simai_topology
from sim.formats.simai_workload import is_simai_workload, read_simai_workload
from sim.scenario import Scenario
from sim.workload.program_simai_work import to_text

TAKES = "a workload (HYBRID_TRANSFORMER_FWD_IN_BCKWD ...), and a topology (nNodes gpusPerServer nNVSwitch nSwitch nLinks GPUTYPE)"


def scenario_of(found: Found) -> tuple[Scenario, list[str]]:
    """The scenario of the files, and what to know about it."""
    workload = found.take_where("workload", is_simai_workload)
    topology = found.take_where("topology", is_simai_topology)
    found.end()
    if workload is None:
        raise found.missing("workload")
    work, said = read_simai_workload(workload[1], workload[0])
    if topology is None:
        cluster, word = default_cluster(work.gpus)
        said = [*said, word]
    else:
        read = read_simai_topology(topology[1], topology[0])
        if work.gpus > read.gpus:
            raise FormatError(
                f"{workload[0]}:1: all_gpus {work.gpus}: {topology[0]} has {read.gpus} GPUs, and a rank needs one of its own; "
                f"the nearest is all_gpus: {read.gpus}, or a topology of {work.gpus} GPUs"
            )
        cluster = {"topology": "file", "graph": read.graph, "gpus_per_node": read.gpus_per_server, "nvswitches": read.nvswitches}
        cluster |= {"gpu": read.gpu} if read.gpu else {}
        said = [*said, *read.notices]
    names = [file[0] for file in (workload, topology) if file]
    data = {
        "name": plain_name(workload[0]),
        "title": f"SimAI: {plain_name(workload[0])}",
        "description": f"Imported from SimAI's {' and '.join(names)}: {len(work.name)} layers, TP {work.tp}, PP {work.pp}, DP {work.dp}, EP {work.ep}, "
        f"{work.ga} micro-batches on {work.gpus} GPUs.",
        "cluster": cluster,
        "program": {"kind": "simai", "source": ", ".join(names), "ranks": work.gpus, "work": to_text(work)},
    }
    return with_buffers(Scenario.from_data(data), said), said
