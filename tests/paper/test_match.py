"""Conflict graphs are matched whatever their flows are called, and never where they differ: against networkx."""

import networkx as nx
import numpy as np
import pytest

from sim.paper.graph import ConflictGraph, conflict_graph
from sim.paper.match import TRIES, colours, match


def graph_of(edges, kinds):
    """A graph of (a, b, weight)."""
    rows = sorted((min(a, b), max(a, b), weight) for a, b, weight in edges)
    a, b, weight = (np.array([row[i] for row in rows], np.int64) for i in range(3))
    return ConflictGraph(np.array(kinds, np.int64), a, b, weight)


def renamed(edges, kinds, order):
    """The same graph, vertex i called order[i]."""
    back = np.argsort(order)
    return graph_of([(order[a], order[b], weight) for a, b, weight in edges], [kinds[i] for i in back])


def as_networkx(graph):
    found = nx.Graph()
    found.add_nodes_from((i, {"kind": kind}) for i, kind in enumerate(graph.kinds.tolist()))
    found.add_weighted_edges_from(zip(graph.a.tolist(), graph.b.tolist(), graph.weight.tolist(), strict=True))
    return found


def isomorphic(one, other):
    same = nx.algorithms.isomorphism.categorical_node_match("kind", None), nx.algorithms.isomorphism.numerical_edge_match("weight", 1)
    return nx.is_isomorphic(as_networkx(one), as_networkx(other), *same)


def ring(n, kinds=None):
    return [(i, (i + 1) % n, 2) for i in range(n)], kinds or [3] * n


NAMED = {
    "lone": ([], [4]),
    "ring": ring(12),
    "ring with one slow flow": ring(7, [3, 3, 1, 3, 3, 3, 3]),
    "two rings": ([(i, (i + 1) % 3, 1) for i in range(3)] + [(3 + i, 3 + (i + 1) % 3, 1) for i in range(3)], [1] * 6),
    "complete": ([(i, j, 1) for i in range(9) for j in range(i)], [2] * 9),
    "all-to-all of 4": None,
}


def all_to_all(hosts):
    pairs = [(a, b) for a in range(hosts) for b in range(hosts) if a != b]
    graph = conflict_graph([[a, 100 + b] for a, b in pairs], np.full(len(pairs), 9))
    return list(zip(graph.a.tolist(), graph.b.tolist(), graph.weight.tolist(), strict=True)), graph.kinds.tolist()


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("seed", range(4))
def test_names_do_not_matter(name, seed):
    edges, kinds = NAMED[name] or all_to_all(4)
    order = np.random.default_rng(seed).permutation(len(kinds)).tolist()
    one, other = graph_of(edges, kinds), renamed(edges, kinds, order)
    found = match(one, other)
    assert found is not None and one.equals(other, found) and sorted(found.tolist()) == list(range(one.n))


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs_match_where_networkx_says_so(seed):
    draw = np.random.default_rng(seed)
    n = int(draw.integers(2, 8))
    edges = [(a, b, int(draw.integers(1, 3))) for a in range(n) for b in range(a) if draw.random() < 0.5]
    kinds = draw.integers(1, 3, n).tolist()
    one, other = graph_of(edges, kinds), renamed(edges, kinds, draw.permutation(n).tolist())
    assert match(one, other) is not None
    if not edges:
        return
    moved = [(*edges[0][:2], edges[0][2] + 1), *edges[1:]] if seed % 2 else edges[1:] + [(a, b, 1) for a in range(n) for b in range(a)][:1]
    changed = graph_of({(min(a, b), max(a, b)): (a, b, weight) for a, b, weight in moved}.values(), kinds)
    assert (match(one, changed) is not None) == isomorphic(one, changed)


def test_colours_alone_do_not_prove_it():
    """A ring of 6 and two of 3: every vertex has two neighbours, no colouring tells them apart, and yet they differ."""
    six = graph_of([(i, (i + 1) % 6, 1) for i in range(6)], [1] * 6)
    threes = graph_of(*NAMED["two rings"])
    assert sorted(colours(six)) == sorted(colours(threes))
    assert match(six, threes) is None and not isomorphic(six, threes)


def test_what_takes_too_many_tries_is_no_match():
    rings = [(3 * r + i, 3 * r + (i + 1) % 3, 1) for r in range(TRIES) for i in range(3)]
    order = np.random.default_rng(0).permutation(3 * TRIES).tolist()
    assert match(graph_of(rings, [1] * len(rings)), renamed(rings, [1] * len(rings), order)) is None
