"""SimAI topologies: GPUs in servers, NVSwitches and switches, then links as in the HPCC simulator's files."""

import re
from dataclasses import dataclass

from sim.catalogue.gpus import GPUS
from sim.errors import FormatError, did_you_mean
from sim.formats.text import quoted, rows_of, whole
from sim.topology.from_file import MAX_NODES, network_from_text

LIKE = "the first line is: nNodes gpusPerServer nNVSwitch nSwitch nLinks GPUTYPE, like 36 8 2 2 64 H100"
COUNTS = ("nNodes", "gpusPerServer", "nNVSwitch", "nSwitch", "nLinks")
MAX_LINKS = 10_000_000


@dataclass(frozen=True)
class SimaiTopology:
    """A cluster's graph in the HPCC simulator's format; of its switches the first `nvswitches` are NVSwitches."""

    graph: str
    gpus: int
    gpus_per_server: int
    nvswitches: int
    gpu: str | None  # of the catalogue; None: not in it
    notices: tuple[str, ...]


def is_simai_topology(text: str) -> bool:
    """Whether `text` begins like a SimAI topology."""
    return re.match(r"\s*\d+[ \t]+\d+[ \t]+\d+[ \t]+\d+[ \t]+\d+[ \t]+[A-Za-z]\S*[ \t]*(\n|$)", text) is not None


def read_simai_topology(text: str, file: str = "topology") -> SimaiTopology:
    """The topology of `text`; FormatError, one line, for the first fault."""
    rows = rows_of(text)
    if not rows:
        raise FormatError(f"{file}: is empty: {LIKE}")
    line, words = rows[0]
    place = f"{file}:{line}"
    if len(words) != len(COUNTS) + 1:
        raise FormatError(f"{place}: {len(words)} values: {LIKE}")
    limits = (MAX_NODES, MAX_NODES, MAX_NODES, MAX_NODES, MAX_LINKS)
    nodes, per_server, nvswitches, switches, links = (
        whole(word, place, name, 0 if name in ("nNVSwitch", "nSwitch") else 1, most) for word, name, most in zip(words, COUNTS, limits)
    )
    gpus = nodes - nvswitches - switches
    if gpus < 2:
        raise FormatError(
            f"{place}: nNodes {nodes} - nNVSwitch {nvswitches} - nSwitch {switches} = {gpus} GPUs: must be at least 2; "
            f"the nearest nNodes is {nvswitches + switches + 2}"
        )
    if gpus % per_server:
        legal = [n for n in range(1, gpus + 1) if gpus % n == 0]
        raise FormatError(f"{place}: gpusPerServer {per_server}: must divide the {gpus} GPUs; the nearest is {min(legal, key=lambda n: abs(n - per_server))}")
    if per_server > 1024:
        raise FormatError(f"{place}: gpusPerServer {per_server}: must be at most 1024; the nearest is 1024")
    lines = text.split("\n")
    lines[line - 1] = f"{nodes} {nvswitches + switches} {links}"
    graph = "\n".join(lines)
    network = network_from_text(graph, file, per_server)
    if int(network.hosts[-1]) != gpus - 1:
        wrong = next(node for node in range(gpus) if not network.node_is_host[node])
        raise FormatError(f"{file}:{line + 1}: switch id {wrong}: GPUs are 0 to {gpus - 1}, so switch ids must be {gpus} to {nodes - 1}")
    gpu, said = _gpu(words[-1])
    return SimaiTopology(graph.strip() + "\n", gpus, per_server, nvswitches, gpu, said)


def _gpu(name: str) -> tuple[str | None, tuple[str, ...]]:
    """The catalogue's GPU of a type like H100, or what to say."""
    known = [row for row in GPUS if row.lower().startswith(name.lower())]
    if known:
        return known[0], ()
    return None, (f"GPU type {quoted(name)} is not in the catalogue: {did_you_mean(name, GPUS)}; the default is kept",)
