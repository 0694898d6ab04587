"""Conflict patterns page: a gallery in the order asked for, one pattern close up, files to take away."""

import pytest

from tests.pages.app_under_test import go, press, run_now, widget


@pytest.fixture
def patterns(finished):
    return go(finished, "patterns")


def cards(app):
    return [line.value for line in app.markdown if line.value.startswith("Pattern ")]


def test_without_a_result_the_page_says_how_to_get_one(app):
    go(app, "patterns")
    assert app.info[0].value == "Nothing has been simulated yet." and not app.get("plotly_chart")


def test_a_gallery_of_those_that_save_most_and_one_close_up(patterns):
    assert len(cards(patterns)) == 5 and len(patterns.get("plotly_chart")) == 6
    assert {metric.label: metric.value for metric in patterns.metric[:2]} == {"Patterns": "16", "Times met": "280"}
    assert cards(patterns)[0] == "Pattern 1: **2 flows**, 8 ports"
    press(patterns, "Show 10 more of 11")
    assert len(cards(patterns)) == 15
    press(patterns, "Show the last one")
    assert len(cards(patterns)) == 16


def test_the_order_can_be_chosen(patterns):
    widget(patterns.get("button_group"), "Sort by").set_value("Flows").run()
    assert cards(patterns)[0] == "Pattern 15: **16 flows**, 64 ports"


def test_a_closer_look_shows_flows_and_shared_ports(patterns):
    widget(patterns.selectbox, "Pattern").set_value(2).run()
    assert not patterns.exception
    assert list(patterns.dataframe[0].value["flow"]) == [0, 1, 2]
    widget(patterns.get("button_group"), "Table").set_value("Shared ports").run()
    shared = patterns.dataframe[0].value
    assert shared["flows"].tolist() == [3, 3] and shared["with data"].tolist() == [3, 0]
    widget(patterns.get("button_group"), "Table").set_value("Pairs").run()
    assert patterns.dataframe[0].value["share"].tolist() == [2, 2, 2]
    assert [button.label for button in patterns.get("download_button")] == ["Download GraphML", "Download JSON"]


def test_a_lone_flow_shares_nothing(patterns):
    widget(patterns.selectbox, "Pattern").set_value(0).run()
    widget(patterns.get("button_group"), "Table").set_value("Pairs").run()
    assert any("lone flow" in caption.value for caption in patterns.caption) and not patterns.exception


def test_a_run_of_another_mode_offers_wormhole_mode(app):
    widget(app.get("button_group"), "Mode").set_value("flow").run()
    go(run_now(app), "patterns")
    assert "made in mode flow" in app.info[0].value
