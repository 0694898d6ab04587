"""ASTRA-sim's network.yml: a network of dimensions, each a ring, fully connected, or around a switch.

NPU number i0 + n0 (i1 + n1 (i2 + ...)) stands at (i0, i1, i2, ...); along a dimension it is joined to those that differ from it
there only. Bandwidth (GB/s, 10^9 bytes) and latency (ns) are those of one link, in each direction: from NPU to NPU on a ring and
where fully connected, from NPU to switch around a switch. NPUs hand on what is not for them, as ASTRA-sim's do.
"""

import math
import re
from dataclasses import dataclass

import numpy as np
import yaml

from sim.errors import FormatError, did_you_mean
from sim.formats.text import quoted
from sim.units import BITS_PER_BYTE, bps_from_gbps, ps_from_ns

KEYS = ("topology", "npus_count", "bandwidth", "latency")
SHAPES = ("Ring", "FullyConnected", "Switch")
MAX_NPUS = 65_536
MAX_LINKS = 1_000_000
MAX_DIMENSIONS = 16
MAX_CHARACTERS = 100_000
COMMENT = re.compile(r"#[^\n]*")
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
NESTED = re.compile(r"[\[{][^\]}]*[\[{]")
FLOW = re.compile(r"(\s*\{)?")  # all keys in one pair of braces, as in JSON
MAX_GB_PER_S = 124_999  # below 1000 Tb/s
MAX_LATENCY_NS = 10**8
LIKE = "topology: [ Ring, Switch ]  npus_count: [ 8, 4 ]  bandwidth: [ 400.0, 50.0 ]  latency: [ 500.0, 1000.0 ]"


@dataclass(frozen=True)
class AstraNetwork:
    """D dimensions, the innermost first."""

    shape: tuple[str, ...]
    npus: tuple[int, ...]
    rate_bps: tuple[int, ...]
    delay_ps: tuple[int, ...]
    place: str = "network.yml:1"  # "file:line" of npus_count

    @property
    def n_npus(self) -> int:
        return math.prod(self.npus)

    def needs_forwarding(self) -> bool:
        """Whether some pairs of NPUs only reach each other over others."""
        return sum(n > 1 for n in self.npus) > 1 or any(shape == "Ring" and n > 3 for shape, n in zip(self.shape, self.npus, strict=True))


def is_astra_network(text: str) -> bool:
    """Whether `text` looks like a network.yml."""
    return "npus_count" in text and "topology" in text


