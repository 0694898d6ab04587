"""Conflict graphs as arrays: who shares ports with whom, and how many, worked out by hand."""

import numpy as np

from sim.paper.graph import conflict_graph, shared_pairs

PATHS = [[1, 2, 3], [2, 3, 4], [9], [4, 9]]  # 0 and 1 share two ports; 1 and 3 share one; 2 and 3 another


def kinds(*values):
    return np.array(values, np.int64)


def test_edges_count_the_ports_that_two_flows_share():
    graph = conflict_graph(PATHS, kinds(5, 5, 5, 7))
    assert list(zip(graph.a.tolist(), graph.b.tolist(), graph.weight.tolist(), strict=True)) == [(0, 1, 2), (1, 3, 1), (2, 3, 1)]
    assert graph.n == 4 and shared_pairs(PATHS) == graph.weight.sum() == 4


def test_a_port_that_one_flow_crosses_twice_counts_once():
    assert conflict_graph([[1, 1, 2], [1, 2]], kinds(1, 1)).weight.tolist() == [2] and shared_pairs([[1, 1, 2], [1, 2]]) == 2


def test_flows_that_share_nothing_have_no_edges():
    graph = conflict_graph([[1], [2]], kinds(1, 1))
    assert len(graph.a) == len(graph.weight) == shared_pairs([[1], [2]]) == 0


def test_equality_is_of_edges_weights_and_classes():
    one, order = conflict_graph(PATHS, kinds(5, 5, 5, 7)), np.array([3, 1, 2, 0])
    other = conflict_graph([PATHS[3], PATHS[1], PATHS[2], PATHS[0]], kinds(7, 5, 5, 5))
    assert one.equals(other, order) and not one.equals(other, np.arange(4))
    assert not one.equals(conflict_graph([PATHS[3], PATHS[1], PATHS[2], PATHS[0]], kinds(5, 5, 5, 7)), order)
    lighter = [[4, 9], [2, 4], [9], [1, 2, 3]]
    assert not one.equals(conflict_graph(lighter, kinds(7, 5, 5, 5)), order)
