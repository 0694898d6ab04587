"""Conflict graphs of whole results."""

import pytest

from sim.errors import RunError
from sim.result_conflicts import conflict_graph_at, conflict_graph_of
from tests.wormhole.twins import twin_incasts


def test_of_a_pattern():
    result = twin_incasts().result()
    graph = conflict_graph_of(result, 0)
    assert list(graph.edges(data="weight")) == [(0, 1, 2)], "the receiver's port, and that of its ACKs"
    assert all(0 < rate < 1e11 for _, rate in graph.nodes(data="rate_bps"))
    with pytest.raises(RunError, match=f"pattern 99: the result has {len(result.patterns)} patterns"):
        conflict_graph_of(result, 99)
    with pytest.raises(RunError, match="pattern 0: the result has 0 patterns"):
        conflict_graph_of(twin_incasts(mode="packet").result(), 0)


def test_of_a_time_in_any_mode():
    for mode in ("wormhole", "packet", "flow"):
        result = twin_incasts(mode=mode).result()
        graph = conflict_graph_at(result, 5e-6)
        assert sorted(graph.edges(data="weight")) == [(0, 1, 2), (2, 3, 2)]
        assert graph.nodes[0]["rate_bps"] == pytest.approx(50_000 * 8 / result.flows["fct_s"][0])
        assert len(conflict_graph_at(result, result.end_s)) == 0
