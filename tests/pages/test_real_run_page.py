"""The pages over a real simulation: one click, a result, and what the other pages make of it."""

import time

import pytest
import streamlit as st

from tests.pages.app_under_test import go, opened, press, widget

PATIENCE_S = 300  # the first run on a machine compiles the kernel


@pytest.fixture(autouse=True)
def scripted():
    """No scripted job here: the engine itself runs."""
    st.cache_resource.clear()


def wait_for_result(app):
    deadline = time.monotonic() + PATIENCE_S
    while "Cancel" in [button.label for button in app.button]:
        assert time.monotonic() < deadline, "the run did not end"
        time.sleep(0.2)
        app.run()
        assert not app.exception, app.exception


@pytest.mark.parametrize("preset", ["incast-16", "gpt-small-16", "link-failure"])
def test_all_pages_of_a_real_run(preset):
    app = opened()
    widget(app.selectbox, "Preset").select(preset).run()
    press(app, "Run")
    wait_for_result(app)
    assert app.metric[0].label == ("Iteration time" if preset == "gpt-small-16" else "Completion time") and not app.error
    assert "flows finished" in " ".join(caption.value for caption in app.caption)
    assert len(go(app, "timeline").get("plotly_chart")) == 2
    assert len(go(app, "network").get("plotly_chart")) == 2
    assert len(go(app, "partitions").get("plotly_chart")) == 2
    undivided = any("What was not divided is one lane" in caption.value for caption in app.caption)
    assert undivided or preset != "link-failure"
    assert len(go(app, "patterns").get("plotly_chart")) >= 2 and len(app.dataframe) == 1
    press(go(app, "accuracy"), "Run flow and packet mode beside it")
    wait_for_result(app)
    assert "Identical" in app.success[0].value and len(app.get("plotly_chart")) == 4
