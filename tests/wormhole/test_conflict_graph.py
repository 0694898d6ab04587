"""Conflict graphs: edges against a comparison of all pairs, weights by hand, and files that others can read."""

import io
import json
import random
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from sim.errors import RunError
from sim.wormhole import conflict_graph as module
from sim.wormhole.conflict_graph import conflict_graph, graphml_text, json_text, pattern_graph
from sim.wormhole.pattern import Pattern

INCAST = Pattern(data=((0, 1), (4, 1), (6, 1)), acks=((2, 3), (2, 5), (2, 7)), classes=(0, 1, 0, 1, 0, 1, 0, 1))


def test_flows_of_an_incast_share_the_last_port_and_that_of_their_acks():
    graph = pattern_graph(INCAST, np.array([1e9, 2e9, 3e9]))
    assert dict(graph.nodes(data="rate_bps")) == {0: 1e9, 1: 2e9, 2: 3e9}
    assert sorted(graph.edges(data="weight")) == [(0, 1, 2), (0, 2, 2), (1, 2, 2)]


def test_a_port_crossed_twice_counts_once_and_lone_flows_have_no_edges():
    graph = conflict_graph(np.array([0, 0, 1]), np.array([7, 7, 7]), ["a", "b", "c"], [0.0, 0.0, 0.0])
    assert list(graph.edges(data="weight")) == [("a", "b", 1)] and "c" in graph
    assert len(conflict_graph(np.zeros(0, int), np.zeros(0, int), [], [])) == 0


@pytest.mark.parametrize("seed", range(5))
def test_edges_are_those_of_all_pairs_compared(seed):
    draw = random.Random(seed)
    paths = [set(draw.sample(range(12), draw.randint(1, 4))) for _ in range(30)]
    member = np.array([j for j, path in enumerate(paths) for _ in path])
    port = np.array([q for path in paths for q in path])
    graph = conflict_graph(member, port, list(range(30)), [1.0] * 30)
    expected = {(a, b): len(paths[a] & paths[b]) for a, b in combinations(range(30), 2) if paths[a] & paths[b]}
    assert {tuple(sorted(edge[:2])): edge[2] for edge in graph.edges(data="weight")} == expected


def test_many_flows_that_share_nothing_cost_nothing():
    flows = 100_000  # all pairs would be 5 G
    graph = conflict_graph(np.arange(flows), np.arange(flows), list(range(flows)), [0.0] * flows)
    assert graph.number_of_edges() == 0


def test_a_graph_that_no_memory_holds_is_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_EDGES", 5)
    with pytest.raises(RunError, match="4 flows with 6 shared ports of pairs: at most 5"):
        conflict_graph(np.arange(4), np.zeros(4, int), [0, 1, 2, 3], [0.0] * 4)


def test_files_read_back_as_the_same_graph():
    graph = pattern_graph(INCAST, np.array([1e9, 2e9, 3e9]))
    from_xml = nx.read_graphml(io.BytesIO(graphml_text(graph).encode()), node_type=int)
    from_json = nx.node_link_graph(json.loads(json_text(graph)), edges="links")
    for again in (from_xml, from_json):
        assert dict(again.nodes(data=True)) == dict(graph.nodes(data=True))
        assert sorted(again.edges(data="weight")) == sorted(graph.edges(data="weight"))
