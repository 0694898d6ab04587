"""Families of topologies: counts, wiring, speeds and drawing positions worked out by hand."""

import time

import numpy as np
import pytest

from sim.scenario import Cluster
from sim.topology.build import build_network
from sim.topology.network import CORE, HOST, LEAF, NVLINK, NVSWITCH, SPINE


def built(**cluster):
    return build_network(Cluster(**cluster))


def neighbours(network, name):
    node = network.node_id(name)
    return sorted(network.node_name[other] for other in network.port_dst[network.port_src == node])


def tiers(network):
    return [int((network.node_tier == tier).sum()) for tier in (HOST, LEAF, SPINE, CORE, NVSWITCH)]


ALL = [
    {"topology": "one-switch", "gpus": 16, "nvlink_gbps": 0.0},
    {"topology": "leaf-spine", "gpus": 64, "hosts_per_leaf": 16},
    {"topology": "leaf-spine", "gpus": 20, "gpus_per_node": 4, "leaves": 8, "hosts_per_leaf": 4, "spines": 3},
    {"topology": "fat-tree", "gpus": 128, "gpus_per_node": 1},
    {"topology": "fat-tree", "gpus": 40, "gpus_per_node": 8, "fat_tree_k": 8},
    {"topology": "rail-optimised", "gpus": 64},
    {"topology": "rail-optimised", "gpus": 320, "tiers": 3, "pod_servers": 12, "hosts_per_leaf": 8},
]


@pytest.mark.parametrize("cluster", ALL, ids=lambda cluster: f"{cluster['topology']}-{cluster['gpus']}")
def test_arrays_hang_together(cluster):
    network = built(**cluster)
    assert (network.port_src[0::2] == network.port_dst[1::2]).all() and (
        network.port_dst[0::2] == network.port_src[1::2]
    ).all()
    for column in (network.port_rate_bps, network.port_delay_ps, network.port_kind):
        assert (column[0::2] == column[1::2]).all() and len(column) == network.n_ports
    assert network.hosts.tolist() == list(range(cluster["gpus"]))
    assert network.node_is_host.sum() == cluster["gpus"]
    assert len(set(network.node_name)) == network.n_nodes == len(network.node_tier) == len(network.node_xy)
    assert network.port_src.dtype == np.int32 and network.port_rate_bps.dtype == np.int64
    assert len({tuple(xy) for xy in network.node_xy.round(9)}) == network.n_nodes, "no two nodes are drawn on one spot"
    assert network.node_xy[:, 0].min() >= 0 and network.node_xy[:, 0].max() <= 1
    ptr, ports = network.out_ports
    assert (network.port_src[ports] == np.repeat(np.arange(network.n_nodes), np.diff(ptr))).all()


def test_one_switch():
    network = built(topology="one-switch", gpus=4, nvlink_gbps=0.0, nic_gbps=100.0, nic_delay_ns=500.0)
    assert tiers(network) == [4, 1, 0, 0, 0]
    assert neighbours(network, "switch0") == ["gpu0", "gpu1", "gpu2", "gpu3"]
    assert set(network.port_rate_bps) == {10**11} and set(network.port_delay_ps) == {500_000}


def test_leaf_spine():
    network = built(
        topology="leaf-spine",
        gpus=64,
        hosts_per_leaf=16,
        oversubscription=4.0,
        nvlink_gbps=0.0,
        nic_gbps=100.0,
        fabric_delay_ns=2000.0,
    )
    assert tiers(network) == [64, 4, 4, 0, 0]
    assert neighbours(network, "leaf1") == sorted([f"gpu{i}" for i in range(16, 32)] + [f"spine{i}" for i in range(4)])
    assert neighbours(network, "spine3") == ["leaf0", "leaf1", "leaf2", "leaf3"]
    up = network.ports_between("leaf0", "spine0")
    assert network.port_delay_ps[up] == 2_000_000


def test_fat_tree_of_4():
    network = built(topology="fat-tree", gpus=16, fat_tree_k=4, gpus_per_node=1, core_gbps=100.0)
    assert tiers(network) == [16, 8, 8, 4, 0]
    assert neighbours(network, "leaf3") == ["gpu6", "gpu7", "spine2", "spine3"]
    assert neighbours(network, "spine0") == ["core0", "core1", "leaf0", "leaf1"]
    assert neighbours(network, "spine1") == ["core2", "core3", "leaf0", "leaf1"]
    assert neighbours(network, "core3") == ["spine1", "spine3", "spine5", "spine7"]
    assert network.port_rate_bps[network.ports_between("spine0", "core0")] == 10**11


def test_fat_tree_oversubscribed_and_half_empty():
    network = built(topology="fat-tree", gpus=40, fat_tree_k=8, gpus_per_node=1, oversubscription=2.0)
    assert tiers(network) == [40, 12, 6, 8, 0]


def test_rail_optimised_two_tiers():
    network = built(topology="rail-optimised", gpus=32, gpus_per_node=4, hosts_per_leaf=4)
    assert tiers(network) == [32, 8, 4, 0, 8]
    assert neighbours(network, "nvswitch1") == ["gpu4", "gpu5", "gpu6", "gpu7"]
    assert neighbours(network, "leaf1") == sorted(
        ["gpu1", "gpu5", "gpu9", "gpu13", "spine0", "spine1", "spine2", "spine3"]
    ), "rail 1 of servers 0 to 3"
    assert neighbours(network, "leaf4") == sorted(
        ["gpu16", "gpu20", "gpu24", "gpu28", "spine0", "spine1", "spine2", "spine3"]
    )
    nvlink = network.port_kind == NVLINK
    assert (
        nvlink.sum() == 64
        and set(network.port_rate_bps[nvlink]) == {3_600_000_000_000}
        and set(network.port_delay_ps[nvlink]) == {250_000}
    )
    assert network.node_server[:32].tolist() == [i // 4 for i in range(32)]


def test_rail_optimised_three_tiers():
    network = built(
        topology="rail-optimised",
        gpus=32,
        gpus_per_node=4,
        tiers=3,
        pod_servers=4,
        hosts_per_leaf=2,
        core_oversubscription=2.0,
    )
    # two pods of 4 servers, 2 units of 2 servers each: 8 leaves and 2 spines a pod, 8 / 2 = 4 cores for each spine index
    assert tiers(network) == [32, 16, 4, 8, 8]
    assert neighbours(network, "leaf0") == ["gpu0", "gpu4", "spine0", "spine1"]
    assert neighbours(network, "core0") == ["spine0", "spine2"] and neighbours(network, "core7") == ["spine1", "spine3"]
    assert "leaf8" not in neighbours(network, "spine0")


def test_no_nvlink_no_nvswitch():
    assert tiers(built(topology="rail-optimised", gpus=16, nvlink_gbps=0.0))[4] == 0


@pytest.mark.parametrize(
    "cluster",
    [
        {"topology": "rail-optimised", "tiers": 3},
        {"topology": "rail-optimised"},
        {"topology": "fat-tree"},
        {"topology": "leaf-spine"},
    ],
)
def test_1024_gpus_at_once(cluster):
    cluster = Cluster(gpus=1024, **cluster)
    start = time.thread_time()
    build_network(cluster)
    assert time.thread_time() - start < 0.2
