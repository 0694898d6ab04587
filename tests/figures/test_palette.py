"""Colours: one meaning each, and apart for people who see no red, or no green, wherever they meet in one chart."""

from itertools import combinations

import numpy as np
import pytest

from sim.workload.blocks import FlowKind, TaskKind
from views.figures.shares import kind_word
from views.parts import palette

APART = 15.0  # CIE 1976 distance; 2.3 is just noticeable side by side
SEEN = {  # linear RGB as it is seen: Machado, Oliveira, Fernandes (2009), table 1, severity 1
    "everyone": np.eye(3),
    "no red": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "no green": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
}
XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])  # sRGB, D65
TASKS = ("forward", "backward", "weight", "recompute", "TP", "optimizer", "in switch", "program")
FLOWS = ("TP", "CP", "EP", "PP", "DP", "embedding", "background")
PLAIN = ("traffic", "collective", "in switch", "program", "background")  # no model: none of the others
PATH = ("compute", "TP", "bubble", "optimizer", "in switch", "PP", "DP", "EP", "CP", "embedding", "background")
TOGETHER = {"tasks": TASKS, "flows": FLOWS, "plain": PLAIN, "timeline": (*TASKS[:7], *FLOWS[1:]), "critical path": PATH}


def lab(colour, seen):
    """CIE L*a*b* of "#rrggbb"."""
    srgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    ratio = XYZ @ np.clip(seen @ linear, 0, 1) / XYZ.sum(axis=1)
    x, y, z = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_black_and_white_are_a_hundred_apart():
    assert np.linalg.norm(lab("#000000", np.eye(3)) - lab("#ffffff", np.eye(3))) == pytest.approx(100, abs=0.1)


@pytest.mark.parametrize("who", SEEN)
@pytest.mark.parametrize("chart", [*TOGETHER, "memory"])
def test_colours_of_one_chart_are_told_apart(chart, who):
    colours = palette.MEMORY if chart == "memory" else {kind: palette.KINDS[kind] for kind in TOGETHER[chart]}
    apart = {pair: np.linalg.norm(lab(colours[pair[0]], SEEN[who]) - lab(colours[pair[1]], SEEN[who])) for pair in combinations(colours, 2)}
    assert not {pair: distance for pair, distance in apart.items() if distance < APART}


def test_every_kind_that_is_drawn_has_a_colour_of_its_own():
    words = {kind_word(kind.name) for kind in (*TaskKind, *FlowKind)} - {"wait"}
    assert words <= set(palette.KINDS)
    assert len(set(palette.KINDS.values())) == len(palette.KINDS)


def test_a_colour_means_one_thing():
    groups = {
        "kinds": palette.KINDS.values(), "memory": [colour for kind, colour in palette.MEMORY.items() if kind != "optimizer"],
        "how": palette.HOW.values(), "modes": palette.MODES.values(), "tiers": palette.TIERS.values(), "heat": palette.HEAT,
        "port": (palette.QUEUE, palette.UTILISATION, palette.MARKS, palette.PAUSED, palette.ACTIVE_FLOWS),
        "links": (palette.LINK, palette.NVLINK, palette.BROKEN), "selected": (palette.SELECTED,),
    }  # fmt: skip
    for (one, mine), (other, its) in combinations(groups.items(), 2):
        assert not set(mine) & set(its), f"{one} and {other}"
