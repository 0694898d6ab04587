"""Routing: shortest by an independent oracle, balanced, repeatable, and clear about what cannot be reached."""

import os
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

from sim.errors import ScenarioError
from sim.scenario import Cluster
from sim.topology.build import build_network
from sim.topology.from_file import network_from_text
from sim.topology.network import NVLINK
from sim.topology.routing import base_rtt_ps, components, explicit_path, max_base_rtt_ps, route

CLUSTERS = [
    {"topology": "one-switch", "gpus": 8},
    {"topology": "leaf-spine", "gpus": 48, "hosts_per_leaf": 8, "gpus_per_node": 4},
    {"topology": "fat-tree", "gpus": 54, "gpus_per_node": 1},
    {"topology": "rail-optimised", "gpus": 64},
    {"topology": "rail-optimised", "gpus": 128, "tiers": 3, "pod_servers": 4, "hosts_per_leaf": 2},
]


def all_pairs(network):
    src, dst = np.divmod(np.arange(network.n_hosts**2), network.n_hosts)
    keep = src != dst
    return network.hosts[src[keep]], network.hosts[dst[keep]]


@pytest.mark.parametrize("cluster", CLUSTERS, ids=lambda cluster: f"{cluster['topology']}-{cluster['gpus']}")
def test_paths_are_whole_and_as_short_as_the_oracles(cluster):
    network = build_network(Cluster(**cluster))
    src, dst = all_pairs(network)
    ptr, ports = route(network, src, dst, np.arange(len(src)), seed=1)
    graph = nx.Graph(zip(network.port_src.tolist(), network.port_dst.tolist(), strict=True))
    switches = [node for node in graph if not network.node_is_host[node]]
    length = {
        source: nx.single_source_shortest_path_length(graph.subgraph([*switches, source]), source)
        for source in network.hosts.tolist()
    }
    for flow in range(len(src)):
        path = ports[ptr[flow] : ptr[flow + 1]]
        assert network.port_src[path[0]] == src[flow] and network.port_dst[path[-1]] == dst[flow]
        assert (network.port_dst[path[:-1]] == network.port_src[path[1:]]).all()
        assert not network.node_is_host[network.port_src[path[1:]]].any()
        last_switch = min(length[src[flow]].get(switch, 99) for switch in graph[int(dst[flow])])
        assert len(path) == last_switch + 1


def test_inside_a_server_flows_stay_on_nvlink_even_where_a_leaf_is_as_near():
    network = build_network(Cluster(topology="leaf-spine", gpus=16, hosts_per_leaf=8))
    ptr, ports = route(network, np.full(50, 1), np.full(50, 6), np.arange(50), seed=1)
    assert (network.port_kind[ports] == NVLINK).all()


def test_same_seed_same_paths_other_seed_other_paths():
    network = build_network(Cluster(topology="fat-tree", gpus=54, gpus_per_node=1))
    src, dst = all_pairs(network)
    first, again, other = (route(network, src, dst, np.arange(len(src)), seed)[1] for seed in (1, 1, 2))
    assert (first == again).all() and (first != other).any()
    one = route(network, src[[77]], dst[[77]], np.array([77]), 1)[1]
    ptr = route(network, src, dst, np.arange(len(src)), 1)[0]
    assert (one == first[ptr[77] : ptr[78]]).all(), "a path does not depend on who else is routed"


def test_ecmp_spreads_evenly_and_without_polarisation():
    network = build_network(Cluster(topology="fat-tree", gpus=128, gpus_per_node=1))
    n = 16_000
    _, ports = route(network, np.zeros(n), np.full(n, 127), np.arange(n), seed=3)
    cores = network.port_dst[ports.reshape(n, 6)[:, 2]]
    used, count = np.unique(cores, return_counts=True)
    assert len(used) == 16 and abs(count / (n / 16) - 1).max() < 0.15


def test_four_identical_lines_are_four_members():
    text = "4 2 6\n2 3\n0 2 100Gbps 1us 0\n1 3 100Gbps 1us 0\n" + "2 3 100Gbps 1us 0\n" * 4
    network = network_from_text(text)
    _, ports = route(network, np.zeros(400), np.ones(400), np.arange(400), seed=1)
    middle, count = np.unique(ports.reshape(400, 3)[:, 1], return_counts=True)
    assert middle.tolist() == [4, 6, 8, 10] and count.min() > 70


def test_hosts_wired_to_each_other():
    network = network_from_text("2 0 1\n0 1 400Gbps 500ns 0\n")
    ptr, ports = route(network, [0, 1], [1, 0], [5, 6], seed=1)
    assert ptr.tolist() == [0, 1, 2] and ports.tolist() == [0, 1]


