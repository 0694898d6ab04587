"""Tables of the wormhole kernel's records; the partitions of a time, from the flow table, against the kernel's own."""

import numpy as np
import pytest

from sim.modes import make_simulation
from sim.preset import load_preset
from sim.result_partitions import partitions_at
from sim.wormhole_simulation import WormholeSimulation
from tests.wormhole.twins import lone, twin_incasts


def test_tables_are_the_records_in_seconds_and_words():
    sim = lone()
    result, records = sim.result(), sim.records()
    episodes = result.episodes
    assert episodes["how"].tolist() == ["simulated"] * len(episodes)
    assert episodes["end_s"].iloc[-1] == pytest.approx(result.end_s)
    skipped = episodes["skipped_s"] > 0
    assert skipped.sum() == 1 and episodes["skipped_from_s"].notna().equals(skipped)
    assert episodes["skipped_s"].sum() == pytest.approx(records.episodes["skipped_ps"].sum() / 1e12)
    assert result.partitions.to_dict("records") == [
        {"partition_id": 0, "start_s": 0.0, "end_s": result.end_s, "max_flows": 1, "max_ports": 4, "episodes": len(episodes), "came_from": "", "went_into": ""}
    ]
    (pattern,) = result.patterns.to_dict("records")
    assert pattern["mean_length_s"] == pytest.approx(result.end_s / len(episodes))


def test_replayed_episodes_say_so():
    episodes = twin_incasts().result().episodes
    assert episodes.groupby("partition_id")["how"].unique().map(list).tolist() == [["simulated"], ["replayed"]]


def test_twins_are_two_partitions_until_they_end():
    result = twin_incasts().result()
    first, second = partitions_at(result, 5e-6)
    assert (first.flows.tolist(), second.flows.tolist()) == ([0, 1], [2, 3])
    name = result.network.port_name
    both = [{name(port) for port in part.ports} for part in (first, second)]
    crossed = {name(port) for flow in (0, 1) for port in result.flow_path(flow)}
    assert crossed < both[0] and len(both[0]) == len(both[1]) == 6 and not both[0] & both[1]
    assert partitions_at(result, result.end_s) == [] == partitions_at(result, -1.0)


def test_a_shared_buffer_makes_one_partition_of_a_switch():
    by_switch = twin_incasts(pfc="dynamic", pfc_xoff_kb=None).result()
    assert [part.flows.tolist() for part in partitions_at(by_switch, 5e-6)] == [[0, 1], [2, 3]]
    result = make_simulation(load_preset("incast-16").replace_all({"traffic.senders": 4, "traffic.pattern": "permutation"}), "flow")
    assert len(partitions_at(result.run(), 1e-6)) == 1


@pytest.mark.parametrize("name", ["gpt-small-16", "fat-tree-ring", "parallel-links"])
def test_partitions_are_those_of_the_kernel(name):
    result = WormholeSimulation(load_preset(name), large=1000, guard=0).run()
    episodes = result.episodes
    edges = np.unique(episodes[["start_s", "end_s"]].to_numpy())
    times = ((edges[1:] + edges[:-1]) / 2)[np.diff(edges) > 1e-9]
    assert len(times) > 1
    for time_s in times[:: max(1, len(times) // 40)].tolist():
        now = episodes[(episodes["start_s"] < time_s) & (episodes["end_s"] > time_s)]
        found = partitions_at(result, time_s)
        assert sorted(len(part.flows) for part in found) == sorted(now["flows"])
        assert sorted(len(part.ports) for part in found) == sorted(now["ports"])
