"""From files of another tool to a scenario: one entrance for the command line and for uploads."""

from sim.errors import FormatError, ScenarioError, did_you_mean
from sim.estimate import estimate
from sim.formats import import_astra, import_hpcc, import_htsim, import_simai
from sim.formats.import_parts import Found
from sim.preset import MAX_SCENARIO_BYTES, to_toml
from sim.scenario import Scenario
from sim.topology.build import all_notices, build_network

IMPORTERS = {
    "hpcc": import_hpcc, "simai": import_simai, "astra": import_astra, "chakra": import_astra, "htsim": import_htsim,
}  # fmt: skip
MAX_IMPORT_BYTES = 500_000_000  # of all files together
MAX_FILES = 65_536 + 16


def import_files(kind: str, files: dict[str, bytes], limit_bytes: int = MAX_IMPORT_BYTES) -> Scenario:
    """The scenario of some files of a kind (see `IMPORTERS`), by name and content.

    Raises
    ------
    FormatError, ScenarioError
        One line for the first fault: file, line, value, rule, the nearest legal thing.
    """
    return import_with_notices(kind, files, limit_bytes)[0]


def import_with_notices(kind: str, files: dict[str, bytes], limit_bytes: int = MAX_IMPORT_BYTES) -> tuple[Scenario, list[str]]:
    """The same, and what to know about it: what was assumed, what could not be carried over, which GPUs are idle."""
    if kind not in IMPORTERS:
        raise FormatError(f"import of {kind!r}: {did_you_mean(kind, IMPORTERS)}")
    if not files:
        raise FormatError(f"import {kind}: no file is given; it takes {IMPORTERS[kind].TAKES}")
    if len(files) > MAX_FILES:
        raise FormatError(f"import {kind}: {len(files)} files: at most {MAX_FILES} are read")
    size = sum(len(content) for content in files.values())
    if size > limit_bytes:
        raise FormatError(f"import {kind}: the files hold {size} bytes; at most {limit_bytes} are read")
    scenario, said = IMPORTERS[kind].scenario_of(Found(kind, files, IMPORTERS[kind].TAKES))
    written = len(to_toml(scenario).encode())
    if written > MAX_SCENARIO_BYTES:
        raise ScenarioError(
            f"import {kind}: these files make a scenario of {written} bytes; at most {MAX_SCENARIO_BYTES} are read back: a smaller network or trace fits"
        )
    estimate(scenario)  # what a run would refuse is refused now: ranks that wait in a circle, pairs without a path
    return scenario, list(dict.fromkeys([*said, *all_notices(scenario, build_network(scenario.cluster))]))
