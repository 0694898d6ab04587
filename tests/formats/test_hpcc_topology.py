"""Topology files written: links in order, exact to the bit/s and the picosecond, NVSwitches first."""

from sim.formats.hpcc_topology import topology_text, unsaid
from sim.scenario import Cluster
from sim.topology.build import build_network
from sim.topology.from_file import network_from_text

TEXT = "4 1 3\n2\n0 2 100000000001bps 1000001ps 0.25\n1 2 100000000000bps 0ps 0.0\n0 3 400000000000bps 500000ps 0.0"


def test_word_for_word():
    assert topology_text(network_from_text(TEXT)) == TEXT and unsaid(network_from_text(TEXT)) == []


def test_nvswitches_come_first():
    network = build_network(Cluster(topology="leaf-spine", gpus=4, gpus_per_node=2, hosts_per_leaf=2))
    assert topology_text(network).split("\n")[1].split()[:2] == ["4", "5"]
    assert len(unsaid(network)) == 2 and "cluster.nvswitches = 2" in unsaid(network)[0]
