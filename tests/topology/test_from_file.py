"""Graphs from files: what is read, and every way to be refused."""

import numpy as np
import pytest

from sim.errors import FormatError, ScenarioError
from sim.scenario import Cluster
from sim.topology.build import build_network
from sim.topology.from_file import network_from_text
from sim.topology.routing import route

STAR = "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 0.001ms 0.000000\n"


def test_a_star():
    network = build_network(Cluster(topology="file", graph=STAR))
    assert network.hosts.tolist() == [0, 1] and network.node_name == ("0", "1", "2")
    assert network.port_src.tolist() == [0, 2, 1, 2] and network.port_dst.tolist() == [2, 0, 2, 1]
    assert set(network.port_rate_bps) == {10**11} and set(network.port_delay_ps) == {10**6}
    assert network.node_tier.tolist() == [0, 0, 1] and network.node_xy[2].tolist() == [0.5, 1.0]


def test_tokens_may_share_lines():
    assert network_from_text(STAR.replace("\n", " ")).n_ports == 4


def test_no_switch_at_all():
    network = network_from_text("2 0 1\n\n0 1 400Gbps 500ns 0.01\n")
    assert network.hosts.tolist() == [0, 1] and network.port_loss.tolist() == [0.01, 0.01]


def test_hosts_need_not_come_first():
    assert network_from_text("3 1 2\n0\n1 0 1Gbps 1us 0\n2 0 1Gbps 1us 0\n").hosts.tolist() == [1, 2]


def test_tiers_are_hops_from_a_host():
    network = network_from_text(
        "6 4 5\n2 3 4 5\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n2 4 1Gbps 1us 0\n3 4 1Gbps 1us 0\n4 5 1Gbps 1us 0\n"
    )
    assert network.node_tier.tolist() == [0, 0, 1, 1, 2, 3]


@pytest.mark.parametrize(
    "text, words",
    [
        ("", ["topo.txt:1:", "nNodes nSwitches nLinks"]),
        ("3 1\n", ["topo.txt:1:", "three counts"]),
        ("1 0 1\n", ["1 nodes: must be from 2"]),
        ("3 2 1\n1 2\n0 1 1Gbps 1us 0\n", ["2 switches of 3 nodes", "nearest is 1"]),
        (STAR.replace("3 1 2", "3 1 20"), ["header says 20 links, the file has 2"]),
        (STAR.replace("3 1 2", "3 1 1"), ["header says 1 links, the file has 2"]),
        (STAR.replace("\n2\n", "\n7\n"), ["topo.txt:2: switch id '7'", "0 to 2"]),
        ("4 2 2\n2 2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n", ["topo.txt:2: switch id 2 stands twice"]),
        ("4 2 1\n2\n", ["header says 2 switches, the file ends after 1"]),
        (
            STAR.replace("0 2 100Gbps", "0 2 100"),
            ["topo.txt:3: rate '100': needs a number with a unit", "did you mean 100Gbps?"],
        ),
        (STAR.replace("1us", "1000"), ["topo.txt:3: delay '1000': needs", "did you mean 1000us?"]),
        (STAR.replace("100Gbps 1us", "0Gbps 1us"), ["rate '0Gbps': must be above 0"]),
        (STAR.replace("1us 0", "1us 1.5"), ["loss '1.5'", "probability"]),
        (STAR.replace("1us 0", "1us 1"), ["loss '1'", "the nearest is 0.999999"]),
        (STAR.replace("1us 0", "1us -1"), ["loss '-1'", "the nearest is 0"]),
        (STAR.replace("1us 0", "1us 0.0_1"), ["loss '0.0_1'"]),
        (STAR.replace("100Gbps 1us", "１００Gbps 1us"), ["rate '１００Gbps': needs a number with a unit"]),
        (STAR.replace("100Gbps 1us", "x" * 100_000 + " 1us"), ["xxx...'"]),
        ("\n\n3 1 20\n2\n0 2 1Gbps 1us 0\n", ["topo.txt:3: the header says 20 links"]),
        ("\n3\n1\n2\n", ["topo.txt:3: the header says 1 switches"]),
        ("\n\n1 1 2\n", ["topo.txt:3: 1 nodes", "the nearest is 2"]),
        (STAR.replace("1us 0", "1us x"), ["loss 'x'"]),
        (STAR.replace("1us 0", "1us nan"), ["loss 'nan'"]),
        (STAR.replace("1us 0\n", "1us\n"), ["topo.txt:3: 4 values", "src dst rate delay loss"]),
        (STAR.replace("\n1 2 ", "\n1 40 "), ["topo.txt:4: node '40': must be an id from 0 to 2"]),
        (STAR.replace("\n1 2 ", "\n-1 2 "), ["topo.txt:4: node '-1'"]),
        (STAR.replace("\n1 2 ", "\n2 2 "), ["topo.txt:4: link from node 2 to itself"]),
    ],
)
def test_refused_in_one_line(text, words):
    with pytest.raises(FormatError) as caught:
        network_from_text(text, "topo.txt")
    assert "\n" not in str(caught.value)
    assert all(word in str(caught.value) for word in words), caught.value


def test_nvswitches_are_told_apart_and_keep_the_traffic_of_a_server():
    text = "7 3 8\n4 5 6\n0 4 2400Gbps 25ns 0\n1 4 2400Gbps 25ns 0\n2 5 2400Gbps 25ns 0\n3 5 2400Gbps 25ns 0\n" + "".join(
        f"{gpu} 6 100Gbps 1us 0\n" for gpu in range(4)
    )
    network = build_network(Cluster(topology="file", graph=text, gpus_per_node=2, nvswitches=2))
    assert network.node_tier.tolist() == [0, 0, 0, 0, -1, -1, 1] and network.node_server.tolist() == [0, 0, 1, 1, 0, 1, -1]
    assert network.port_kind[::2].tolist() == [1] * 4 + [0] * 4
    assert network.node_xy[4].tolist() == [0.25, -0.7] and network.node_xy[5, 0] == 0.75
    _, ports = route(network, [0, 2, 0], [1, 3, 3], np.arange(3), 1)
    assert [network.port_name(port) for port in ports] == ["0->4", "4->1", "2->5", "5->3", "0->6", "6->3"]


def test_more_nvswitches_than_switches():
    with pytest.raises(ScenarioError, match="nvswitches = 2: cluster.graph has 1 switches; the nearest is 1"):
        Cluster(topology="file", graph=STAR, nvswitches=2)


def test_hosts_wired_to_each_other_hang_on_an_arch():
    ring = network_from_text("6 1 7\n5\n" + "".join(f"{a} {b} 1Gbps 1us 0\n" for a, b in ("01", "12", "23", "34", "40", "05", "45")))
    assert ring.node_xy[:, 0].tolist() == [0.1, 0.3, 0.5, 0.7, 0.9, 0.5]
    assert ring.node_xy[:, 1].round(3).tolist() == [0, -0.424, -0.6, -0.424, 0, 1]
    two = network_from_text("4 0 2\n0 1 1Gbps 1us 0\n2 3 1Gbps 1us 0\n")
    assert two.node_xy[:, 1].round(9).tolist() == [0, 0, 0, 0]
