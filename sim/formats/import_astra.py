"""ASTRA-sim's files as a scenario: Chakra traces, network.yml, system.json, process groups."""

from sim.catalogue.gpus import GPUS
from sim.errors import FormatError
from sim.formats import astra_alone
from sim.formats.astra_network import AstraNetwork, graph_text, is_astra_network, read_astra_network
from sim.formats.astra_system import AstraSystem, is_astra_system, read_astra_system
from sim.formats.chakra import read_chakra, read_groups
from sim.formats.chakra_node import Roofline
from sim.formats.import_parts import Found, default_cluster, plain_name, with_buffers
from sim.scenario import Cluster, Scenario
from sim.scenario_collective import ALGORITHMS
from sim.workload.program_chakra_work import ChakraWork, one_all_reduce, to_text

TAKES = "Chakra traces <prefix>.<rank>.et, network.yml, system.json, and process groups as JSON {\"name\": [ranks]}"
KEYS = {"all-reduce": "all_reduce", "all-gather": "all_gather", "reduce-scatter": "reduce_scatter", "all-to-all": "all_to_all"}
OUR_NAMES = {"doubleBinaryTree": "double-binary-tree", "halvingDoubling": "halving-doubling"}
DEFAULT_GPU = Cluster.model_fields["gpu"].default


def scenario_of(found: Found) -> tuple[Scenario, list[str]]:
    """The scenario of the files, and what to know about it."""
    traces = {name.rpartition("/")[2]: content for name, content in found.take_named(".et").items()}
    network_file = found.take_where("network.yml", is_astra_network)
    system_file = found.take_where("system.json", is_astra_system)
    groups = found.take_where("file of process groups", lambda text: text.lstrip().startswith("{"))
    found.end()
    network = read_astra_network(network_file[1], network_file[0]) if network_file else None
    system = read_astra_system(system_file[1], system_file[0]) if system_file else AstraSystem()
    if not traces and network is None:
        raise found.missing("trace or network.yml")
    said = list(system.notices)
    if traces:
        work, more = read_chakra(traces, groups, _roofline(system))
        said += more
    else:
        work = one_all_reduce(network.n_npus, astra_alone.ALL_REDUCE_BYTES)
        if groups:
            read_groups(*groups, network.n_npus)
            said.append(f"{groups[0]}: process groups are without effect where no trace is given")
    cluster = _cluster(network, work, said)
    names = [file[0] for file in (network_file, system_file, groups) if file] + _shown(sorted(traces))
    plan = _plan(network, system, work, said)
    why = "" if traces else astra_alone.why_not(network, plan)
    if not traces:
        said.append(astra_alone.told(network, why))
    program = {"kind": "chakra", "source": ", ".join(names), "ranks": work.ranks, "work": to_text(work), **plan}
    name = plain_name(*(sorted(traces) or names))
    data = {
        "name": name, "title": f"Chakra trace {name}" if traces else f"ASTRA-sim network {name}",
        "description": f"Imported from {', '.join(names)}: " + (f"{len(work.kind)} nodes on {work.ranks} ranks." if traces else f"{network.n_npus} NPUs."),
        "cluster": cluster, **({"traffic": astra_alone.NEIGHBOURS} if why else {"program": program}),
    }  # fmt: skip
    return with_buffers(Scenario.from_data(data), said), said


def _roofline(system: AstraSystem) -> Roofline:
    """That of system.json; without one, the default GPU's peak for compute that has no duration."""
    if system.peak_tflops:
        return Roofline(system.peak_tflops * 1e12, (system.memory_gb_per_s or 0) * 1e9 or None, True)
    gpu = GPUS[DEFAULT_GPU]
    return Roofline(gpu.peak_flops, gpu.hbm_bytes_per_s, False)


def _shown(names: list[str]) -> list[str]:
    return names if len(names) <= 3 else [names[0], f"{len(names) - 2} more", names[-1]]


def _cluster(network: AstraNetwork | None, work: ChakraWork, said: list[str]) -> dict:
    if network is None:
        cluster, word = default_cluster(work.ranks)
        said.append(word)
        return cluster
    if network.n_npus < work.ranks:
        raise FormatError(
            f"{network.place}: npus_count makes {network.n_npus} NPUs, the traces have {work.ranks} ranks: a rank needs an NPU of its own; "
            f"what works is npus_count of {work.ranks} in all, or fewer traces"
        )
    cluster = {"topology": "file", "graph": graph_text(network), "gpus_per_node": network.npus[0] if network.npus[0] <= 1024 else 1}
    if network.needs_forwarding():
        cluster["hosts_forward"] = True
        said.append("NPUs that no dimension joins directly reach each other over others, the shortest way; of two equal ways round a ring, the rising one")
    return cluster


def _plan(network: AstraNetwork | None, system: AstraSystem, work: ChakraWork, said: list[str]) -> dict:
    """The keys of the program section that say how collectives run."""
    plan: dict = {"splits": system.splits} if system.splits > 1 else {}
    dimensions = network.npus if network and network.n_npus == work.ranks else ()
    if network and not dimensions and len(network.npus) > 1:
        said.append(f"the traces have {work.ranks} ranks, the network {network.n_npus} NPUs: collectives run over each group at once, not by dimension")
    if len(dimensions) > 1:
        plan["dimensions"] = tuple(dimensions)
    for name, key in KEYS.items():
        given = list(system.algorithms.get(name, ()))
        if dimensions and name not in system.whole_group and len(given) not in (0, len(dimensions)):
            raise FormatError(
                f"{system.places[name]} has {len(given)} algorithms, {network.place.rpartition(':')[0]} {len(dimensions)} dimensions: one for each is needed"
            )
        on_ring = [d for d, shape in enumerate(network.shape) if shape == "Ring" and network.npus[d] > 3] if network else []
        given = _that_exist(name, given, on_ring, system, said)
        if network and len(dimensions) > 1 and not given:
            given = ["ring" if name != "all-to-all" or d in on_ring else "direct" for d in range(len(dimensions))]
        elif on_ring and not given:
            given = ["ring"]
        if given:
            plan[key] = tuple(given) if len(dimensions) > 1 and name not in system.whole_group else tuple(given[:1])
    return plan


def _that_exist(name: str, given: list[str], on_ring: list[int], system: AstraSystem, said: list[str]) -> list[str]:
    """The algorithms of a collective under our names; where it has none of such a name, the one that runs where nothing is given."""
    found, instead = [], {}
    for dimension, word in enumerate(given):
        own = OUR_NAMES.get(word, word)
        if own not in ALGORITHMS[name] and (name, own) != ("all-to-all", "ring"):
            own = "ring" if name != "all-to-all" or dimension in on_ring else "direct"
            instead[f"{word} is for {_others(OUR_NAMES.get(word, word))}"] = own
        found.append(own)
    said += [f"{system.places[name]}: {what}, not for {name}: {own} runs instead" for what, own in instead.items()]
    return found


def _others(algorithm: str) -> str:
    return ", ".join(name for name in KEYS if algorithm in ALGORITHMS[name])
