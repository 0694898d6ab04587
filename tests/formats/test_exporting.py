"""Out and in again: what a format can carry comes back the same, what it cannot is said in one line."""

import numpy as np
import pytest

from sim.case import case_of
from sim.errors import FormatError
from sim.formats import exporting
from sim.formats.exporting import needs_a_run
from sim.formats.htsim_cm import read_cm
from sim.formats.htsim_topo import graph_text, read_topo
from sim.formats.importing import import_files, import_with_notices
from sim.preset import apply_settings, load_preset
from sim.scenario import Scenario
from sim.simulation import Simulation
from sim.topology.build import build_network
from sim.topology.from_file import network_from_text
from sim.workload.build import build_dag
from tests.fabricate import result, scenario, training
from tests.formats.test_htsim_cm import MATRIX
from tests.formats.test_htsim_topo import THREE

COLUMNS = ("flow_src", "flow_dst", "flow_bytes")
PORTS = ("port_src", "port_dst", "port_rate_bps", "port_delay_ps", "port_loss")


def exported(kind, found, run=None):
    made = getattr(exporting, kind)(found, build_network(found.cluster), build_dag(found), run)
    return {name: "".join(pieces) for name, pieces in made.files.items()}, made.notices


def again(kind, found, run=None):
    files, _ = exported(kind, found, run)
    return import_files(kind, {name: text.encode() for name, text in files.items()})


@pytest.mark.parametrize("name", ["incast-16", "fat-tree-ring", "leaf-spine-oversubscribed", "link-failure", "parallel-links"])
def test_presets_come_back_from_files_of_the_hpcc_simulator(name):
    found = load_preset(name)
    back = again("hpcc", found)
    one, other = build_dag(found), build_dag(back)
    order = np.argsort(one.start_ps, kind="stable")
    for column in COLUMNS:
        assert getattr(one, column)[order].tolist() == getattr(other, column).tolist()
    assert one.start_ps[order].tolist() == other.start_ps.tolist()
    here, there = build_network(found.cluster), build_network(back.cluster)
    for column in PORTS:
        assert getattr(here, column).tolist() == getattr(there, column).tolist()


@pytest.mark.parametrize("name", ["fat-tree-ring", "leaf-spine-oversubscribed"])
def test_presets_come_back_from_htsim_files(name):
    found = load_preset(name)
    back = again("htsim", found)
    one, other = build_dag(found), build_dag(back)
    for column in COLUMNS:
        assert getattr(one, column).tolist() == getattr(other, column).tolist()
    here, there = build_network(found.cluster), build_network(back.cluster)
    links = [sorted(zip(*(getattr(n, column).tolist() for column in PORTS), strict=True)) for n in (here, there)]
    assert links[0] == links[1]


def test_htsim_triggers_come_back_word_for_word():
    found = import_files("htsim", {"a.cm": MATRIX.encode(), "b.topo": THREE.encode()})
    files, _ = exported("htsim", found)
    assert files["connections.cm"] == MATRIX and read_topo(files["network.topo"]) == read_topo(THREE)
    assert not needs_a_run("htsim", found, build_dag(found)) and needs_a_run("hpcc", found, build_dag(found))


def test_nvswitches_come_back_when_they_are_counted():
    found = training()
    files, said = exported("hpcc", found, result(found))
    assert "4 NVSwitches are written as the first of the switches: cluster.nvswitches = 4 tells them apart again" in said
    here = build_network(found.cluster)
    there = network_from_text(files["topology.txt"], gpus_per_node=4, nvswitches=4)
    assert here.port_kind.tolist() == there.port_kind.tolist() and here.node_tier.tolist() == there.node_tier.tolist()
    assert here.node_server.tolist() == there.node_server.tolist()


def test_messages_that_wait_for_others_take_their_starts_from_a_run():
    found = training()
    run = result(found)
    assert needs_a_run("hpcc", found, run.dag) and needs_a_run("htsim", found, run.dag)
    with pytest.raises(FormatError, match="these messages wait for others"):
        exported("hpcc", found)
    files, said = exported("hpcc", found, run)
    rows = [line.split() for line in files["flow.txt"].splitlines()[1:]]
    assert sorted(float(row[5]) for row in rows) == pytest.approx(sorted(run.flows["start_s"]), abs=1e-12)
    assert "starts are those of this run: the format carries no dependencies and no compute" in said
    work, _ = read_cm(exported("htsim", found, run)[0]["connections.cm"])
    assert work.start_ps.tolist() == sorted(run.raw.start_ps[run.dag.n_tasks :].tolist())


