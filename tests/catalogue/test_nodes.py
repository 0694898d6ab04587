"""Rows of the server catalogue: they agree with the GPUs in them, and a scenario can name one."""

import pytest

from sim.catalogue.gpus import GPUS
from sim.catalogue.nodes import NODES
from sim.errors import ScenarioError
from sim.scenario import Cluster


@pytest.mark.parametrize("name", NODES)
def test_rows_agree_with_their_gpus(name):
    node = NODES[name]
    gpu = GPUS[node.gpu]
    assert node.name == name
    assert "datasheet" in node.source or "arXiv" in node.source
    assert node.nvlink_gbps * 1e9 == gpu.nvlink_bps
    assert node.hbm_bytes == node.gpus_per_node * gpu.memory_bytes
    assert node.nics == node.gpus_per_node, "a scenario has one NIC for each GPU"


def cluster(**more):
    return Cluster(topology="rail-optimised", **{"gpus": 72, **more})


def test_a_named_server_fills_what_is_not_given():
    filled = cluster(node="dgx-a100")
    assert (filled.gpu, filled.gpus_per_node, filled.nic_gbps, filled.nvlink_gbps) == ("A100-SXM-80", 8, 200.0, 2400.0)
    assert filled.fabric_gbps == 200.0
    assert filled.given() == {"topology": "rail-optimised", "gpus": 72, "node": "dgx-a100"}
    rack = cluster(node="gb200-nvl72")
    assert (rack.gpu, rack.gpus_per_node, rack.nvlink_gbps) == ("GB200", 72, 7200.0)


def test_what_is_given_wins():
    mixed = cluster(node="dgx-h100", nic_gbps=200.0, gpus_per_node=4, gpu="H200-SXM")
    assert (mixed.gpu, mixed.gpus_per_node, mixed.nic_gbps, mixed.nvlink_gbps) == ("H200-SXM", 4, 200.0, 3600.0)


def test_an_unknown_server_is_refused_with_the_nearest():
    with pytest.raises(ScenarioError, match=r"cluster\.node = 'dgx-h10' is not in the catalogue: did you mean 'dgx-h100'\?"):
        cluster(node="dgx-h10")
