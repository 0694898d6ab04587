"""Bars of earlier runs: one each, the newest dark and on top, a stopped one hatched."""

from views.figures.earlier_runs import earlier_runs
from views.parts import palette


def test_one_bar_a_run_in_the_unit_of_the_longest():
    bar = earlier_runs([("run 2", 1.5e-3, "", True), ("run 1", 0.75e-3, "(−50 %)", False)]).data[0]
    assert list(bar.x) == [1.5, 0.75] and list(bar.text) == ["1.50 ms", "750 µs (−50 %)"]
    assert bar.marker.color[0] == palette.MODES["wormhole"] != bar.marker.color[1]
    assert list(bar.marker.pattern.shape) == ["", "/"]


def test_a_run_that_took_no_time_is_drawn_too():
    figure = earlier_runs([("run 2", 0.0, "", True), ("run 1", 0.0, "", True)])
    assert list(figure.data[0].x) == [0, 0] and figure.layout.xaxis.range[1] > 0
