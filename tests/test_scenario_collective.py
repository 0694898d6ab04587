"""Traffic pattern "collective": defaults, who takes part, what is refused in which words, what is said before a run."""

import pytest

from sim.errors import ScenarioError
from sim.preset import from_link, load_preset, to_link, to_toml
from sim.scenario import Scenario, gpus_used, notices
from sim.scenario_collective import members


def scenario(cluster=None, **traffic):
    wires = {"topology": "rail-optimised", "gpus": 32, "gpus_per_node": 8, **(cluster or {})}
    return Scenario.from_data({"cluster": wires, "traffic": {"pattern": "collective", **traffic}})


def who(**traffic):
    found = scenario(**traffic)
    return members(found.traffic, found.cluster)


def test_what_is_left_out_is_filled_in():
    plain = scenario().traffic
    assert (plain.collective, plain.algorithm, plain.collective_bytes, plain.repeat) == ("all-reduce", "ring", 64_000_000, 1)
    assert scenario(collective="all-to-all").traffic.algorithm == "direct"
    assert scenario().given()["traffic"] == {"pattern": "collective"}
    assert Scenario.from_data({"cluster": {"topology": "one-switch", "gpus": 4}, "traffic": {"pattern": "ring"}}).traffic.collective is None


def test_members_and_how_many_share_a_server():
    assert who() == (tuple(range(32)), (8, 8, 8, 8), 8, True)
    assert who(ranks=12)[1:] == ((8, 4), 1, False)
    assert who(ranks=4)[1:] == ((4,), 4, True)
    assert who(ranks=[0, 8, 16, 24]) == ((0, 8, 16, 24), (1, 1, 1, 1), 1, True)
    assert who(ranks=[0, 1, 8, 9])[1:] == ((2, 2), 2, True)
    assert who(ranks=[0, 8, 1, 9])[1:] == ((1, 1, 1, 1), 1, False), "not server by server"


def test_a_list_of_gpus_survives_link_and_toml(tmp_path):
    listed = scenario(ranks=[3, 11, 19], algorithm="ring", channels=1)
    assert from_link(to_link(listed)) == listed and listed.traffic.ranks == (3, 11, 19)
    path = tmp_path / "mine.toml"
    path.write_text(to_toml(listed), "utf-8")
    assert load_preset(str(path)).traffic == listed.traffic


@pytest.mark.parametrize(
    ("cluster", "traffic", "line"),
    [
        ({}, {"collective": "broadcast", "algorithm": "pxn"}, "traffic.algorithm = 'pxn' is for all-to-all, not for broadcast: known: ring, direct"),
        ({}, {"algorithm": "halving"}, "did you mean 'halving-doubling'?"),
        ({}, {"collective": "allreduce"}, "traffic.collective = 'allreduce' is not one of the choices: did you mean 'all-reduce'?"),
        ({}, {"ranks": 33}, "traffic.ranks = 33: must be from 2 to cluster.gpus = 32; the nearest is 32"),
        ({}, {"ranks": 1}, "traffic.ranks = 1: must be from 2 to cluster.gpus = 32; the nearest is 2"),
        ({}, {"ranks": [4]}, "traffic.ranks = [4]: a collective needs at least 2 GPUs"),
        ({}, {"ranks": [4, 40]}, "traffic.ranks: there is no GPU 40; cluster.gpus = 32 makes the legal range 0 to 31"),
        ({}, {"ranks": [4, 5, 4]}, "traffic.ranks: GPU 4 is listed twice; each takes part once"),
        ({}, {"ranks": "all"}, "traffic.ranks = all: must be how many GPUs, like 16, or which, like [0, 8, 16]"),
        ({}, {"ranks": [1, 2.5]}, "traffic.ranks = [1, 2.5]: must be how many GPUs, like 16, or which, like [0, 8, 16]"),
        ({}, {"ranks": 12, "algorithm": "hierarchical"},
         "traffic.algorithm = 'hierarchical': needs equally many GPUs of every server, server by server, not 8, 4; the nearest that works is 'ring'"),
        ({}, {"ranks": [0, 8, 1, 9], "collective": "all-to-all", "algorithm": "pxn"}, "not 1, 1, 1, 1; the nearest that works is 'direct'"),
        ({}, {"channels": 9}, "traffic.channels = 9: must be at most the 8 members in a server, one NIC for each channel; the nearest is 8"),
        ({}, {"channels": 2, "algorithm": "direct"}, "traffic.channels = 2: direct has no channels, only ring and double-binary-tree have; the nearest is 1"),
        ({"gpu": "A100-SXM-80"}, {"algorithm": "nvls"}, "the NVSwitch of cluster.gpu = 'A100-SXM-80' cannot add up; GPUs with one that can: H100-SXM"),
        ({"nvlink_gbps": 0}, {"algorithm": "nvls"}, "traffic.algorithm = 'nvls': needs NVLink and at least 2 GPUs in each server"),
        ({}, {"algorithm": "nvls", "ranks": [0, 8]}, "needs NVLink and at least 2 GPUs in each server; the nearest that works is 'hierarchical'"),
        ({}, {"collective_bytes": 2**46}, "traffic.collective_bytes = 70368744177664: must be at most 35184372088832"),
        ({}, {"repeat": 0}, "traffic.repeat = 0: must be at least 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_one_line(cluster, traffic, line):
    with pytest.raises(ScenarioError) as refused:
        scenario(cluster, **traffic)
    assert line in str(refused.value) and "\n" not in str(refused.value)


def test_what_is_said_before_a_run():
    assert "this all-reduce never leaves its server: it loads NVLink, not the fabric" in notices(scenario(ranks=8))
    assert not any("never leaves" in said for said in notices(scenario()))
    assert not any("never leaves" in said for said in notices(scenario({"nvlink_gbps": 0}, ranks=8))), "then it uses the NICs"
    assert any("timed by a formula" in said for said in notices(scenario(algorithm="nvls")))
    assert "flows of 0 bytes are done after their path's delay: all" in notices(scenario(collective_bytes=0))
    assert "24 of 32 GPUs are idle: gpu8 to gpu31" in notices(scenario(ranks=8)) and gpus_used(scenario(ranks=[2, 9])) == 10


def test_keys_of_another_pattern_are_told():
    found = Scenario.from_data({"cluster": {"topology": "one-switch", "gpus": 4}, "traffic": {"pattern": "ring", "chunks": 4, "senders": 2}})
    assert [said for said in notices(found) if "no effect" in said] == [
        "traffic.senders has no effect on pattern 'ring'", "traffic.chunks has no effect on pattern 'ring'",
    ]  # fmt: skip


def test_two_gpus_wired_to_each_other_share_no_server_unless_the_file_has_an_nvswitch():
    cluster = {"topology": "file", "graph": "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0"}
    assert not any("never leaves" in said for said in notices(Scenario.from_data({"cluster": cluster, "traffic": {"pattern": "collective"}})))
    joined = Scenario.from_data({"cluster": {**cluster, "nvswitches": 1}, "traffic": {"pattern": "collective"}})
    assert any("never leaves" in said for said in notices(joined))