def test_hosts_do_not_forward():
    chain = network_from_text("3 0 2\n0 1 1Gbps 1us 0\n1 2 1Gbps 1us 0\n")
    with pytest.raises(
        ScenarioError, match=r"no path from 0 to 2 \(hosts do not forward\): the network falls into 2 parts: 0, 1; 1, 2"
    ):
        route(chain, [0], [2], [0], seed=1)


def forwarding(n, links):
    """A network of n hosts that forward, and no switch."""
    return network_from_text(f"{n} 0 {len(links)}\n\n" + "".join(f"{a} {b} 100Gbps 1us 0\n" for a, b in links), hosts_forward=True)


@pytest.mark.parametrize("n", [4, 5, 8])
def test_hosts_that_forward_take_the_short_way_round_a_ring(n):
    network = forwarding(n, [(i, (i + 1) % n) for i in range(n)])
    src, dst = all_pairs(network)
    ptr, ports = route(network, src, dst, np.arange(len(src)), seed=1)
    for flow in range(len(src)):
        step = (dst[flow] - src[flow]) % n
        turn = 1 if step <= n // 2 else -1  # of two equal ways the rising one
        path = ports[ptr[flow] : ptr[flow + 1]]
        assert network.port_dst[path].tolist() == [(src[flow] + turn * i) % n for i in range(1, min(step, n - step) + 1)]
    assert max_base_rtt_ps(network, 1000)[0] == n // 2 * 2_080_000


def test_over_dimensions_that_are_joined_fully_every_host_forwards_alike():
    """Hosts (x, y) of a 3 x 3 grid, rows and columns joined fully: the first link listed from a host on decides, here that of its row."""
    rows = [(3 * y + a, 3 * y + b) for y in range(3) for a, b in ((0, 1), (0, 2), (1, 2))]
    network = forwarding(9, rows + [(3 * a + x, 3 * b + x) for x in range(3) for a, b in ((0, 1), (0, 2), (1, 2))])
    src, dst = all_pairs(network)
    ptr, ports = route(network, src, dst, np.arange(len(src)), seed=1)
    assert set(np.diff(ptr).tolist()) == {1, 2}
    first, second = (route(network, [0], [8], [key], seed)[1].tolist() for key, seed in ((1, 1), (7, 9)))
    assert first == second and network.port_dst[first].tolist() == [2, 8]


def test_parallel_links_between_hosts_that_forward_are_capacity():
    network = forwarding(3, [(0, 1), (1, 2), (1, 2)])
    _, ports = route(network, np.zeros(100), np.full(100, 2), np.arange(100), seed=1)
    assert set(ports.reshape(100, 2)[:, 1].tolist()) == {2, 4}


def test_ports_to_switches_are_spread_over_where_hosts_forward_too():
    text = "4 2 4\n2 3\n0 2 1Gbps 1us 0\n0 3 1Gbps 1us 0\n1 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n"
    network = network_from_text(text, hosts_forward=True)
    _, ports = route(network, np.zeros(100), np.ones(100), np.arange(100), seed=1)
    assert set(ports.reshape(100, 2)[:, 0].tolist()) == {0, 2}


def test_paths_through_hosts_that_forward_can_be_given_and_cut():
    network = forwarding(4, [(0, 1), (1, 2), (2, 3)])
    assert explicit_path(network, [0, 1, 2]).tolist() == [0, 2]
    down = np.zeros(6, bool)
    down[[2, 3]] = True
    with pytest.raises(ScenarioError, match="no path from 0 to 2: the network falls into 2 parts: 0, 1; 2, 3"):
        route(network, [0], [2], [0], 1, down)


def test_a_path_has_at_most_255_links():
    chain = forwarding(257, [(i, i + 1) for i in range(256)])
    assert len(route(chain, [0], [255], [0], 1)[1]) == 255
    with pytest.raises(ScenarioError, match="the path from 0 to 256 has 256 links: at most 255 are simulated"):
        route(chain, [1, 0], [2, 256], [0, 0], 1)
    with pytest.raises(ScenarioError, match="has 256 links"):
        explicit_path(chain, list(range(257)))


def test_unreachable_lists_the_parts():
    halves = network_from_text("6 2 4\n4 5\n0 4 1Gbps 1us 0\n1 4 1Gbps 1us 0\n2 5 1Gbps 1us 0\n3 5 1Gbps 1us 0\n")
    with pytest.raises(ScenarioError, match="no path from 1 to 2 .* into 2 parts: 0, 1, 4; 2, 3, 5"):
        route(halves, [0, 1], [1, 2], [0, 0], seed=1)
    lonely = network_from_text("4 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n")
    assert [part.tolist() for part in components(lonely)] == [[0, 1, 2], [3]]