def read_astra_network(text: str, file: str = "network.yml") -> AstraNetwork:
    """The network of `text`; FormatError, one line, for the first fault."""
    lists, lines = _lists(text, file)
    for key in KEYS:
        if len(lists[key]) != len(lists["topology"]):
            raise FormatError(
                f"{file}:{lines[key]}: {key} has {len(lists[key])} values, topology has {len(lists['topology'])}: one for each dimension is needed"
            )
    if not 1 <= len(lists["topology"]) <= MAX_DIMENSIONS:
        raise FormatError(f"{file}:{lines['topology']}: {len(lists['topology'])} dimensions: must be from 1 to {MAX_DIMENSIONS}")
    wrong = next((word for word in lists["topology"] if word not in SHAPES), None)
    if wrong is not None:
        raise FormatError(f"{file}:{lines['topology']}: topology {quoted(wrong)} is not known: {did_you_mean(wrong, SHAPES)}")
    numbers = {key: [_number(word, key, f"{file}:{lines[key]}") for word in lists[key]] for key in KEYS[1:]}
    npus = tuple(int(n) for n in numbers["npus_count"])
    if not 2 <= math.prod(npus) <= MAX_NPUS:
        near = min(max(math.prod(npus), 2), MAX_NPUS)
        raise FormatError(
            f"{file}:{lines['npus_count']}: npus_count makes {math.prod(npus)} NPUs: must be from 2 to {MAX_NPUS}; the nearest is {near} in all"
        )
    network = AstraNetwork(
        tuple(lists["topology"]), npus, tuple(bps_from_gbps(rate * BITS_PER_BYTE) for rate in numbers["bandwidth"]),
        tuple(ps_from_ns(delay) for delay in numbers["latency"]), f"{file}:{lines['npus_count']}",
    )  # fmt: skip
    links = sum(_links_of(shape, n) * network.n_npus // n for shape, n in zip(network.shape, npus, strict=True))
    if links > MAX_LINKS:
        raise FormatError(f"{file}:{lines['npus_count']}: these dimensions have {links} links: at most {MAX_LINKS} are simulated; fewer NPUs, or Switch, work")
    return network


def _lists(text: str, file: str) -> tuple[dict[str, list[str]], dict[str, int]]:
    if len(text) > MAX_CHARACTERS:
        raise FormatError(f"{file}: has {len(text)} characters; a network of at most {MAX_DIMENSIONS} dimensions needs fewer than {MAX_CHARACTERS}")
    body = COMMENT.sub("", text)
    nested = NESTED.search(body, FLOW.match(body).end())
    if nested:
        line = 1 + body.count("\n", 0, nested.start())
        raise FormatError(f"{file}:{line}: is a list within a list: each key has one list with a value for each dimension, like {LIKE}")
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as problem:
        line = problem.problem_mark.line + 1 if problem.problem_mark else 1
        raise FormatError(f"{file}:{line}: is not YAML: {problem.problem or problem.context}; it must be like {LIKE}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as problem:
        raise FormatError(f"{file}: is not YAML: {' '.join(str(problem).split())[:100]}; it must be like {LIKE}") from None
    if not isinstance(root, yaml.MappingNode):
        raise FormatError(f"{file}:1: must be keys with lists, like {LIKE}")
    lists: dict[str, list[str]] = {}
    lines: dict[str, int] = {}
    for key_node, value in root.value:
        key, line = key_node.value, key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode) or key not in KEYS:
            raise FormatError(f"{file}:{line}: {quoted(key)} is not a known key: {did_you_mean(key, KEYS)}")
        if key in lists:
            raise FormatError(f"{file}:{line}: {key} stands twice, first in line {lines[key]}")
        if not isinstance(value, yaml.SequenceNode) or any(not isinstance(item, yaml.ScalarNode) for item in value.value):
            raise FormatError(f"{file}:{line}: {key} must be a list with a value for each dimension; the file is like {LIKE}")
        lists[key], lines[key] = [item.value for item in value.value], line
    missing = next((key for key in KEYS if key not in lists), None)
    if missing:
        raise FormatError(f"{file}: {missing} is missing; the file is like {LIKE}")
    return lists, lines


def _number(word: str, key: str, place: str) -> float:
    what, low, high = {
        "npus_count": ("a whole number of NPUs", 1, MAX_NPUS), "bandwidth": ("GB/s without a unit", 1e-6, MAX_GB_PER_S),
        "latency": ("ns without a unit", 0, MAX_LATENCY_NS),
    }[key]  # fmt: skip
    value = float(word) if NUMBER.fullmatch(word) else math.nan
    if not low <= value <= high or (key == "npus_count" and value != int(value)):
        near = "" if math.isnan(value) else f"; the nearest is {round(min(max(value, low), high)) if key == 'npus_count' else min(max(value, low), high):g}"
        raise FormatError(f"{place}: {key} {quoted(word)}: must be {what}, from {low:g} to {high:g}{near}")
    return value


def _links_of(shape: str, n: int) -> int:
    """Links of one group of n along a dimension."""
    if n == 1:
        return 0
    return {"Ring": n if n > 2 else 1, "FullyConnected": n * (n - 1) // 2, "Switch": n}[shape]


def graph_text(network: AstraNetwork) -> str:
    """The network in the topology format of the HPCC simulator: NPUs 0.., then the switches, dimension by dimension."""
    total, stride = network.n_npus, 1
    rows, switches = [], 0
    for shape, n, rate_bps, delay_ps in zip(network.shape, network.npus, network.rate_bps, network.delay_ps, strict=True):
        link = f"{rate_bps}bps {delay_ps}ps 0"
        first = (np.arange(total // n) // stride * stride * n + np.arange(total // n) % stride)[:, None]  # NPU at 0 of each group
        if n > 1:
            a, b = _ends(shape, n, first, stride, total + switches)
            rows += [f"{src} {dst} {link}" for src, dst in zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)]
            switches += len(first) if shape == "Switch" else 0
        stride *= n
    return "\n".join([f"{total + switches} {switches} {len(rows)}", " ".join(map(str, range(total, total + switches))), *rows]) + "\n"


def _ends(shape: str, n: int, first: np.ndarray, stride: int, switch: int) -> tuple[np.ndarray, np.ndarray]:
    member = first + stride * np.arange(n)
    if shape == "Switch":
        return member, np.broadcast_to(switch + np.arange(len(first))[:, None], member.shape)
    if shape == "Ring":
        links = _links_of(shape, n)
        return member[:, :links], np.roll(member, -1, axis=1)[:, :links]
    low, high = np.triu_indices(n, 1)
    return member[:, low], member[:, high]
