"""One port over time: the curves are the series, thresholds and pauses are where they belong."""

import numpy as np

from tests import fabricate
from views.figures.port import active_flows, ecn_thresholds, port, quiet
from views.parts import palette


def trace(figure, name):
    (found,) = [one for one in figure.data if one.name == name]
    return found


def test_curves_are_the_series_in_readable_units(incast):
    figure = port(incast, 1)
    queue = np.asarray(trace(figure, "deepest queue").y)
    np.testing.assert_allclose(queue[:-1] * 1e6, incast.series.max_queue_bytes[1])
    np.testing.assert_allclose(np.asarray(trace(figure, "utilisation").y)[:-1], 100 * incast.series.utilisation_of(1))
    assert np.asarray(trace(figure, "ECN marks").y).sum() == incast.ports["ecn_marks"][1]
    titles = [figure.layout[name].title.text for name in ("yaxis", "yaxis2", "yaxis3", "yaxis4", "xaxis4")]
    assert titles == ["utilisation (%)", "queue (MB)", "ECN marks<br>per bin", "flows", "time (µs)"]


def test_thresholds_are_drawn_and_named(incast):
    assert list(ecn_thresholds(incast, 1).values()) == [100_000, 400_000]
    texts = [annotation.text for annotation in port(incast, 1).layout.annotations]
    assert "marking begins (kmin)" in texts and "all marked (kmax)" in texts


def test_pauses_are_shaded_where_they_were(incast):
    bands = [shape for shape in port(incast, 1).layout.shapes if shape.type == "rect"]
    stopped = np.flatnonzero(incast.series.paused_s[1])
    edges = incast.series.edges_s * 1e6
    assert len(bands) == 1
    np.testing.assert_allclose([bands[0].x0, bands[0].x1], [edges[stopped[0]], edges[stopped[-1] + 1]])
    assert not [shape for shape in port(incast, 0).layout.shapes if shape.type == "rect"]


def test_active_flows_are_counted_per_bin(incast, gpt):
    assert set(active_flows(incast, incast.stays_at(1))[:-3]) == {4} and active_flows(incast, incast.stays_at(0)).sum() == 0
    for port_id in (41, 48):
        flows = gpt.flows.iloc[gpt.flows_through(port_id)]
        edges = gpt.series.edges_s
        slow = [
            ((flows["start_s"] < edges[bin + 1]) & (flows["delivered_s"] > edges[bin])).sum()
            for bin in range(gpt.series.n_bins)
        ]
        np.testing.assert_array_equal(active_flows(gpt, gpt.stays_at(port_id)), slow)


def test_traffic_of_others_has_a_curve_of_its_own():
    result = fabricate.result(fabricate.scenario(background=[{"pattern": "incast", "flow_bytes": 1000, "times": 3}]))
    into_receiver = result.flow_path(0)[-1]
    curve = trace(port(result, into_receiver), "of them background")
    assert curve.line.color == palette.KINDS["background"] and max(curve.y) >= 4
    others = result.flows[result.flows["kind"] == "background"]
    assert len(others) == 12 and set(others["job"]) == {-1}
    np.testing.assert_array_equal(curve.y[:-1], active_flows(result, others.rename(columns={"start_s": "since_s", "delivered_s": "until_s"})))


def test_the_chosen_moment_is_marked(incast):
    lines = [shape for shape in port(incast, 1, at_s=50e-6).layout.shapes if shape.line.dash == "dot"]
    assert len(lines) == 4 and {round(line.x0) for line in lines} == {50}


def test_what_a_port_never_had_is_a_line_and_no_empty_chart(incast):
    assert quiet(incast, 1) is None
    assert quiet(incast, 0) == "No packet ever waited at this port, and none was marked."
    figure = port(incast, 0)
    assert [figure.layout[name].title.text for name in ("yaxis", "yaxis2", "xaxis2")] == ["utilisation (%)", "flows", "time (µs)"]
    assert "yaxis3" not in figure.layout and figure.layout.height < port(incast, 1).layout.height
    assert {"deepest queue", "ECN marks"}.isdisjoint(trace.name for trace in figure.data)


def test_a_queue_without_marks_keeps_its_chart():
    result = fabricate.result(fabricate.scenario())
    result.raw.series_marks[:] = 0
    assert quiet(result, 1) == "No packet was marked at this port."
    titles = [axis.title.text for axis in port(result, 1).select_yaxes()]
    assert titles == ["utilisation (%)", "queue (MB)", "flows"]


def test_mode_flow_says_that_it_knows_no_queues():
    result = fabricate.result(fabricate.scenario())
    result.raw.mode = "flow"
    result.raw.series_marks[:] = result.raw.series_max_queue_bytes[:] = 0
    assert quiet(result, 1).startswith("Mode flow")


def test_moments_are_marked_with_their_words(incast):
    figure = port(incast, 1, moments={1e-4: "link fails"})
    assert "link fails" in [annotation.text for annotation in figure.layout.annotations]
    assert np.isclose([shape.x0 for shape in figure.layout.shapes], 100).any()  # us
