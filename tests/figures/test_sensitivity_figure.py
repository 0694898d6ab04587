"""The grid of theta and l: errors as colours, shares in words, gaps where a run is missing."""

import pandas as pd

from views.figures.sensitivity import sensitivity

ROWS = [(0.01, 100, 0.0, 1.0, 0.0, 0.0), (0.05, 100, 0.021, 0.2, 0.3, 0.5), (0.05, 2000, 0.004, 0.7, 0.3, 0.0)]
TABLE = pd.DataFrame(ROWS, columns=["theta", "samples", "mean_error", "executed", "replayed", "skipped"])


def test_a_cell_says_its_error_and_what_was_skipped():
    heat = sensitivity(TABLE).data[0]
    assert list(heat.x) == ["100", "2000"] and list(heat.y) == ["1", "5"]
    assert heat.text[1][0] == "2.1 % off<br>50 % skipped" and heat.customdata[1][0] == ["20 %", "30 %"]
    assert heat.z[0][0] == 0 and abs(heat.z[1][0] - 2.1) < 1e-9 and abs(heat.zmax - 2.1) < 1e-9


def test_a_run_that_is_missing_is_a_gap():
    heat = sensitivity(TABLE).data[0]
    assert heat.z[0][1] is None and heat.text[0][1] == "–"


def test_axes_have_units():
    layout = sensitivity(TABLE).layout
    assert "samples of 1 µs" in layout.xaxis.title.text and "%" in layout.yaxis.title.text


def test_nothing_to_draw_is_said():
    assert sensitivity(TABLE[:0]).layout.annotations[0].text.startswith("no run")
