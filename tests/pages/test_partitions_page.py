"""Partitions page: lanes, a moment, a partition on the network; choices kept and forgotten; what other modes say."""

from dataclasses import replace

import numpy as np
import pytest

from tests.pages.app_under_test import go, press, run_now, widget


@pytest.fixture
def partitions(finished):
    return go(finished, "partitions")


def test_without_a_result_the_page_says_how_to_get_one(app):
    go(app, "partitions")
    assert app.info[0].value == "Nothing has been simulated yet." and not app.get("plotly_chart")
    press(app, "Run this scenario")


def test_shows_counts_lanes_and_a_partition_on_the_network(partitions):
    assert len(partitions.get("plotly_chart")) == 2
    assert {metric.label: metric.value for metric in partitions.metric} == {
        "Partitions formed": "6", "Merges": "2", "Splits": "1", "Largest": "4 flows", "Simulated": "10 %",
    }  # fmt: skip
    assert any("Only the dark stretches were simulated" in caption.value for caption in partitions.caption)
    assert partitions.subheader[0].value == "Incast: 16 senders, one receiver"


def test_says_that_lines_lead_to_what_a_set_became_or_that_it_cannot_be_told(finished, scripted):
    result = scripted.latest.result
    result.partitions = result.partitions.assign(came_from=["", "0"], went_into=["2", ""])
    page = go(finished, "partitions")
    assert any("A thin line leads from a set" in caption.value for caption in page.caption)
    result.partitions = result.partitions.assign(came_from=None, went_into=None)
    page = go(go(finished, "timeline"), "partitions")
    assert any("came from which cannot be told" in caption.value for caption in page.caption) and not page.exception


def test_the_moment_can_be_moved_to_where_nothing_is_sent(partitions):
    slider = next(one for one in partitions.slider if one.label.startswith("Moment"))
    slider.set_value(slider.max).run()
    assert not partitions.exception
    assert any("nothing is being sent" in caption.value for caption in partitions.caption)


def test_the_choice_is_kept_on_other_pages(partitions):
    slider = next(one for one in partitions.slider if one.label.startswith("Moment"))
    slider.set_value(slider.max / 4).run()
    go(go(partitions, "timeline"), "partitions")
    again = next(one for one in partitions.slider if one.label.startswith("Moment"))
    assert again.value == pytest.approx(slider.max / 4, rel=1e-3)


def test_a_run_of_another_mode_offers_wormhole_mode(app, scripted):
    widget(app.get("button_group"), "Mode").set_value("packet").run()
    go(run_now(app), "partitions")
    assert "made in mode packet" in app.info[0].value
    press(app, "Run it in wormhole mode")
    assert scripted.latest.scenario.simulation.mode == "wormhole"


def test_partial_results_are_drawn_and_marked(app):
    run_now(app, stop_after=0.3)
    go(app, "partitions")
    assert "Partial result" in app.warning[0].value and len(app.get("plotly_chart")) == 2


def test_a_run_that_went_on_packet_by_packet_says_so_and_shows_the_rest_as_one_lane(app, scripted):
    press(app, "Run")
    scripted.latest.end()
    result = scripted.latest.result
    result.raw.notices.append("From 1 ms on every packet was simulated: a link changes.")
    rest = np.array([[0.6e12 * result.end_s, 1e12 * result.end_s, 1000]], np.int64)
    result.raw = replace(result.raw, records=replace(result.raw.records, undivided=rest))
    result.episodes = result.episodes[result.episodes["end_s"] < 0.6 * result.end_s]
    go(app, "partitions")
    assert any("a link changes. What was not divided is one lane" in caption.value for caption in app.caption)
    slider = next(one for one in app.slider if one.label.startswith("Moment"))
    slider.set_value(0.8 * slider.max).run()
    assert not app.exception and len(app.get("plotly_chart")) == 2
    assert any("all flows under way queue in. They are simulated together" in caption.value for caption in app.caption)
    assert any(text.value.startswith("**Not divided here**") for text in app.markdown)
    assert not [box for box in app.selectbox if box.label.startswith("Partition (")]
    result.episodes, result.patterns = result.episodes.head(0), result.patterns.head(0)
    go(app, "partitions")
    assert len(app.get("plotly_chart")) == 2
    go(app, "patterns")
    assert "a link changes. The network was not divided" in app.info[0].value
