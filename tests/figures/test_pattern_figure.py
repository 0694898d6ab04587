"""Conflict graphs drawn: a dot a flow, a line a pair, widths and sizes that mean something, crowds thinned."""

import numpy as np

from views.figures.pattern import LARGE_PX, MOST_EDGES, SMALL_PX, circle, pattern


def ring(count):
    edges = np.array([[i, (i + 1) % count] for i in range(count)])
    return circle(count), edges, np.full(count, 2), np.full(count, 1e11), [f"flow {i}" for i in range(count)]


def nodes(figure):
    return next(trace for trace in figure.data if "markers" in trace.mode and trace.marker.opacity != 0)


def test_every_flow_and_every_pair_is_drawn():
    figure = pattern(*ring(6), large=True)
    assert len(nodes(figure).x) == 6 and nodes(figure).hovertext[0] == "flow 0<br>100 Gb/s"
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert [len(trace.x) for trace in lines] == [18] and lines[0].name == "2 ports shared"
    assert figure.layout.height == LARGE_PX


def test_pairs_that_share_more_have_thicker_lines_and_a_legend():
    places, edges, _, rates, names = ring(4)
    figure = pattern(places, edges, np.array([1, 1, 3, 3]), rates, names, large=True)
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert [trace.name for trace in lines] == ["1 port shared", "3 ports shared"]
    assert lines[0].line.width < lines[1].line.width and figure.layout.showlegend


def test_faster_flows_are_larger_and_unknown_rates_are_no_matter():
    places, edges, shared, _, names = ring(3)
    sizes = nodes(pattern(places, edges, shared, np.array([1e11, 5e10, np.nan]), names)).marker.size
    assert sizes[0] > sizes[1] > sizes[2]
    assert len(set(nodes(pattern(places, edges, shared, np.full(3, np.nan), names)).marker.size)) == 1


def test_a_lone_flow_is_a_dot_in_the_middle():
    none = np.zeros((0, 2), int)
    figure = pattern(circle(1), none, np.zeros(0, int), np.array([1e11]), ["flow 0"])
    assert nodes(figure).x[0] == 0 and figure.layout.height == SMALL_PX


def test_a_crowd_is_thinned_and_widths_fall_into_classes():
    count = 150
    a, b = np.triu_indices(count, 1)
    shared = 1 + (a + b) % 17
    figure = pattern(circle(count), np.stack([a, b], axis=1), shared, np.ones(count), [f"flow {i}" for i in range(count)], large=True)
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert sum(len(trace.x) for trace in lines) == 3 * MOST_EDGES[True] and 1 < len(lines) <= 6