def test_down_ports_are_avoided_in_their_own_direction():
    network = build_network(Cluster(topology="leaf-spine", gpus=16, hosts_per_leaf=4, spines=2, nvlink_gbps=0.0))
    down = np.zeros(network.n_ports, bool)
    down[network.ports_between("leaf0", "spine0")] = True
    n = 64
    _, forth = route(network, np.zeros(n), np.full(n, 15), np.arange(n), 1, down)
    assert not down[forth].any() and {network.port_name(port) for port in forth.reshape(n, 4)[:, 1]} == {
        "leaf0->spine1"
    }
    _, back = route(network, np.full(n, 15), np.zeros(n), np.arange(n), 1, down)
    assert {network.port_name(port) for port in back.reshape(n, 4)[:, 2]} == {"spine0->leaf0", "spine1->leaf0"}
    down[network.ports_between("leaf0", "spine1")] = True
    with pytest.raises(ScenarioError, match="no path from gpu0 to gpu15"):
        route(network, [0], [15], [0], 1, down)


def test_nothing_to_route():
    ptr, ports = route(build_network(Cluster(topology="one-switch", gpus=2)), [], [], [], 1)
    assert ptr.tolist() == [0] and len(ports) == 0


def test_explicit_path():
    network = build_network(Cluster(topology="leaf-spine", gpus=16, hosts_per_leaf=4, spines=2, nvlink_gbps=0.0))
    nodes = [network.node_id(name) for name in ("gpu0", "leaf0", "spine1", "leaf3", "gpu15")]
    assert [network.port_name(port) for port in explicit_path(network, nodes)] == [
        "gpu0->leaf0",
        "leaf0->spine1",
        "spine1->leaf3",
        "leaf3->gpu15",
    ]
    with pytest.raises(
        ScenarioError, match="path gpu0-leaf1-gpu4: there is no link gpu0-leaf1; gpu0 has links to leaf0"
    ):
        explicit_path(network, [0, 17, 4])
    with pytest.raises(ScenarioError, match="must lead from a host"):
        explicit_path(network, [0, 16, 20])
    with pytest.raises(ScenarioError, match="hosts do not forward"):
        explicit_path(network, [0, 1, 2])


def test_explicit_path_spreads_over_parallel_links():
    network = network_from_text("4 2 4\n2 3\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n" + "2 3 1Gbps 1us 0\n" * 2)
    assert {int(explicit_path(network, [0, 2, 3, 1], key)[1]) for key in range(20)} == {4, 6}


@pytest.mark.parametrize(
    "cluster, rtt_ps, bdp_bytes",
    [
        ({"topology": "one-switch", "gpus": 3}, 4_160_000, 52_000),
        ({"topology": "leaf-spine", "gpus": 16, "hosts_per_leaf": 4}, 8_320_000, 104_000),
        ({"topology": "fat-tree", "gpus": 16}, 12_480_000, 156_000),
    ],
)
def test_base_rtt_as_the_hpcc_simulator_has_it(cluster, rtt_ps, bdp_bytes):
    network = build_network(Cluster(nic_gbps=100.0, nvlink_gbps=0.0, **cluster))
    assert max_base_rtt_ps(network, 1000) == (rtt_ps, bdp_bytes)
    there, back = route(network, [0], [network.n_hosts - 1], [1], 1), route(network, [network.n_hosts - 1], [0], [2], 1)
    assert base_rtt_ps(network, *there, *back, 1000).tolist() == [rtt_ps]


def test_base_rtt_of_unlike_links():
    network = network_from_text("3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 400Gbps 3us 0\n")
    assert max_base_rtt_ps(network, 1000) == (8_100_000, 101_250)  # 2 x 4 us + 80 ns + 20 ns, at 100 Gb/s


def test_compiled_equals_plain_python():
    script = (
        "import numpy as np; from sim.scenario import Cluster; from sim.topology.build import build_network; from sim.topology.routing import *\n"
        "n = build_network(Cluster(topology='rail-optimised', gpus=32, gpus_per_node=4, hosts_per_leaf=4))\n"
        "s = np.arange(200) % 32; d = (s + 1 + np.arange(200) % 31) % 32\n"
        "ptr, ports = route(n, s, d, np.arange(200) - 7, 9)\n"
        "print(ports.tolist(), max_base_rtt_ps(n, 1000), explicit_path(n, [0, n.node_id('leaf0'), 4]).tolist())"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "NUMBA_DISABLE_JIT": off},
        ).stdout
        for off in ("0", "1")
    ]
    assert outputs[0] == outputs[1] and outputs[0]
