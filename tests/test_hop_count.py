"""Hops through hosts that forward are those of the routes; too many are refused without walking on."""

import numpy as np
import pytest

from sim.errors import ScenarioError
from sim.formats.astra_network import graph_text, read_astra_network
from sim.hop_count import hop_counts
from sim.topology.from_file import network_from_text
from sim.topology.routing import route


def network(shapes, npus, hosts_forward=True):
    ones = ", ".join("1" for _ in npus.split(","))
    text = f"topology: [{shapes}]\nnpus_count: [{npus}]\nbandwidth: [{ones}]\nlatency: [{ones}]\n"
    return network_from_text(graph_text(read_astra_network(text)), hosts_forward=hosts_forward)


@pytest.mark.parametrize("shapes, npus", [("Ring", "9"), ("Ring, Ring", "4, 5"), ("Ring, Switch, FullyConnected", "4, 3, 3")])
def test_hops_are_those_of_the_routes(shapes, npus):
    made = network(shapes, npus)
    src, dst = (ends.ravel() for ends in np.meshgrid(made.hosts, made.hosts, indexing="ij"))
    assert np.array_equal(hop_counts(made, src, dst), np.diff(route(made, src, dst, np.arange(len(src)), 1)[0]))


def test_too_long_a_path_is_named():
    with pytest.raises(ScenarioError, match="the path from 3 to 303 has 300 links"):
        hop_counts(network("Ring", "600"), np.array([1, 3]), np.array([2, 303]))
