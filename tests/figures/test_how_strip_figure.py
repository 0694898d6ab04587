"""The strip of how the answer came about: shares add up, nothing simulated is too thin to be seen."""

import numpy as np
import plotly.graph_objects as go
import pytest

from tests import fabricate, fabricate_records
from views.figures.gantt import gantt
from views.figures.how_strip import LEAST, add_how_strip, shares_of_time
from views.parts import palette

WINDOW = (0.0, 4e-5)


def test_shares_of_each_stretch_add_up_to_what_partitions_did_in_it():
    edges, shares = shares_of_time(fabricate_records.episodes(lanes=3, each=4), WINDOW)
    np.testing.assert_allclose(sum(shares.values()), 1.0)
    first = edges[:-1] < 1e-5 - 1e-9  # the first quarter: half skipped, half simulated
    assert shares["skipped"][first].mean() == pytest.approx(0.5, abs=0.02)
    assert shares["replayed"][~first].min() == pytest.approx(1.0)


def test_where_nothing_was_under_way_there_is_nothing():
    _, shares = shares_of_time(fabricate_records.episodes(), (0.0, 8e-5))
    assert sum(shares.values())[121:].max() == 0


def test_bars_fill_the_strip_and_what_was_simulated_is_seen():
    episodes = fabricate_records.episodes(lanes=1, each=2).assign(skipped_from_s=1e-8, skipped_s=9.98e-6)
    figure = go.Figure()
    add_how_strip(figure, episodes, (0.0, 2e-5), row=-2, half=0.25, scale=1e-6)
    by_name = {trace.name: trace for trace in figure.data}
    assert list(by_name) == ["simulated", "replayed", "skipped"]
    assert min(by_name["simulated"].width) >= 0.5 * LEAST - 1e-12
    assert by_name["simulated"].marker.color == palette.HOW["simulated"]
    assert max(by_name["replayed"].width) == pytest.approx(0.5)


def test_the_gantt_chart_of_wormhole_mode_has_the_strip_on_top():
    result = fabricate.result(fabricate.scenario())
    assert gantt(result, [1], (0.0, result.end_s)).layout.yaxis.ticktext[0] == "critical path"
    figure = gantt(result, [1], (0.0, result.end_s), episodes=fabricate_records.episodes(length_s=result.end_s / 4))
    assert figure.layout.yaxis.ticktext[:2] == ("network", "critical path")
    assert {"simulated", "replayed", "skipped"} <= {trace.name for trace in figure.data}
