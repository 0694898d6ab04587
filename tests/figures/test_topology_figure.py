"""The drawing of a network: every node and link once, faults marked, links outside the way of labels."""

import numpy as np
import pytest

from sim.preset import list_presets, load_preset
from sim.topology.build import build_network
from views.figures.geometry import ends, positions
from views.figures.topology import drawing_height, labels, topology


def points(trace):
    return np.count_nonzero(np.isfinite(np.asarray(trace.x, dtype=float)))


@pytest.mark.parametrize("name", list_presets())
def test_every_node_and_link_is_drawn_once(name):
    network = build_network(load_preset(name).cluster)
    figure = topology(network)
    nodes = [trace for trace in figure.data if trace.name and trace.name[0].isdigit()]
    assert sum(points(trace) for trace in nodes) == network.n_nodes
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert sum(points(trace) for trace in lines) == network.n_ports  # two ends of each link
    assert 200 <= drawing_height(network) <= 600


def test_legend_counts_nodes_in_words(gpt):
    names = {trace.name for trace in topology(gpt.network).data if trace.showlegend is not False}
    assert {"16 GPUs", "4 NVSwitches", "NVLink", "network link"} <= names
    assert "1 leaf switch" in {trace.name for trace in topology(build_network(load_preset("incast-16").cluster)).data}


def test_faults_are_dashed_and_named(gpt):
    figure = topology(gpt.network, {40: "link-down at 5 µs"})
    (mark,) = [trace for trace in figure.data if trace.name == "link-down at 5 µs"]
    assert mark.marker.symbol == "x"
    assert any(trace.mode == "lines" and trace.line.dash == "dot" for trace in figure.data)


def test_positions_fill_the_unit_square_and_a_single_row_is_centred(gpt):
    xy = positions(gpt.network)
    assert xy.min() == 0 and xy.max() == 1


def test_directions_of_a_link_are_drawn_apart_on_their_own_right(gpt):
    start, end = ends(gpt.network, np.array([0, 1]), apart=True)
    assert not np.allclose(start[0], end[1])
    np.testing.assert_allclose((start[0] + end[1]) / 2, ends(gpt.network, np.array([0]))[0][0])


def test_a_thousand_gpus_are_drawn_with_few_traces():
    cluster = load_preset("gpt-7b-64").replace_all({"cluster.gpus": 1024, "parallelism.dp": None}).cluster
    figure = topology(build_network(cluster))
    assert len(figure.data) < 12 and len(figure.layout.annotations) <= 40


def test_labels_give_way_where_they_would_overlap_on_a_phone():
    spines = [f"spine{index}" for index in range(16)]
    assert labels(spines[:8], 42) == spines[:8]
    assert labels(spines, 21) == [f"S{index}" for index in range(16)]
    assert labels(spines, 11) == [f"S{index}" if index % 2 == 0 else "" for index in range(16)]
    assert labels(["8", "9"], 200) == ["8", "9"]


def test_names_that_would_be_alike_if_cut_are_thinned_out_instead():
    assert labels(["a1", "b1", "atlas1", "bronze1"], 24) == ["a1", "", "atlas1", ""]
