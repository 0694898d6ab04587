"""ASTRA-sim networks: dimensions as links, and every way to be refused."""

import pytest
from hypothesis import given, settings

from sim.errors import FormatError
from sim.formats.astra_network import AstraNetwork, graph_text, is_astra_network, read_astra_network
from sim.formats.text import text_of
from sim.topology.from_file import network_from_text
from tests.formats.mutate import mutated_texts, one_line_or_answer

NETWORK = "topology: [ Ring, Switch ]  # two dimensions\nnpus_count: [ 4, 2 ]\nbandwidth: [ 400.0, 50.0 ]  # GB/s\nlatency: [ 500.0, 1000.5 ]  # ns\n"


def links(text):
    network = network_from_text(graph_text(read_astra_network(text)))
    rows = zip(network.port_src[::2].tolist(), network.port_dst[::2].tolist(), strict=True)
    return network, [tuple(row) for row in rows]


def of(shape, n, *, rate=100.0, delay=1):
    return f"topology: [{shape}]\nnpus_count: [{n}]\nbandwidth: [{rate}]\nlatency: [{delay}]\n"


def test_a_ring_of_four_twice_joined_by_switches():
    network, found = links(NETWORK)
    assert found[:8] == [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4)]
    assert found[8:] == [(0, 8), (4, 8), (1, 9), (5, 9), (2, 10), (6, 10), (3, 11), (7, 11)]
    assert network.port_rate_bps[[0, 16]].tolist() == [3_200 * 10**9, 400 * 10**9] and network.port_delay_ps[[0, 16]].tolist() == [500_000, 1_000_500]
    assert network.hosts.tolist() == list(range(8))


def test_single_dimensions():
    assert links(of("FullyConnected", 4))[1] == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert links(of("Ring", 2))[1] == [(0, 1)] and links(of("Ring", 3))[1] == [(0, 1), (1, 2), (2, 0)]
    assert links(of("Switch", 3))[1] == [(0, 3), (1, 3), (2, 3)]


def test_block_lists_and_dimensions_of_one():
    text = "topology:\n- Switch\n- FullyConnected\nnpus_count:\n- 1\n- 2\nbandwidth: [1, 2]\nlatency: [0, 0]\n"
    assert links(text)[1] == [(0, 1)]


def test_where_npus_must_forward():
    assert read_astra_network(NETWORK).needs_forwarding() and read_astra_network(of("Ring", 4)).needs_forwarding()
    assert not read_astra_network(of("Ring", 3)).needs_forwarding() and not read_astra_network(of("Switch", 64)).needs_forwarding()


def test_recognised():
    assert is_astra_network(NETWORK) and is_astra_network('{"topology": ["Ring"], "npus_count": [4]}') and not is_astra_network('{"topology": [0, 1]}')


@pytest.mark.parametrize("text", [
    '{"topology": ["Ring"], "npus_count": [4], "bandwidth": [50.0], "latency": [500.0]}',
    "# one ring\n{topology: [Ring],  # in one dimension\n npus_count: [4], bandwidth: [5e1], latency: [500]}\n",
])  # fmt: skip
def test_keys_in_braces(text):
    assert read_astra_network(text) == AstraNetwork(("Ring",), (4,), (400 * 10**9,), (500_000,), f"network.yml:{1 + text[:-1].count(chr(10))}")


@pytest.mark.parametrize(
    "text, words",
    [
        ("", ["n.yml:1: must be keys with lists"]),
        ("a: b: c", ["n.yml:1: is not YAML"]),
        ("topology: [Ring", ["n.yml:", "is not YAML", "like topology: [ Ring, Switch ]"]),
        (NETWORK.replace("npus_count", "npu_count"), ["n.yml:2: 'npu_count' is not a known key: did you mean 'npus_count'?"]),
        (NETWORK.replace("latency", "bandwidth"), ["n.yml:4: bandwidth stands twice, first in line 3"]),
        (NETWORK.replace("latency: [ 500.0, 1000.5 ]", ""), ["n.yml: latency is missing"]),
        (NETWORK.replace("[ 4, 2 ]", "[ 4 ]"), ["n.yml:2: npus_count has 1 values, topology has 2"]),
        (NETWORK.replace("[ 4, 2 ]", "8"), ["n.yml:2: npus_count must be a list"]),
        (NETWORK.replace("Ring", "ring"), ["n.yml:1: topology 'ring' is not known: did you mean 'Ring'? known: Ring, FullyConnected, Switch"]),
        (NETWORK.replace("[ 4, 2 ]", "[ 4.5, 2 ]"), ["n.yml:2: npus_count '4.5': must be a whole number of NPUs, from 1 to 65536; the nearest is 4"]),
        (NETWORK.replace("[ 4, 2 ]", "[ 1e400, 2 ]"), ["n.yml:2: npus_count '1e400': must be a whole number of NPUs, from 1 to 65536; the nearest is 65536"]),
        (NETWORK.replace("[ 4, 2 ]", "[ 1, 1 ]"), ["n.yml:2: npus_count makes 1 NPUs: must be from 2", "the nearest is 2 in all"]),
        (NETWORK.replace("[ 4, 2 ]", "[ 40000, 2 ]"), ["n.yml:2: npus_count makes 80000 NPUs"]),
        (NETWORK.replace("400.0", "400Gbps"), ["n.yml:3: bandwidth '400Gbps': must be GB/s without a unit"]),
        (NETWORK.replace("400.0", "0"), ["n.yml:3: bandwidth '0'", "the nearest is 1e-06"]),
        (NETWORK.replace("500.0", ".nan"), ["n.yml:4: latency '.nan': must be ns without a unit"]),
        (of("FullyConnected", 2000), ["n.yml:2: these dimensions have 1999000 links: at most 1000000", "Switch"]),
        (NETWORK.replace("[ 4,", "[ \uff14,"), ["n.yml:2: npus_count '\uff14': must be a whole number of NPUs"]),
        (NETWORK.replace("400.0", "5_0"), ["n.yml:3: bandwidth '5_0': must be GB/s without a unit"]),
        (NETWORK.replace("500.0", "inf"), ["n.yml:4: latency 'inf': must be ns without a unit"]),
        ("{topology: {a: [Ring]}, npus_count: [4]}", ["n.yml:1: is a list within a list"]),
        ("&a [*a]", ["n.yml:1: must be keys with lists"]),
        ("topology: &a [*a]\nnpus_count: [2]\nbandwidth: [1]\nlatency: [1]", ["n.yml:1: topology must be a list"]),
        ("[" * 5000, ["n.yml:1: is a list within a list"]),
        (NETWORK.replace("[ 4, 2 ]", "[ 4, [ 2 ] ]"), ["n.yml:2: is a list within a list"]),
        ("- " * 2000, ["n.yml: is not YAML"]),
        ("a" * 100_001, ["n.yml: has 100001 characters"]),
    ],
)
def test_refused_in_one_line(text, words):
    with pytest.raises(FormatError) as caught:
        read_astra_network(text, "n.yml")
    assert "\n" not in str(caught.value) and all(word in str(caught.value) for word in words), caught.value


@settings(max_examples=150, deadline=None)
@given(mutated_texts(NETWORK))
def test_any_damage_ends_in_one_line_or_in_a_network(content):
    found = one_line_or_answer(lambda: read_astra_network(text_of(content, "n"), "n"))
    if found and found.n_npus < 5000:
        network_from_text(graph_text(found))
