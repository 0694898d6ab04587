"""Uploaded files as a scenario: those of other tools, and the project's own TOML."""

import hashlib

import streamlit as st

from sim.errors import FormatError, LabError
from sim.formats.importing import IMPORTERS, import_with_notices
from sim.formats.text import text_of
from sim.preset import list_presets, parse_toml
from sim.scenario import Scenario
from sim.topology.build import all_notices, build_network

MAX_SCENARIO_BYTES = 16_000_000  # of a scenario's TOML, which is read in memory many times its size
MAX_UPLOAD_MB = 50  # of one file, and of all files together
IMPORTS_KEPT = 2
OWN = "own"
NAMES = {OWN: "Wormhole Lab", "hpcc": "HPCC / ns-3", "simai": "SimAI", "astra": "ASTRA-sim / Chakra", "htsim": "htsim"}
ELSEWHERE = "for files of another tool choose it above, under “From”"
WHAT = {
    OWN: "A scenario that this project wrote: “Download as TOML” on the Build page, or a file like those in presets/.",
    "hpcc": "Files of the HPCC simulator and of what is built on it: network, flows, switch and controller settings.",
    "simai": "A training workload and a topology of SimAI.",
    "astra": "Execution traces of Chakra, one a rank, with network and system of ASTRA-sim.",
    "htsim": "A connection matrix with its triggers, and a topology of htsim.",
}


def takes(kind: str) -> str:
    """Which files a kind is made of."""
    return "one .toml file" if kind == OWN else IMPORTERS[kind].TAKES


def named(uploaded: list) -> dict[str, bytes]:
    """Bytes by name of what a page was given; FormatError for two of one name, or for too much."""
    found: dict[str, bytes] = {}
    for file in uploaded:
        if file.name in found:
            raise FormatError(f"{file.name}: two files have this name; files of one import have different names")
        found[file.name] = file.getvalue()
    size = sum(map(len, found.values()))
    if size > MAX_UPLOAD_MB * 10**6:
        raise FormatError(
            f"the files hold {size / 1e6:.0f} MB together; at most {MAX_UPLOAD_MB} MB are taken here, python -m sim import takes more"
        )
    return found


def imported(kind: str, files: dict[str, bytes]) -> tuple[Scenario, list[str]]:
    """The scenario, and what to know about it; LabError with one line for the first fault."""
    digest = hashlib.sha256(kind.encode())
    for name, content in files.items():
        digest.update(f"\n{name}\n{len(content)}\n".encode() + content)
    scenario, said = _imported(digest.hexdigest(), kind, files)
    if scenario.name in list_presets() and kind != OWN:
        scenario = scenario.model_copy(update={"name": f"{scenario.name}-imported"})
    return scenario, said


@st.cache_resource(max_entries=IMPORTS_KEPT, show_spinner="Reading …")
def _imported(key: str, _kind: str, _files: dict[str, bytes]) -> tuple[Scenario, list[str]]:
    return own(_files) if _kind == OWN else import_with_notices(_kind, _files, MAX_UPLOAD_MB * 10**6)


def own(files: dict[str, bytes]) -> tuple[Scenario, list[str]]:
    """The scenario of a TOML file."""
    if len(files) != 1:
        raise FormatError(f"{len(files)} files: a scenario is one .toml file; {ELSEWHERE}")
    ((name, content),) = files.items()
    if len(content) > MAX_SCENARIO_BYTES:
        raise FormatError(f"{name}: is {len(content)} bytes; at most {MAX_SCENARIO_BYTES} are read here, python -m sim run takes more")
    try:
        data = parse_toml(text_of(content, name))
    except ValueError as problem:
        raise FormatError(f"{name}: is not TOML: {problem}; {ELSEWHERE}") from None
    if isinstance(data.get("cluster"), dict) and "file" in data["cluster"]:
        raise FormatError(f"{name}: cluster.file names another file, which is not here; give its text as cluster.graph")
    data.setdefault("name", name.removesuffix(".toml"))
    try:
        scenario = Scenario.from_data(data)
    except LabError as problem:
        raise FormatError(f"{name}: {problem}") from None
    return scenario, all_notices(scenario, build_network(scenario.cluster))
