"""What importers share: files told apart by what is in them, clusters and buffers where none are given."""

import math
from collections.abc import Callable
from pathlib import PurePath

from sim.errors import FormatError
from sim.formats.text import MAX_NAMES_SHOWN, text_of
from sim.scenario import Scenario
from sim.topology.build import build_network
from sim.transport import buffer_need
from sim.units import show_bytes

Named = tuple[str, str]  # a file's name and its text
SHARED_ROOM = 1.25  # buffer over what PFC sets aside in a switch, so that a pool is left to share
MAX_BUFFER_MB = 1_000_000  # of a scenario
SERVER_GPUS = 8  # GPUs in a server where nothing says otherwise, as in DGX and HGX systems


class Found:
    """The files of an import, taken one by one by what they are; what is left at the end is refused."""

    def __init__(self, kind: str, files: dict[str, bytes], takes: str) -> None:
        self.kind, self.takes = kind, takes
        self.left = dict(files)
        self._texts: dict[str, str] = {}

    def text(self, name: str) -> str:
        """The text of a file that has not been taken yet."""
        if name not in self._texts:
            self._texts[name] = text_of(self.left[name], name)
        return self._texts[name]

    def take_where(self, what: str, fits: Callable[[str], bool]) -> Named | None:
        """The one file whose text fits; None if there is none, FormatError if there are several."""
        names = [name for name in self.left if fits(self.text(name))]
        if len(names) > 1:
            raise FormatError(f"import {self.kind}: {names[0]} and {names[1]} are both a {what}; give one")
        if not names:
            return None
        found = names[0], self.text(names[0])
        del self.left[names[0]]
        return found

    def take_named(self, suffix: str) -> dict[str, bytes]:
        """All files whose name ends so."""
        found = {name: content for name, content in self.left.items() if name.endswith(suffix)}
        for name in found:
            del self.left[name]
        return found

    def end(self) -> None:
        """FormatError if a file is left that nobody knows."""
        if self.left:
            names = list(self.left)[:MAX_NAMES_SHOWN]
            begins = " ".join(self.text(names[0]).split()[:6])[:40]
            raise FormatError(f"{names[0]}: begins {begins!r}: is none of what import {self.kind} takes: {self.takes}")

    def missing(self, what: str) -> FormatError:
        """The error for a file that is needed."""
        names = ", ".join(list(self.left)[:MAX_NAMES_SHOWN]) or "no other file"
        return FormatError(f"import {self.kind}: there is no {what} among the files (left over: {names}); it takes {self.takes}")


def plain_name(*names: str) -> str:
    """The name of a scenario from those of its files."""
    stem = PurePath(names[0]).name.split(".")[0] if names else ""
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in stem).strip("-")[:60] or "imported"


def default_cluster(gpus: int) -> tuple[dict, str]:
    """(a cluster section, what to say of it) for work that comes without a network."""
    gpus = max(2, gpus)
    if gpus > SERVER_GPUS and gpus % SERVER_GPUS == 0:
        return (
            {"topology": "rail-optimised", "gpus": gpus, "gpus_per_node": SERVER_GPUS},
            f"no topology is given: {gpus} H100 GPUs in servers of {SERVER_GPUS} on rails of 400 Gb/s are taken",
        )
    return (
        {"topology": "one-switch", "gpus": gpus, "gpus_per_node": 1, "nvlink_gbps": 0},
        f"no topology is given: {gpus} GPUs around one switch at 400 Gb/s are taken",
    )


def with_buffers(scenario: Scenario, said: list[str]) -> Scenario:
    """The scenario of files that say nothing of buffers, with buffers that hold what PFC sets aside; adds to `said` what was changed."""
    default = scenario.transport.buffer_mb
    need, _, name, ports = buffer_need(scenario.transport, build_network(scenario.cluster))
    if need <= default * 1e6:
        return scenario
    name = f"node {name}" if name.isdigit() else name
    buffer_mb = min(math.ceil(need * SHARED_ROOM / 1e6), MAX_BUFFER_MB)
    said.append(
        f"the files say nothing of buffers: transport.buffer_mb is set to {buffer_mb}, for PFC thresholds and headroom of the {ports} ports of {name} "
        f"take {show_bytes(need)}, more than the default of {default:g} MB"
    )
    return scenario.replace("transport.buffer_mb", buffer_mb)
