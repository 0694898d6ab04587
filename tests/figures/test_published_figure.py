"""Predictions against publications: marks where the numbers are, the band at a tenth, text of others escaped."""

from dataclasses import replace

import pytest

from sim.published import Compared
from views.figures.published import by_software, scatter
from views.parts import palette

STEP = Compared("a", "iteration", 100.0, 105.0, "TFLOP/s", "m", "GPT", "A100 bf16", "s", "NeMo", 2.0, 2.0 / 1.05, 1, {"products": 1.5, "TP": 0.5})
FAR = replace(STEP, id="<b>far</b>", predicted=150.0, predicted_s=2.0 / 1.5)
MEMORY = Compared("m", "memory", 60.0, 60.0, "GiB", "m", "GPT", "A100", "s")


def marks(figure):
    return {trace.name: trace for trace in figure.data if trace.mode == "markers"}


def test_steps_are_drawn_in_seconds_near_and_far_apart():
    shown = marks(scatter([STEP, FAR]))
    assert set(shown) == {"within 10 %", "further off"}
    assert list(shown["within 10 %"].x) == [2.0] and list(shown["within 10 %"].y) == [pytest.approx(2 / 1.05)]
    assert shown["further off"].marker.color == palette.ERRORS["far"]
    assert "published 100 TFLOP/s, predicted 105 (+5.0 %)" in shown["within 10 %"].hovertext[0]
    assert "products 75 %, TP 25 %" in shown["within 10 %"].hovertext[0]
    assert "&lt;b&gt;far" in shown["further off"].hovertext[0] and "<b>" not in shown["further off"].hovertext[0]


def test_the_band_is_a_tenth_around_equality():
    band, equal = scatter([STEP]).data[:2]
    assert band.y[0] / band.x[0] == pytest.approx(0.9) and band.y[-1] / band.x[-1] == pytest.approx(1.1)
    assert list(equal.x) == list(equal.y)


def test_other_kinds_are_drawn_in_their_unit():
    figure = scatter([MEMORY])
    assert list(marks(figure)["within 10 %"].x) == [60.0]
    assert figure.layout.xaxis.title.text == "published (GiB)"
    assert scatter([MEMORY, replace(MEMORY, unit="GB")]).layout.xaxis.title.text == "published (its unit)"
    assert "no row" in scatter([]).layout.annotations[0].text


def test_errors_by_software():
    figure = by_software({"NeMo": [STEP, FAR], "Other": [replace(STEP, stack="Other")]})
    assert list(figure.layout.yaxis.categoryarray) == ["Other (1)", "NeMo (2)"], "the first on top"
    assert list(marks(figure)["within 10 %"].x) == [pytest.approx(5), pytest.approx(5)]
    assert list(marks(figure)["further off"].y) == ["NeMo (2)"]
    assert "no training step" in by_software({}).layout.annotations[0].text
