"""Names of nodes, links between them, and faults on links."""

import numpy as np
import pytest

from sim.errors import ScenarioError
from sim.scenario import Cluster, Fault
from sim.topology.build import build_network, fault_ports, network_notices
from sim.topology.from_file import network_from_text
from sim.topology.network import connected, list_nodes

NETWORK = build_network(Cluster(topology="leaf-spine", gpus=16, hosts_per_leaf=4, nvlink_gbps=0.0))


def test_a_node_by_name_or_id():
    assert NETWORK.node_id("leaf0") == 16 == NETWORK.node_id(16) == NETWORK.node_id("16")


def test_an_unknown_node():
    with pytest.raises(
        ScenarioError,
        match=r"'laef0' is not in the network: did you mean 'leaf0'\? nodes are gpu0 to gpu15, leaf0 to leaf3",
    ):
        NETWORK.node_id("laef0")
    with pytest.raises(ScenarioError, match="or ids 0 to 23"):
        NETWORK.node_id(24)


def test_a_fault_touches_both_directions():
    ports = fault_ports(NETWORK, Fault(kind="link-down", a="leaf1", b="spine0"))
    assert [NETWORK.port_name(port) for port in ports] == ["leaf1->spine0", "spine0->leaf1"]


def test_a_fault_on_no_link_says_what_there_is():
    with pytest.raises(
        ScenarioError, match="there is no link leaf0-leaf1; leaf0 has links to gpu0 to gpu3, spine0 to spine3"
    ):
        fault_ports(NETWORK, Fault(kind="link-down", a="leaf0", b="leaf1"))


def test_parallel_links_fail_together():
    twice = network_from_text("3 1 3\n2\n0 2 100Gbps 1us 0\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n")
    assert fault_ports(twice, Fault(kind="degrade", a=0, b=2, rate_factor=0.5)).tolist() == [0, 1, 2, 3]


def test_lists_are_short():
    assert list_nodes(NETWORK, [0, 1, 3, 4, 5, 16]) == "gpu0, gpu1, gpu3 to gpu5, leaf0"
    assert list_nodes(NETWORK, range(0, 16, 1)) == "gpu0 to gpu15"


def test_a_10_ms_link_is_said():
    slow = network_from_text("3 1 2\n2\n0 2 100Gbps 5us 0\n1 2 100Gbps 10ms 0\n")
    assert network_notices(slow) == [
        "1 link has a large bandwidth-delay product: 1-2 holds 125 MB in flight (100 Gb/s, 10.0 ms)"
    ]
    assert network_notices(NETWORK) == []


def test_connected_parts_are_named_by_their_smallest_node():
    ring = np.arange(10_000)
    assert set(connected(10_000, ring, np.roll(ring, 1)).tolist()) == {0}
    assert connected(7, np.array([5, 1, 4]), np.array([2, 3, 5])).tolist() == [0, 1, 2, 1, 2, 2, 6]
