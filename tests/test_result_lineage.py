"""Where partitions come from and go: by hand, and against what the kernel holds after every instant."""

from itertools import pairwise

import numpy as np
import pytest

from sim import result_lineage, wormhole_simulation
from sim.modes import make_simulation
from sim.preset import load_preset
from sim.result_lineage import lineage
from sim.wormhole.layout import ACTIVE
from sim.wormhole_simulation import WormholeSimulation
from tests.packet import lab
from tests.wormhole.twins import FIXED, LINK, finished, star, twin_incasts

HOSTS, LEAVES, SPINES = 24, range(24, 30), (30, 31)
TREE = [*((host, 24 + host // 4, *LINK) for host in range(HOSTS)), *((leaf, spine, *LINK) for leaf in LEAVES for spine in SPINES)]


def edges(sim):
    return lineage(sim.result().raw).tolist()


def at(sim, number):
    return sim.result().partitions.set_index("partition_id").loc[number]


def test_a_flow_that_meets_two_partitions_merges_them_and_splits_them_when_it_ends():
    """0 sends to 1 and 2 to 3; 0 to 3 starts at 2 us and shares the first port of the one, the last of the other."""
    sim = finished(star((0, 1, 2, 3)), [(0, 1, 200_000), (2, 3, 200_000), (0, 3, 20_000, 2.0)], 4)
    assert edges(sim) == [[0, 2], [1, 2], [2, 3], [2, 4]]
    assert at(sim, 2)["came_from"] == "0 1" and at(sim, 2)["went_into"] == "3 4" and at(sim, 4)["went_into"] == ""
    assert at(sim, 0)["end_s"] == at(sim, 2)["start_s"] == 2e-6


def test_what_splits_and_merges_at_one_instant_has_no_number_in_between():
    """When 0 to 3 ends, 0 to 1 and 2 to 3 part, as 1 and 2; the next flow from 0 to 3 starts that very instant and makes 3 of them."""
    flows = [(0, 1, 200_000), (2, 3, 200_000), (0, 3, 20_000)]
    alone = finished(star((0, 1, 2, 3)), flows, 4)
    end_us = alone.result().flows["fct_s"][2] * 1e6
    again = finished(star((0, 1, 2, 3)), [*flows, (0, 3, 20_000, end_us)], 4)
    assert edges(alone) == [[0, 1], [0, 2]] and edges(again) == [[0, 3], [3, 4], [3, 5]]
    assert again.result().partitions["start_s"].iloc[1] == pytest.approx(end_us / 1e6)


def test_twins_that_only_begin_and_end_come_from_nobody():
    assert edges(twin_incasts()) == []


@pytest.mark.parametrize("mode", ["packet", "flow"])
def test_other_modes_have_none(mode):
    assert lineage(twin_incasts(mode=mode).result().raw) is None


def test_level_paper_numbers_otherwise_and_has_none():
    given = load_preset("gpt-small-16")
    result = make_simulation(given, "wormhole", level="paper").run()
    assert lineage(result.raw) is None and result.partitions["came_from"].isna().all() and len(result.partitions) > 1


def test_episodes_that_are_unlike_what_flows_did_tell_nothing():
    raw = twin_incasts().result().raw
    raw.records.episodes["flows"][-1] += 1
    assert lineage(raw) is None


def test_what_would_take_too_long_is_left(monkeypatch):
    raw = twin_incasts().result().raw
    monkeypatch.setattr(result_lineage, "MOST_VISITS", 3)
    assert lineage(raw) is None


def test_paths_that_a_failure_has_changed_tell_nothing():
    given = lab.scenario(star((0, 1, 2)), [(0, 2, 50_000), (1, 2, 50_000)], 3, **FIXED)
    down, never = ({"kind": "link-down", "a": "0", "b": "3", "at_us": at_us} for at_us in (4.0, 1e6))
    assert lineage(WormholeSimulation(given.replace("faults", [never])).run().raw) is not None
    failed = WormholeSimulation(given.replace("faults", [down]))
    while failed.end_ps < 5 * lab.US:
        failed.advance(200)
    assert len(failed.result().episodes) and lineage(failed.result().raw) is None


def held(sim) -> dict[int, frozenset]:
    """The flows of every partition that the kernel holds now."""
    w = sim.hole
    parts = w.part[w.part["next"] == ACTIVE]
    return {int(part["id"]): frozenset(w.lists[part["flows_at"] : part["flows_at"] + part["flows"]].tolist()) for part in parts}


def watched(sim, monkeypatch, instants=100_000) -> list[list[int]]:
    """The lineage as seen from outside: what was in a partition before an instant, and after it in another."""
    monkeypatch.setattr(wormhole_simulation, "WALKS", 1)
    seen = [{}]
    while not sim.in_packets and len(seen) < instants and not sim.advance(1 << 40):
        if held(sim) != seen[-1]:
            seen.append(held(sim))
    known = set(sim.result().partitions["partition_id"])
    return sorted(
        [a, b] for old, new in pairwise(seen) for a in old.keys() - new.keys() for b in new.keys() - old.keys() if old[a] & new[b] and {a, b} <= known
    )


def crowd(seed, **given):
    """60 flows between the hosts of a leaf-spine, most of them within a leaf, starting here and there."""
    draw = np.random.default_rng(seed)
    flows = []
    for _ in range(60):
        near = draw.random() < 0.8
        src, dst = (4 * draw.integers(6) * near + draw.choice(4 if near else HOSTS, 2, replace=False)).tolist()
        flows.append((src, dst, int(draw.integers(1, 60) * 1000), float(draw.integers(0, 40) * 2)))
    return lab.scenario(TREE, flows, hosts=HOSTS, **{**FIXED, **given})


@pytest.mark.parametrize(
    ("seed", "given", "options"),
    [
        (1, {}, {}), (2, {}, {"large": 3}), (3, {"pfc": "off", "pfc_xoff_kb": None}, {}), (4, {"pfc": "dynamic", "pfc_xoff_kb": None}, {}),
        (5, {"congestion_control": "dcqcn"}, {"level": "bounded"}), (6, {"congestion_control": "hpcc"}, {"skip": False}),
    ],
)  # fmt: skip
def test_a_crowd_goes_the_ways_that_the_kernel_says(seed, given, options, monkeypatch):
    sim = WormholeSimulation(crowd(seed, **given), guard=0, **options)
    found = watched(sim, monkeypatch)
    assert edges(sim) == found and len(found) > 5


def test_a_training_iteration_and_a_run_cut_short(monkeypatch):
    sim = WormholeSimulation(load_preset("gpt-7b-64"))
    found = watched(sim, monkeypatch, instants=150)
    assert not sim.result().finished and edges(sim) == found and len(found) > 10


def test_as_many_merge_and_split_as_the_kernel_counts():
    result = WormholeSimulation(load_preset("gpt-7b-64")).run()
    parents, children = lineage(result.raw).T
    counted = result.summary["partitions"]
    assert (np.unique(children, return_counts=True)[1] > 1).sum() == counted["merges"]
    assert (np.unique(parents, return_counts=True)[1] > 1).sum() == counted["splits"]
