"""Modes compared: equal runs lie on the diagonal, errors are told in per cent, costs on a logarithmic axis."""

import numpy as np
import pandas as pd
import pytest

from views.figures.compare import POINTS, costs, errors, levels, scatter
from views.parts import palette


def named(figure, name):
    return next(trace for trace in figure.data if trace.name and trace.name.startswith(name))


def test_marks_are_flows_and_the_diagonal_is_there():
    packet = np.array([1e-3, 2e-3, np.nan])
    figure = scatter(packet, {"wormhole": packet, "flow": packet * 1.1})
    same = named(figure, "wormhole")
    assert list(same.x) == list(same.y) == [1.0, 2.0]
    assert named(figure, "flow").hovertext[1] == "flow 1<br>packet mode 2.00 ms<br>flow level 2.20 ms (+10 %)"
    assert figure.data[0].name == "equal" and figure.layout.xaxis.title.text == "completion time in packet mode (ms)"
    assert same.marker.color == palette.MODES["wormhole"]


def test_wide_ranges_have_logarithmic_axes():
    packet = np.array([1e-6, 1e-3])
    assert scatter(packet, {"flow": packet}).layout.xaxis.type == "log"


def test_of_many_flows_the_worst_are_kept():
    packet = np.full(50_000, 1e-3)
    other = packet.copy()
    other[777] = 2e-3
    figure = scatter(packet, {"flow": other})
    marks = named(figure, "flow")
    assert len(marks.x) <= POINTS + 100 and max(marks.y) == pytest.approx(2.0)


def test_error_curves_end_at_the_right_edge_and_name_the_mean():
    packet = np.full(4, 1e-3)
    figure = errors(packet, {"wormhole": packet, "flow": packet * [1.0, 1.1, 0.9, 1.2]})
    assert [trace.name for trace in figure.data] == ["wormhole (mean 0 %)", "flow level (mean 10 %)"]
    assert {trace.x[-1] for trace in figure.data} == {figure.layout.xaxis.range[1]}
    assert figure.data[0].y[1] >= 0 and max(figure.data[1].y) == 100


def test_nothing_finished_is_said():
    nothing = np.full(3, np.nan)
    assert scatter(nothing, {"flow": nothing}).layout.annotations[0].text.startswith("no flow has finished")
    assert errors(nothing, {"flow": nothing}).layout.annotations[0].text.startswith("no flow has finished")


def test_costs_name_their_seconds():
    figure = costs({"Packet": 30.0, "Wormhole": 0.05}, {"Packet": "#000000", "Wormhole": "#111111"})
    assert list(figure.data[0].text) == ["30.0 s", "50.0 ms"] and figure.layout.xaxis.type == "log"


def test_each_controller_has_a_bar_for_each_level():
    rows = [("DCQCN", "exact", 0.0, 20.0), ("DCQCN", "bounded", 0.01, 400.0), ("HPCC", "exact", 0.0, 1.1)]
    figure = levels(pd.DataFrame(rows, columns=["controller", "level", "mean_error", "speedup"]))
    assert [trace.name for trace in figure.data] == ["level exact", "level bounded"]
    assert list(figure.data[0].y) == ["DCQCN", "HPCC"] and list(figure.data[1].x) == [1.0]
    assert figure.data[1].text[0] == "1 %, speed-up 400 ×"
    assert figure.layout.xaxis.range[1] == 1.7
    assert figure.data[0].marker.color == palette.LEVELS["exact"]


def test_the_axis_of_levels_is_no_wider_than_their_errors_need():
    columns = ["controller", "level", "mean_error", "speedup"]
    assert levels(pd.DataFrame([("DCQCN", "bounded", 2e-5, 9.0)], columns=columns)).layout.xaxis.range[1] == pytest.approx(0.0034)
    assert levels(pd.DataFrame([("DCQCN", "exact", 0.0, 9.0)], columns=columns)).layout.xaxis.range[1] == 1
