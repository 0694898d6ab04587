"""Patterns: what states have in common that differ only in what changes from moment to moment.

A pattern is the flow-port incidence structure in canonical numbering (each flow's ports in order, for its
data and for its ACKs) with the class of each port: rate, delay, thresholds.
"""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np

from sim.packet.state import records
from sim.wormhole.layout import BYTES, CLASS_FIELDS
from sim.wormhole.skim import skim

FORM = np.dtype(
    [("columns", "i8"), ("bytes_column", "i8"), ("has_loss", "i8"), ("timed", "i8"), ("telemetry", "i8"), ("tied", "i8")]
)
ASK = np.dtype([("at", "i8"), ("words", "i8"), ("begin", "i8"), ("end", "i8"), ("read_to", "i8")])
Reading = namedtuple("Reading", "arena form ask is_nic scratch out")
WORDS_AT_ONCE = 1 << 20
NOT_READ = -1


@dataclass(frozen=True)
class Pattern:
    """Ports are numbered by first use; flow j's data cross `data[j]` in order, its ACKs `acks[j]`; port q is of class `classes[q]`."""

    data: tuple
    acks: tuple
    classes: tuple

    @property
    def flows(self) -> int:
        """How many flows."""
        return len(self.data)

    @property
    def ports(self) -> int:
        """How many ports, those of ACKs included."""
        return len(self.classes)


def pattern_of(words: np.ndarray) -> Pattern:
    """The pattern that these words stand for."""
    flows, ports = int(words[0]), int(words[1])
    numbers = words.tolist()
    paths, at = [], 2
    for _ in range(2 * flows):
        end = numbers.index(-1, at)
        paths.append(tuple(numbers[at:end]))
        at = end + 1
    return Pattern(tuple(paths[::2]), tuple(paths[1::2]), tuple(numbers[at : at + ports]))


def form_of(w, state) -> np.recarray:
    """How the words of a state are laid out in this run."""
    form, p = records(1, FORM), w.p[0]
    row = form[0]
    for name in ("columns", "has_loss", "timed"):
        row[name] = p[name]
    row["bytes_column"] = np.flatnonzero(w.column["kind"] == BYTES)[0]
    row["telemetry"] = state.g[0]["telemetry"] != 0
    row["tied"] = p["by_link"] or p["by_node"]
    return form


def read_patterns(w, state, classes, wanted: np.ndarray):
    """(number of each wanted state's pattern, words of each pattern, bytes that each wanted state's flows have left).

    Patterns are numbered in the order in which the wanted states have them. NOT_READ, and no bytes: the words are not as expected.
    """
    is_nic = classes[CLASS_FIELDS.index("is_nic")].astype(np.int64)
    form, known, numbers, left = form_of(w, state), {}, np.full(len(wanted), NOT_READ, np.int64), []
    sizes = w.state["words"][wanted]
    for some in _chunks(sizes):
        ask = records(len(some), ASK)
        ask["at"], ask["words"] = w.state["at"][wanted[some]], sizes[some]
        out = np.zeros(int(sizes[some].sum() + 4 * sizes[some].max()) + 16, np.int64)
        skim(Reading(w.arena, form, ask, is_nic, np.array([0, len(some)], np.int64), out))
        as_expected = (ask["read_to"] == ask["at"] + ask["words"]).tolist()
        for j, begin, end, good in zip(some.tolist(), ask["begin"].tolist(), ask["end"].tolist(), as_expected, strict=True):
            if good:
                numbers[j] = known.setdefault(out[begin:end].tobytes(), len(known))
            left.append(out[end : end + int(out[begin])].copy() if good else np.zeros(0, np.int64))
    return numbers, [np.frombuffer(words, np.int64) for words in known], left


def _chunks(sizes: np.ndarray):
    """Runs of states of about WORDS_AT_ONCE words."""
    if len(sizes):
        group = np.cumsum(sizes) // WORDS_AT_ONCE
        yield from np.split(np.arange(len(sizes)), np.flatnonzero(np.diff(group)) + 1)
