"""Episodes, partitions and patterns of cases small enough to follow."""

import numpy as np
import pytest

from sim.case import case_of
from sim.modes import make_simulation
from sim.preset import load_preset
from sim.wormhole import records
from sim.wormhole_simulation import WormholeSimulation
from tests.wormhole.twins import finished, lone, star, twin_incasts

US = 10**6  # ps


def test_a_lone_flow_is_one_partition_and_its_skip_is_on_record():
    sim = lone()
    found, end_ps = sim.records(), int(sim.plan.flow["acked"][0])
    episodes = found.episodes
    assert episodes["packet_hops"].sum() == 1000 * 2 * 2, "1000 packets and their ACKs over 2 links each"
    assert not episodes["replayed"].any() and (episodes["pattern_id"] == 0).all()
    assert episodes["start_ps"][0] == 0 and episodes["end_ps"][-1] == end_ps
    assert (episodes["start_ps"][1:] == episodes["end_ps"][:-1]).all()
    skips = episodes[episodes["skipped_ps"] > 0]
    assert len(skips) == 1
    skip = skips[0]
    assert 4 * US < skip["skipped_from_ps"], "not before the first ACK is back"
    assert skip["skipped_from_ps"] + skip["skipped_ps"] <= skip["end_ps"]
    assert skip["skipped_ps"] % 83_840 == 0, "whole periods of one packet of 1048 B at 100 Gb/s"
    assert skip["packet_hops"] - skip["executed_hops"] == skip["skipped_ps"] // 83_840 * 4
    assert found.partitions.tolist() == [(0, 0, end_ps, 1, 4, len(episodes))]
    (pattern,) = found.patterns
    assert pattern["hits"] == 0 and pattern["hops_saved"] == 4000 - episodes["executed_hops"].sum()
    assert found.rates_bps[0] == pytest.approx([1e11 * 1000 / 1048], rel=0.06), "the line, less headers and a round trip"


def test_without_skipping_nothing_is_skipped():
    episodes = lone(options={"skip": False}).records().episodes
    assert (episodes["skipped_from_ps"] == -1).all() and episodes["executed_hops"].sum() == 4000


@pytest.mark.parametrize("start_us", [0.0, 3.21, 700.0])
def test_the_second_of_two_twins_is_replayed(start_us):
    found = twin_incasts(start_us).records()
    first, second = (found.episodes[found.episodes["partition_id"] == twin] for twin in (0, 1))
    assert len(found.partitions) == 2 and len(first) == len(second) > 2
    assert not first["replayed"].any() and second["replayed"].all()
    assert second["executed_hops"].sum() == 0 and first["executed_hops"].sum() == 2 * 50 * 2 * 2, "50 packets and ACKs each, 2 links"
    for name in ("pattern_id", "flows", "ports", "packet_hops"):
        assert (first[name] == second[name]).all()
    later_ps = round(start_us * US)
    assert (second["start_ps"] - first["start_ps"] == later_ps).all() and (second["end_ps"] - first["end_ps"] == later_ps).all()
    patterns = found.patterns
    assert (patterns["count"] == 2 * patterns["hits"]).all() and patterns["count"].sum() == len(found.episodes)
    assert patterns["hops_saved"].sum() == second["packet_hops"].sum()
    assert (patterns["flows"][0], patterns["ports"][0]) == (2, 6)


def test_without_replay_both_twins_are_simulated():
    found = twin_incasts(options={"replay": False}).records()
    assert not found.episodes["replayed"].any() and found.patterns["hits"].sum() == 0


def test_a_flow_that_joins_two_partitions_ends_them():
    links = star((0, 1, 2, 3))
    flows = [(0, 1, 100_000), (2, 3, 100_000), (0, 3, 20_000, 2.0)]
    found = finished(links, flows, 4).records()
    early = found.partitions[found.partitions["start_ps"] == 0]
    assert early["end_ps"].tolist() == [2 * US, 2 * US] and early["max_flows"].tolist() == [1, 1]
    joined = found.partitions[found.partitions["start_ps"] == 2 * US]
    assert joined["max_flows"].tolist() == [3] and joined["max_ports"].tolist() == [8]
    counters = finished(links, flows, 4).kernel_counters()["partitions"]
    assert (counters["merges"], counters["formed"]) == (1, len(found.partitions))


def test_records_add_up_to_the_counters():
    sim = make_simulation(load_preset("gpt-small-16"), "wormhole")
    while not sim.advance():
        pass
    found, counters = sim.records(), sim.kernel_counters()
    episodes, hops = found.episodes, counters["packet_hops"]
    assert episodes["packet_hops"].sum() == hops["total"] and episodes["executed_hops"].sum() == hops["irreducible"]
    assert episodes["packet_hops"][episodes["replayed"]].sum() == hops["replayed"]
    assert found.patterns["hits"].sum() == counters["memo"]["hits"] and len(found.partitions) == counters["partitions"]["formed"]
    assert found.patterns["hops_saved"].sum() == hops["total"] - hops["irreducible"]
    assert found.left_out == (0, 0) and found.notices() == []


def test_what_is_too_much_is_left_out_and_said(monkeypatch):
    sim = twin_incasts()
    whole = sim.records()
    monkeypatch.setattr(records, "MOST_EPISODES", len(whole.episodes) - 3)
    monkeypatch.setattr(records, "MOST_STATES", 1)
    found = sim.records()
    assert len(found.episodes) == len(whole.episodes) - 3 and len(found.words) == 1
    unread = found.episodes["pattern_id"] == -1
    assert unread.any() and (found.episodes["ports"][unread] > 0).all()
    assert found.patterns["count"].sum() == (~unread).sum()
    first, second = found.notices()
    assert f"first {len(found.episodes):,} of {len(whole.episodes):,} episodes" in first and "not read" in second


def test_a_run_without_flows_has_empty_records():
    found = finished(star((0, 1)), [(0, 1, 0)], 2).records()
    assert len(found.episodes) == len(found.partitions) == len(found.patterns) == 0
    assert np.asarray(found.words).size == 0


def test_patterns_whose_outcomes_are_forgotten_have_flows_all_the_same():
    """A memo of a few kilobytes keeps the outcome of no episode of one of the patterns."""
    sim = WormholeSimulation(case_of(load_preset("moe-8x7b-64")), most_words=1 << 12, threads=1)
    for _ in range(18):
        sim.advance(20_000)
    found = sim.records()
    assert [len(rates) for rates in found.rates_bps] == [int(words[0]) for words in found.words] and len(found.words) > 1
    assert any((rates == 0).all() for rates in found.rates_bps)
