"""SimAI topologies: NVSwitches told apart, links as in the HPCC simulator, and every way to be refused."""

import pytest
from hypothesis import given, settings

from sim.errors import FormatError
from sim.formats.simai_topology import is_simai_topology, read_simai_topology
from sim.formats.text import text_of
from sim.scenario import Cluster
from sim.topology.build import build_network
from tests.formats.mutate import mutated_texts, one_line_or_answer

NVLINKS = "0 4 2880Gbps 0.000025ms 0\n1 4 2880Gbps 25ns 0\n2 5 2880Gbps 25ns 0\n3 5 2880Gbps 25ns 0\n"
LINKS = NVLINKS + "".join(f"{gpu} 6 400Gbps 0.0005ms 0\n" for gpu in range(4))
TOPOLOGY = "7 2 2 1 8 H100\n4 5 6\n" + LINKS


def test_two_servers_of_two():
    found = read_simai_topology(TOPOLOGY)
    assert (found.gpus, found.gpus_per_server, found.nvswitches, found.gpu, found.notices) == (4, 2, 2, "H100-SXM", ())
    network = build_network(Cluster(topology="file", graph=found.graph, gpus_per_node=2, nvswitches=found.nvswitches))
    assert network.node_tier.tolist() == [0, 0, 0, 0, -1, -1, 1] and network.node_server[[4, 5]].tolist() == [0, 1]
    assert network.port_delay_ps[[0, 8]].tolist() == [25_000, 500_000] and network.port_rate_bps[0] == 2_880 * 10**9


def test_servers_wired_gpu_to_gpu_without_a_switch():
    found = read_simai_topology("4 2 0 0 4 A100\n\n0 1 2400Gbps 25ns 0\n2 3 2400Gbps 25ns 0\n0 2 100Gbps 1us 0\n1 3 100Gbps 1us 0\n")
    network = build_network(Cluster(topology="file", graph=found.graph, gpus_per_node=2))
    assert network.n_hosts == network.n_nodes == 4 and found.gpu == "A100-SXM-80"


def test_a_gpu_that_is_not_in_the_catalogue_is_said():
    found = read_simai_topology(TOPOLOGY.replace("H100", "H10"))
    assert found.gpu in ("H100-SXM", None)
    found = read_simai_topology(TOPOLOGY.replace("H100", "MI300X"))
    assert found.gpu is None and "GPU type 'MI300X' is not in the catalogue" in found.notices[0]


def test_recognised():
    assert is_simai_topology(TOPOLOGY) and is_simai_topology("  36 8 2 2 64 H100  \n") and not is_simai_topology("3 1 2\n2\n0 2 100Gbps 1us 0\n")


@pytest.mark.parametrize(
    "text, words",
    [
        ("", ["t: is empty"]),
        (TOPOLOGY.replace("7 2 2 1 8 H100", "7 2 2 1 8"), ["t:1: 5 values: the first line is: nNodes gpusPerServer"]),
        (TOPOLOGY.replace("7 2 2 1 8", "7 2 x 1 8"), ["t:1: nNVSwitch 'x'"]),
        (TOPOLOGY.replace("7 2 2 1 8", "3 2 2 1 8"), ["t:1: nNodes 3 - nNVSwitch 2 - nSwitch 1 = 0 GPUs: must be at least 2; the nearest nNodes is 5"]),
        (TOPOLOGY.replace("7 2 2 1 8", "7 3 2 1 8"), ["t:1: gpusPerServer 3: must divide the 4 GPUs; the nearest is 2"]),
        (TOPOLOGY.replace("7 2 2 1 8", "7 2 2 1 20"), ["t:1: the header says 20 links, the file has 8"]),
        (TOPOLOGY.replace("4 5 6", "0 5 6"), ["t:2: switch id 0: GPUs are 0 to 3, so switch ids must be 4 to 6"]),
        (TOPOLOGY.replace("4 5 6", "4 5 7"), ["t:2: switch id '7'", "0 to 6"]),
        (TOPOLOGY.replace("400Gbps", "400", 1), ["t:7: rate '400': needs a number with a unit", "did you mean 400Gbps?"]),
        (TOPOLOGY.replace("0.0005ms", "0.0005", 1), ["t:7: delay '0.0005': needs a number with a unit"]),
        (TOPOLOGY.replace("3 6 400", "3 40 400"), ["t:10: node '40': must be an id from 0 to 6"]),
    ],
)
def test_refused_in_one_line(text, words):
    with pytest.raises(FormatError) as caught:
        read_simai_topology(text, "t")
    assert "\n" not in str(caught.value) and all(word in str(caught.value) for word in words), caught.value


@settings(max_examples=150, deadline=None)
@given(mutated_texts(TOPOLOGY))
def test_any_damage_ends_in_one_line_or_in_a_cluster(content):
    found = one_line_or_answer(lambda: read_simai_topology(text_of(content, "t"), "t"))
    if found:
        build_network(Cluster(topology="file", graph=found.graph, gpus_per_node=found.gpus_per_server, nvswitches=found.nvswitches))
