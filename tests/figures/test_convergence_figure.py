"""Curves drawn: every flow or a band, fair shares, the deepest queues, when rates had settled, axes with their units."""

import re
from dataclasses import replace

import numpy as np
import pytest

from sim.convergence_curves import Curves
from views.figures.convergence import MOST_FLOWS, MOST_PORTS, POINTS, UNSEEN, convergence
from views.parts import palette

US = 10**6


def curves(flows=2, ports=1, samples=2000, fair_bps=None, grows=False) -> Curves:
    """`flows` flows at 40 Gb/s each, 400 us long; port q holds 1000 (q + 1) B but for one sample of twice that."""
    times_ps = np.arange(samples + 1) * (400 * US // samples)
    delivered = np.repeat((times_ps * 0.005)[:, None], flows, axis=1)
    if grows:
        delivered = delivered * (times_ps / times_ps[-1])[:, None]
    queues = np.repeat(1000 * np.arange(1, ports + 1)[None], samples + 1, axis=0)
    queues[samples // 3] *= 2
    return Curves(
        np.arange(flows), np.arange(ports), times_ps, delivered.astype(np.int64), queues, delivered[-1].astype(np.int64), np.full(flows, -1),
        np.full(flows, 4e10) if fair_bps is None else np.array(fair_bps), 1000, 400 * US, 0, "",
    )  # fmt: skip


def drawn(given):
    return convergence(given, [f"flow {f}" for f in given.flows], [f"port {q}" for q in given.ports])


def lines(figure, row):
    axis = "y" if row == 1 else "y2"
    return [trace for trace in figure.data if trace.yaxis == axis and trace.fill != "tonexty" and trace.line.width != 0 and trace.line.color != UNSEEN]


def texts(figure):
    return [note.text for note in figure.layout.annotations]


def test_rates_above_and_queues_below_in_readable_units():
    figure = drawn(curves())
    assert [figure.layout[axis].title.text for axis in ("yaxis", "yaxis2", "xaxis2")] == [
        "rate (Gb/s)", "queue (kB)", "time since the set of flows changed (µs)",
    ]  # fmt: skip
    assert [line.name for line in lines(figure, 1)] == ["flow 0", "flow 1"]
    np.testing.assert_allclose(lines(figure, 1)[0].y, 40, rtol=0.01)
    assert figure.layout.xaxis.range == (0, 400) == figure.layout.xaxis2.range


def test_the_deepest_queue_of_a_stretch_is_kept():
    (line,) = lines(drawn(curves()), 2)
    assert max(line.y) == 2.0 and len(line.x) <= POINTS and list(line.y).count(2.0) == 1


def test_fair_shares_are_dotted_and_named():
    assert texts(drawn(curves()))[:1] == ["fair share 40 Gb/s"]
    two = drawn(curves(flows=3, fair_bps=[4e10, 4.001e10, 6e10]))
    assert texts(two)[:2] == ["fair share 40 Gb/s", "fair share 60 Gb/s"]
    many = drawn(curves(flows=6, fair_bps=np.arange(1, 7) * 1e10))
    assert texts(many)[:2] == ["fair share 10 Gb/s", "fair share 60 Gb/s"], "of many the least and the most"
    assert {line.line.dash for line in many.layout.shapes if line.y0 == line.y1} == {"dot"}


def test_the_time_at_which_rates_have_settled_is_marked():
    given = curves()
    figure = drawn(given)
    (mark,) = [shape for shape in figure.layout.shapes if shape.line.dash == "dash" and shape.xref == "x"]
    assert mark.x0 == pytest.approx(given.converged_ps() / US) and "settled after" in texts(figure)[-1]
    assert not any("settled" in text for text in texts(drawn(curves(grows=True))))


def test_of_a_crowd_some_are_drawn_and_the_rest_are_a_band():
    given = curves(flows=MOST_FLOWS + 5)
    given = replace(given, delivered_bytes=(given.delivered_bytes * np.linspace(0.5, 1.5, MOST_FLOWS + 5)).astype(np.int64))
    figure = drawn(given)
    assert len(lines(figure, 1)) == MOST_FLOWS and {lines(figure, 1)[0].name, lines(figure, 1)[-1].name} >= {f"flow {MOST_FLOWS + 4}"}
    band = [trace for trace in figure.data if trace.yaxis == "y" and trace.line.width == 0]
    assert [trace.name for trace in band] == ["5 other flows, least to most"] * 2 and (np.array(band[0].y) <= np.array(band[1].y)).all()
    legend = [trace.name for trace in figure.data if trace.showlegend is not False]
    assert legend[0] == "5 other flows, least to most" and legend[1].endswith(f" {MOST_FLOWS} flows, a line each")
    assert re.findall(r"color:(#\w+)", legend[1]) == list(palette.SEQUENCE), "every colour of the lines is in it"


def test_of_many_ports_the_deepest_are_drawn_and_the_deepest_of_the_others():
    figure = drawn(curves(ports=MOST_PORTS + 3))
    assert len(lines(figure, 2)) == MOST_PORTS + 1 and lines(figure, 2)[0].name == "deepest of 3 other ports"
    assert max(lines(figure, 2)[0].y) == pytest.approx(6.0) and max(lines(figure, 2)[1].y) == pytest.approx(2.0 * (MOST_PORTS + 3))


def test_a_line_ends_where_its_flow_has_ended():
    given = curves()
    figure = drawn(replace(given, ended_ps=np.array([-1, 200 * US])))
    alive, over = lines(figure, 1)
    assert not np.isnan(alive.y).any() and np.isnan(np.array(over.y)[np.array(over.x) > 202]).all() and not np.isnan(over.y[0])


def test_two_samples_are_enough():
    assert len(lines(drawn(curves(samples=1)), 1)) == 2
