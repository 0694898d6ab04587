"""htsim topologies: two and three tiers as links, the same again when written, and every way to be refused."""

from collections import Counter

import pytest
from hypothesis import given, settings

from sim.errors import FormatError
from sim.formats.htsim_topo import graph_text, is_htsim_topo, read_topo, topo_text
from sim.formats.text import text_of
from sim.topology.from_file import network_from_text
from tests.formats.mutate import mutated_texts, one_line_or_answer

TWO = """Nodes 8
Tiers 2
Podsize 8
Tier 0
Downlink_speed_Gbps 100
Radix_Up 4
Radix_Down 4
Downlink_Latency_ns 1000
Switch_Latency_ns 300
Tier 1
Downlink_speed_Gbps 200
Radix_Down 4
Downlink_Latency_ns 500
Bundle 2
"""
THREE = """Nodes 16
Tiers 3
Podsize 4
Tier 0
Downlink_speed_Gbps 100
Radix_Up 2
Radix_Down 2
Downlink_Latency_ns 1000
Tier 1
Downlink_speed_Gbps 100
Radix_Up 2
Radix_Down 2
Downlink_Latency_ns 1000
Tier 2
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 1000
"""


def test_two_tiers_with_bundles_and_switch_latency():
    network = network_from_text(graph_text(read_topo(TWO)))
    links = Counter(zip(network.port_src[::2].tolist(), network.port_dst[::2].tolist(), strict=True))
    assert links == Counter({**{(host, 8 + host // 4): 1 for host in range(8)}, **{(leaf, spine): 2 for leaf in (8, 9) for spine in (10, 11)}})
    assert network.port_delay_ps[0] == 1_150_000 and network.port_delay_ps[-1] == 650_000  # half of the leaf's 300 ns on each side
    assert network.port_rate_bps[[0, -1]].tolist() == [100 * 10**9, 200 * 10**9]


def test_the_latency_of_switches_adds_up_over_a_path():
    network = network_from_text(graph_text(read_topo(TWO.replace("Bundle 2", "Bundle 2\nSwitch_Latency_ns 100"))))
    up, across = network.port_delay_ps[0], network.port_delay_ps[-1]
    assert 2 * (up + across) == (2 * 1000 + 2 * 500 + 2 * 300 + 100) * 1000


def test_three_tiers_are_a_fat_tree():
    topo = read_topo(THREE)
    network = network_from_text(graph_text(topo))
    assert network.n_nodes == 16 + 8 + 8 + 4 and network.n_ports == 2 * 48
    cores = {core: set(network.port_dst[network.port_src == core].tolist()) for core in range(32, 36)}
    assert cores == {32: {24, 26, 28, 30}, 33: {24, 26, 28, 30}, 34: {25, 27, 29, 31}, 35: {25, 27, 29, 31}}


def test_what_is_left_out_is_derived():
    assert read_topo(TWO.replace("Radix_Down 4\nDownlink_Latency_ns 500", "Downlink_Latency_ns 500")) == read_topo(TWO)
    assert read_topo(TWO.replace("Radix_Up 4", "Oversubscribed 1").replace("speed_Gbps 200", "speed_Gbps 100")).tiers[0].up == 4
    assert read_topo(THREE.replace("Radix_Up 2\n", "", 1)) == read_topo(THREE)


def test_written_and_read_again_it_says_the_same():
    for text in (TWO, THREE):
        assert read_topo(topo_text(read_topo(text))) == read_topo(text)


def test_keys_in_any_case():
    assert read_topo(TWO.lower()) == read_topo(TWO)
    assert is_htsim_topo(TWO.lower()) and not is_htsim_topo("Nodes 4\nConnections 2\n")


@pytest.mark.parametrize(
    "text, words",
    [
        ("# nothing\n", ["t: is empty"]),
        (TWO.replace("Nodes 8\n", ""), ["t: Nodes is missing"]),
        (TWO.replace("Tiers 2", "Tiers 4"), ["t:2: Tiers '4': must be a whole number from 2 to 3; the nearest is 3"]),
        (TWO.replace("Tiers 2", "Tiers 3"), ["t: Tiers 3: needs Tier 0 to Tier 2, found Tier 0, Tier 1"]),
        (TWO.replace("Tier 1", "Tier 0"), ["t:10: Tier 0 stands twice, first in line 4"]),
        (TWO.replace("Radix_Up", "Radix_Upp"), ["t:6: 'Radix_Upp' is not a known key: did you mean 'Radix_Up'?"]),
        (TWO.replace("Radix_Up 4", "Radix_Up"), ["t:6: 0 values: Radix_Up has one"]),
        (TWO.replace("Radix_Up 4", "Radix_Up 4\nRadix_Up 4"), ["t:7: Radix_Up stands twice"]),
        (TWO.replace("Tier 0\n", ""), ["t:4: Downlink_speed_Gbps stands before any Tier"]),
        (TWO.replace("speed_Gbps 100", "speed_Gbps 100Gbps"), ["t:5: Downlink_speed_Gbps '100Gbps': must be a whole number"]),
        (TWO.replace("Downlink_Latency_ns 1000\n", ""), ["t:4: Tier 0: Downlink_Latency_ns is missing"]),
        (TWO.replace("Radix_Down 4\nDownlink_Latency_ns 1000", "Downlink_Latency_ns 1000"), ["t:4: Tier 0: Radix_Down is missing"]),
        (TWO.replace("Bundle 2", "Bundle 2\nRadix_Up 4"), ["t:10: Tier 1: Radix_Up 4: the top tier has no links up"]),
        (TWO.replace("Bundle 2", "Bundle 3"), ["t:10: Tier 1: Bundle 3: must divide the 4 links up"]),
        (TWO.replace("Radix_Down 4\nDownlink_Latency_ns 500", "Radix_Down 8\nDownlink_Latency_ns 500"), ["t:10: Tier 1: Radix_Down 8", "the nearest is 4"]),
        (TWO.replace("Radix_Down 4\nDownlink_Latency_ns 1000", "Radix_Down 3\nDownlink_Latency_ns 1000"), ["t:4: Tier 0: Radix_Down 3: must divide the 8"]),
        (TWO.replace("Radix_Up 4", "Radix_Up 4\nOversubscribed 2"), ["t:4: Tier 0: Oversubscribed 2: disagrees with Radix_Down 4 x 100", "= 0.5"]),
        (TWO.replace("Radix_Up 4", "Oversubscribed 3"), ["t:4: Tier 0: Radix_Up is missing, and Radix_Down 4 x 100 Gb/s is no whole number"]),
        (THREE.replace("Podsize 4", "Podsize 5"), ["t: Podsize 5: must divide Nodes 16; the nearest is 4"]),
        (THREE.replace("Podsize 4\n", ""), ["t: Podsize 16: is needed with 3 tiers"]),
    ],
)
def test_refused_in_one_line(text, words):
    with pytest.raises(FormatError) as caught:
        read_topo(text, "t")
    assert "\n" not in str(caught.value) and all(word in str(caught.value) for word in words), caught.value


@settings(max_examples=200, deadline=None)
@given(mutated_texts(THREE))
def test_any_damage_ends_in_one_line_or_in_a_network(content):
    found = one_line_or_answer(lambda: read_topo(text_of(content, "t"), "t"))
    if found and found.nodes < 5000:
        assert read_topo(topo_text(found)) == found
        network_from_text(graph_text(found))
