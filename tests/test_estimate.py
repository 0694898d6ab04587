"""Estimates against the case that a run builds, their speed, and that they need no compiled code."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from sim.case import case_of
from sim.command.bench_packet import CASES
from sim.errors import ScenarioError
from sim.estimate import (
    START_S,
    US_OF_TURNS,
    US_PER_FLOW,
    US_PER_TASK,
    crossings,
    estimate,
    ns_per_hop,
    oversubscription,
    us_per_flow,
)
from sim.hop_count import hop_counts, mean_hops
from sim.preset import list_presets, load_preset
from sim.scenario import Scenario
from sim.topology.build import build_network
from sim.topology.routing import route

ROOT = Path(__file__).resolve().parents[1]
GPT = load_preset("gpt-13b-128").replace("transport.pfc", "off")
FAT_TREE = load_preset("fat-tree-ring")
VARIANTS = {
    "all-reduce": GPT.replace("parallelism.optimizer", "all-reduce"),
    "four stages, ACK of four": GPT.replace_all({"parallelism.pp": 4, "parallelism.dp": 4, "transport.ack_every": 4}),
    "no data parallelism": GPT.replace_all({"parallelism.pp": 8, "parallelism.dp": 1, "cluster.gpus": 64}),
    "no pipeline": GPT.replace_all({"parallelism.pp": 1, "parallelism.dp": 16}),
    "idle servers": GPT.replace("parallelism.dp", 4),
    "one server": GPT.replace_all({"parallelism.tp": 4, "parallelism.pp": 2, "parallelism.dp": 1, "cluster.gpus": 8}),
    "1024 GPUs": GPT.replace_all({"cluster.gpus": 1024, "parallelism.dp": 64}),
    "1024 GPUs in three tiers": GPT.replace_all({"cluster.gpus": 1024, "parallelism.dp": 64, "cluster.tiers": 3}),
    "permutation": FAT_TREE.replace("traffic.pattern", "permutation"),
    "all-to-all": FAT_TREE.replace_all({"traffic.pattern": "all-to-all", "traffic.flow_bytes": 2500}),
    "incast": FAT_TREE.replace_all({"traffic.pattern": "incast", "traffic.senders": 90, "traffic.receiver": 17}),
    "ring in two channels": FAT_TREE.replace_all({"traffic.pattern": "collective", "traffic.channels": 2, "traffic.chunks": 3, "traffic.flow_bytes": None}),
    "tree of some": FAT_TREE.replace_all({"traffic.pattern": "collective", "traffic.algorithm": "double-binary-tree", "traffic.ranks": [3, 90, 17, 5, 6]}),
    "all-to-all over rails, twice": Scenario.from_data(
        {"cluster": {"topology": "rail-optimised", "gpus": 32},
         "traffic": {"pattern": "collective", "collective": "all-to-all", "algorithm": "pxn", "collective_bytes": 1_000_001, "repeat": 2}}
    ),
    "0 bytes": FAT_TREE.replace("traffic.flow_bytes", 0),
}


@pytest.mark.parametrize("name", list_presets() + list(VARIANTS))
def test_estimate_equals_what_the_case_counts(name):
    scenario = VARIANTS.get(name) or load_preset(name)
    cost, case = estimate(scenario), case_of(scenario)
    assert (cost.packet_hops, cost.flows, cost.tasks) == (case.packet_hops, case.dag.n_flows, case.dag.n_tasks)
    assert cost.cpu_s >= cost.packet_hops * 20e-9


@pytest.mark.parametrize(
    ("name", "measured_ns"),
    [("incast-16", 53), ("k4-all-to-all", 58), ("k8-ring-128", 32), ("k16-ring-1024", 52), ("k8-all-to-all", 128), ("sparse-1024", 31)],
)  # fmt: skip
def test_time_of_a_hop_is_within_a_fifth_of_the_bench(name, measured_ns):
    assert ns_per_hop(list(crossings(CASES[name]()))) == pytest.approx(measured_ns, rel=0.2)


def test_kinds_of_messages_of_a_training_job_take_turns():
    assert ns_per_hop(list(crossings(load_preset("gpt-7b-64")))) == pytest.approx(36, rel=0.2)  # as measured


def test_channels_are_queue_pairs_of_their_own_and_chunks_are_not():
    one = load_preset("all-reduce-64")
    for channels, chunks in ((1, 1), (1, 16), (8, 1)):
        sorts = list(crossings(one.replace_all({"traffic.channels": channels, "traffic.chunks": chunks})))
        assert ns_per_hop(sorts) == pytest.approx(32 + 7.5 * (channels - 1) ** 0.5 + 0.02 * 64)


def test_many_small_messages_cost_by_the_message():
    many = load_preset("all-reduce-64").replace_all({"traffic.channels": 8, "traffic.chunks": 16})
    cost, sorts = estimate(many), list(crossings(many))
    turns = US_OF_TURNS * (1 - np.mean([len(src) / 64 for src, *_ in sorts if len(src)]) ** -1)
    assert us_per_flow(sorts, cost.flows) == pytest.approx(US_PER_FLOW + turns)
    assert cost.least_s == pytest.approx(START_S + 1_032_192 * (US_PER_FLOW + turns) * 1e-6)
    assert cost.cpu_s == pytest.approx(6.7, rel=0.3)  # as measured, building included
    assert us_per_flow(sorts, 100_000) == pytest.approx(US_PER_FLOW + turns / 10)


def test_what_no_repetition_saves_is_the_start_and_the_flows_and_tasks():
    cost = estimate(load_preset("gpt-small-16"))
    assert cost.least_s == pytest.approx(START_S + (cost.flows * US_PER_FLOW + cost.tasks * US_PER_TASK) * 1e-6, abs=1e-6)


def test_hosts_behind_few_uplinks_wait_for_more_queue_pairs():
    few = load_preset("leaf-spine-oversubscribed")
    assert oversubscription(build_network(few.cluster)) == 4
    assert oversubscription(build_network(few.replace("cluster.oversubscription", 1.0).cluster)) == 1
    assert oversubscription(build_network(load_preset("incast-16").cluster)) == 1
    assert ns_per_hop(list(crossings(few)), 4) == pytest.approx(32 + 7.5 * (30 * 4) ** 0.5 + 0.02 * 32)
    assert estimate(few).cpu_s == pytest.approx(0.22, rel=0.34)  # as measured


def test_a_large_all_to_all_is_sampled():
    scenario = FAT_TREE.replace_all({"traffic.pattern": "all-to-all", "cluster.gpus": 256, "cluster.fat_tree_k": 12})
    assert estimate(scenario).packet_hops == pytest.approx(case_of(scenario).packet_hops, rel=0.005)


@pytest.mark.parametrize("name", ["1024 GPUs", "1024 GPUs in three tiers"])
def test_estimate_of_a_thousand_gpus_takes_milliseconds(name):
    estimate(VARIANTS[name])
    spent = []
    for _ in range(3):
        began = time.thread_time()
        estimate(VARIANTS[name])
        spent.append(time.thread_time() - began)
    assert min(spent) < 0.05


def test_a_large_collective_is_told_in_milliseconds():
    cluster = {"topology": "rail-optimised", "gpus": 1024}
    for traffic in ({"algorithm": "ring", "channels": 8}, {"collective": "all-to-all"}, {"collective": "all-to-all", "algorithm": "pxn"}):
        scenario = Scenario.from_data({"cluster": cluster, "traffic": {"pattern": "collective", **traffic}})
        estimate(scenario)
        began = time.thread_time()
        told = estimate(scenario)
        assert time.thread_time() - began < 0.5
        assert told.flows >= 1024 * 1023


def test_given_paths_count_as_long_as_they_are():
    flows = [
        {"src": 0, "dst": 1, "bytes": 3000, "path": ["gpu0", "leaf0", "gpu1"]},
        {"src": 0, "dst": 2, "bytes": 1500, "path": ["gpu0", "leaf0", "spine0", "leaf1", "gpu2"], "ack_path": ["gpu2", "leaf1", "spine1", "leaf0", "gpu0"]},
        {"src": 3, "dst": 2, "bytes": 1},
    ]  # fmt: skip
    cluster = {
        "topology": "leaf-spine",
        "gpus": 4,
        "gpus_per_node": 1,
        "nvlink_gbps": 0,
        "hosts_per_leaf": 2,
        "spines": 2,
    }
    scenario = Scenario.from_data({"cluster": cluster, "traffic": {"pattern": "flows", "flows": flows}})
    assert estimate(scenario).packet_hops == 3 * (2 + 2) + 2 * (4 + 4) + 1 * (2 + 2) == case_of(scenario).packet_hops


@pytest.mark.parametrize(
    ("scenario", "line"),
    [
        (load_preset("incast-16").replace("transport.buffer_mb", 2), "transport.buffer_mb = 2"),
        (load_preset("incast-16").replace("transport.parameters", {"gian": 1}), "dcqcn has no such parameter; did you mean 'gain'"),
        (
            Scenario.from_data(
                {
                    "cluster": {"topology": "file", "graph": "6 2 4\n4 5\n0 4 1Gbps 1us 0\n1 4 1Gbps 1us 0\n2 5 1Gbps 1us 0\n3 5 1Gbps 1us 0"},
                    "traffic": {"pattern": "ring"},
                }
            ),
            "there is no path from 1 to 2",
        ),
    ],
)  # fmt: skip
def test_what_a_run_would_refuse_is_refused_at_once(scenario, line):
    with pytest.raises(ScenarioError) as refused:
        estimate(scenario)
    assert line in str(refused.value)


@pytest.mark.parametrize(
    "cluster",
    [
        GPT.replace_all({"cluster.gpus": 256, "parallelism.dp": 16, "cluster.tiers": 3}).cluster,
        FAT_TREE.cluster,
        load_preset("parallel-links").cluster,
        Scenario.from_data(
            {
                "cluster": {"topology": "file", "graph": "4 1 4\n3\n0 3 1Gbps 1us 0\n1 3 1Gbps 1us 0\n0 1 1Gbps 1us 0\n2 3 1Gbps 1us 0"},
                "traffic": {"pattern": "ring"},
            }
        ).cluster,
    ],
    ids=["three tiers", "fat-tree", "parallel links", "hosts wired to each other"],
)  # fmt: skip
def test_hop_counts_are_those_of_the_routes(cluster):
    network = build_network(cluster)
    src, dst = (ends.ravel() for ends in np.meshgrid(network.hosts, network.hosts))
    src, dst = src[src != dst], dst[src != dst]
    ptr, _ = route(network, src, dst, np.zeros(len(src), np.int64), 1)
    assert np.array_equal(hop_counts(network, src, dst), np.diff(ptr))


def test_the_mean_over_a_huge_network_comes_from_a_sample(monkeypatch):
    network = build_network(FAT_TREE.cluster)
    src, dst = network.hosts, np.roll(network.hosts, -1)
    exact = mean_hops(network, src, dst, np.ones(len(src)))
    monkeypatch.setattr("sim.hop_count.WORK_MAX", 64 * 512)
    assert mean_hops(network, src, dst, np.ones(len(src))) == pytest.approx(exact, rel=0.1)


def test_estimate_needs_no_compiled_code(tmp_path):
    code = "from sim.estimate import estimate; from sim.preset import load_preset; estimate(load_preset('gpt-13b-128'))"
    subprocess.run(
        [sys.executable, "-c", code], env={"WORMHOLE_LAB_CACHE": str(tmp_path), "PYTHONPATH": str(ROOT)}, check=True
    )
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
