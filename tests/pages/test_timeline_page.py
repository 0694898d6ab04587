"""Timeline page: rows chosen, time narrowed, one flow looked at."""

import pytest

from tests.pages.app_under_test import go, press, run_now, widget


@pytest.fixture
def gpt(app):
    widget(app.selectbox, "Preset").select("gpt-small-16").run()
    return go(run_now(app), "timeline")


def test_without_a_result_the_page_says_how_to_get_one(app):
    go(app, "timeline")
    assert app.info[0].value == "Nothing has been simulated yet." and not app.get("plotly_chart")


def test_shows_shares_gantt_and_one_flow(gpt):
    assert len(gpt.get("plotly_chart")) == 2
    assert any("went into: compute" in caption.value for caption in gpt.caption)
    assert "critical path" in widget(gpt.selectbox, "Flow").format_func(widget(gpt.selectbox, "Flow").value)
    assert [metric.label for metric in gpt.metric] == ["Completion time", "Alone on the path", "Slowdown", "ECN marks"]
    assert len(gpt.dataframe[0].value) >= 2


def test_the_bubble_is_explained_by_its_formula_with_this_runs_numbers(gpt):
    (line,) = [caption.value for caption in gpt.caption if "bubble*" in caption.value]
    assert "(p − 1)/m = 1/2 = 50 % of the work" in line and "In this run it is " in line
    assert gpt.subheader[0].value == "A small GPT on two servers"


def test_zoom_narrows_the_time_to_the_flow(gpt):
    whole = gpt.slider[0].value
    press(gpt, "Zoom to it")
    narrow = gpt.slider[0].value
    assert narrow[1] - narrow[0] < (whole[1] - whole[0]) / 2


def test_many_ranks_are_chosen_by_stage_path_or_by_hand(app):
    widget(app.selectbox, "Preset").select("gpt-7b-64").run()
    go(run_now(app), "timeline")
    view = widget(app.selectbox, "Ranks shown")
    assert view.options == ["A few of every stage", "On the critical path", "Stage 0", "Stage 1", "Pick ranks"]
    for option in view.options:
        widget(app.selectbox, "Ranks shown").select(option).run()
        assert not app.exception, option
    app.multiselect[0].set_value([3, 40]).run()
    assert not app.exception


def test_plain_traffic_has_a_timeline_too(finished):
    go(finished, "timeline")
    assert len(finished.get("plotly_chart")) == 2
    press(finished, "Zoom to it")


def test_window_and_flow_are_kept_while_on_another_page_but_not_for_another_run(gpt):
    widget(gpt.selectbox, "Flow").select_index(4).run()
    press(gpt, "Zoom to it")
    kept = widget(gpt.selectbox, "Flow").value, gpt.slider[0].value
    go(go(gpt, "network"), "timeline")
    assert (widget(gpt.selectbox, "Flow").value, gpt.slider[0].value) == kept
    go(gpt, "build")
    widget(gpt.selectbox, "Preset").select("incast-16").run()
    go(run_now(gpt), "timeline")
    assert gpt.slider[0].value == (0.0, gpt.slider[0].max)


def test_partial_results_are_drawn_and_marked(app):
    widget(app.selectbox, "Preset").select("gpt-small-16").run()
    run_now(app, stop_after=0.3)
    go(app, "timeline")
    assert "Partial result" in app.warning[0].value
    assert len(app.get("plotly_chart")) == 2