def test_a_partial_run_says_what_is_missing():
    found = training()
    files, said = exported("hpcc", found, result(found, stop_after=0.6))
    listed = int(files["flow.txt"].split()[0])
    assert 0 < listed < build_dag(found).n_flows
    assert f"PARTIAL: {build_dag(found).n_flows - listed} of {build_dag(found).n_flows} flows had not started when the run stopped; they are left out" in said


def test_starts_to_the_picosecond():
    flows = [{"src": 0, "dst": 1, "bytes": 0, "start_us": 0.000001}, {"src": 1, "dst": 2, "bytes": 5_000_000_000, "start_us": 4.5e6}]
    found = scenario(traffic={"pattern": "flows", "flows": flows})
    files, _ = exported("hpcc", found)
    assert files["flow.txt"] == "2\n0 1 3 100 0 0.000000000001\n1 2 3 100 5000000000 4.500000000000\n"


@pytest.mark.parametrize(
    "cluster, words",
    [
        ({"topology": "one-switch", "gpus": 8, "gpus_per_node": 1, "nvlink_gbps": 0}, "it has 1 tiers of switches"),
        ({"topology": "rail-optimised", "gpus": 16, "gpus_per_node": 4}, "its switches are wired in another order"),
        ({"topology": "leaf-spine", "gpus": 6, "gpus_per_node": 1, "nvlink_gbps": 0, "hosts_per_leaf": 4}, "differ in their numbers of links"),
        ({"topology": "leaf-spine", "gpus": 8, "gpus_per_node": 1, "nvlink_gbps": 0, "hosts_per_leaf": 4, "nic_gbps": 2.5}, "whole numbers are carried"),
        ({"topology": "file", "graph": "4 0 2\n\n0 1 1Gbps 1us 0\n2 3 1Gbps 1us 0\n"}, "it has 0 tiers of switches"),
    ],
)
def test_networks_that_htsim_has_no_words_for(cluster, words):
    found = Scenario.from_data({"cluster": cluster, "traffic": {"pattern": "flows", "flows": [{"src": 0, "dst": 1, "bytes": 1}]}})
    files, said = exported("htsim", found)
    assert list(files) == ["connections.cm"] and any(notice.startswith("the topology is not written: ") and words in notice for notice in said)


@pytest.mark.parametrize(
    ("cluster", "settings"),
    [
        ({"topology": "one-switch", "gpus": 8, "gpus_per_node": 1, "nvlink_gbps": 0}, None),
        ({"topology": "one-switch", "gpus": 8, "gpus_per_node": 1, "nvlink_gbps": 0, "nic_gbps": 12.345678}, "cluster.nic_gbps=12.345678"),
        (
            {"topology": "rail-optimised", "gpus": 16, "gpus_per_node": 4},
            "cluster.topology=rail-optimised --set cluster.gpus_per_node=4 --set cluster.nvlink_gbps=3600.0",
        ),
        (
            {"topology": "leaf-spine", "gpus": 12, "gpus_per_node": 4, "hosts_per_leaf": 8, "ecmp_seed": 9, "fabric_gbps": 800, "oversubscription": 2},
            "cluster.topology=leaf-spine --set cluster.gpus_per_node=4 --set cluster.hosts_per_leaf=8 --set cluster.oversubscription=2.0 "
            "--set cluster.fabric_gbps=800.0 --set cluster.ecmp_seed=9 --set cluster.nvlink_gbps=3600.0",
        ),
        ({"topology": "file", "graph": "4 0 2\n\n0 1 1Gbps 1us 0\n2 3 1Gbps 1us 0\n"}, None),
    ],
)
def test_what_restores_a_network_that_htsim_has_no_words_for(cluster, settings):
    found = Scenario.from_data({"cluster": cluster, "traffic": {"pattern": "flows", "flows": [{"src": 0, "dst": 1, "bytes": 1}]}})
    files, said = exported("htsim", found)
    told = [notice for notice in said if notice.startswith("connections.cm alone comes back with one switch at 400 Gb/s; run it with --set ")]
    assert len(told) == (settings is not None)
    if settings is None:
        return
    assert sorted(told[0].removesuffix(" for this network").split(" --set ")[1:]) == sorted(settings.split(" --set "))
    back, _ = import_with_notices("htsim", {"connections.cm": files["connections.cm"].encode()})
    again = build_network(apply_settings(back, settings.split(" --set ")).cluster)
    for name in ("port_src", "port_dst", "port_rate_bps", "port_delay_ps", "port_kind", "node_server"):
        assert (getattr(again, name) == getattr(build_network(found.cluster), name)).all(), name


def two_ways(*faults):
    """Hosts 0 and 3 with two switches between them, and a transport that the HPCC simulator's files carry."""
    links = "".join(f"{a} {b} 100Gbps 1us 0\n" for a, b in ((0, 1), (0, 2), (1, 3), (2, 3)))
    return Scenario.from_data(
        {
            "cluster": {"topology": "file", "graph": f"4 2 4\n1 2\n{links}"},
            "traffic": {"pattern": "flows", "flows": [{"src": 0, "dst": 1, "bytes": 400_000}, {"src": 1, "dst": 0, "bytes": 300_000, "start_us": 3.25}]},
            "transport": {"congestion_control": "dctcp", "pfc": "dynamic", "buffer_mb": 16 * 1.048576, "int_telemetry": "ns3", "payload_bytes": 1000},
            "faults": list(faults),
        }
    )


def down(a, b, at_us, kind="link-down"):
    return {"kind": kind, "a": str(a), "b": str(b), "at_us": at_us}


LOSSY = {"kind": "loss", "a": "0", "b": "1", "probability": 0.02}


@pytest.mark.parametrize("faults", [[down(1, 3, 12.5)], [down(1, 3, 0)], [LOSSY], [LOSSY, down(2, 3, 7.000001)]], ids=str)
def test_faults_come_back_from_files_of_the_hpcc_simulator(faults):
    found = two_ways(*faults)
    back = again("hpcc", found)
    one, other, undisturbed = (Simulation(case_of(scenario)).run().raw for scenario in (found, back, two_ways()))
    assert one.acked_ps.tolist() == other.acked_ps.tolist() and one.counters["losses"] == other.counters["losses"]
    assert one.port_tx_packets.tolist() == other.port_tx_packets.tolist() != undisturbed.port_tx_packets.tolist()
    assert [fault.at_us for fault in back.faults] == [pytest.approx(fault["at_us"], abs=1e-6) for fault in faults if fault is not LOSSY]


@pytest.mark.parametrize(
    "faults, line, left",
    [
        ([down(1, 3, 12.5)], "LINK_DOWN 13 1 3", None),
        ([down(1, 3, 12.5), down(0, 2, 4)], "LINK_DOWN 4 0 2", "link-down of 1-3 at 12.5 us"),
        ([down(1, 3, 5), down(1, 3, 9, "link-up")], None, "link-down of 1-3 at 5 us, link-up of 1-3 at 9 us"),
        ([down(1, 3, 5), {"kind": "switch-up", "a": "1", "at_us": 9}], None, "link-down of 1-3 at 5 us, switch-up of 1 at 9 us"),
        ([{**LOSSY, "at_us": 2}], None, "loss of 0-1 at 2 us"),
        ([LOSSY, {**LOSSY, "at_us": 2}], None, "loss of 0-1 at 0 us, loss of 0-1 at 2 us"),
        ([down(1, 3, i, "link-up") for i in range(6)], None, "link-up of 1-3 at 3 us, 2 more faults"),
    ],
)  # fmt: skip
def test_faults_that_the_hpcc_simulator_has_no_words_for(faults, line, left):
    files, said = exported("hpcc", two_ways(*faults))
    assert [row for row in files["config.txt"].splitlines() if row.startswith("LINK_DOWN")] == ([line] if line else [])
    assert any("not carried by hpcc's files" in notice and left in notice for notice in said) if left else not any("not carried" in notice for notice in said)


def test_without_a_configuration_no_failure_is_carried():
    data = two_ways(down(1, 3, 12.5), LOSSY).given()
    files, said = exported("hpcc", Scenario.from_data({**data, "transport": {"congestion_control": "swift"}}))
    assert list(files) == ["topology.txt", "flow.txt"] and "not carried by hpcc's files: link-down of 1-3 at 12.5 us" in said
    assert "0 1 100000000000bps 1000000ps 0.02" in files["topology.txt"] and "0 3 3 100 400000 0.000000000000" in files["flow.txt"]


def test_what_is_left_out_is_said():
    found = scenario(
        cluster={"topology": "leaf-spine", "gpus": 8, "gpus_per_node": 4, "hosts_per_leaf": 4},
        traffic={"pattern": "flows", "flows": [{"src": 0, "dst": 1, "bytes": 1, "path": ["gpu0", "leaf0", "gpu1"]}]},
        faults=[{"kind": "loss", "a": "gpu0", "b": "leaf0", "probability": 0.1}],
    )
    files, said = exported("htsim", found)
    assert "not carried by htsim's files: transport, faults, paths of single flows" in said
    assert "NVSwitches and NVLink are not carried by htsim's topologies" in said
    assert network_from_text(graph_text(read_topo(files["network.topo"]))).n_hosts == 8
