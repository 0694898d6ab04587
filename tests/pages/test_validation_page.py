"""Validation page: the project's table without a run, another table, one that is refused."""

import pytest

from tests.pages.app_under_test import go
from tests.published_rows import GPT_175B, table


@pytest.fixture
def validation(app):
    return go(app, "validation")


def upload(app, content):
    app.file_uploader(key="published").upload("own.csv", content, "text/csv").run()
    return app


def test_it_needs_no_run(validation):
    assert not validation.exception
    figures = {metric.label: metric.value for metric in validation.metric}
    assert figures["Rows compared"] == "92" and figures["Memory: worst error"] == "0 %"
    assert float(figures["Steps: mean error"].removesuffix(" %")) < 6
    assert any("not compared" in expander.label for expander in validation.expander)
    assert {button.label for button in validation.get("download_button")} >= {"Everything as JSON", "Rows as CSV", "The project's own table, as a pattern"}


def test_every_kind_is_drawn(validation):
    for kind in ("memory", "collective", "iteration"):
        validation.segmented_control(key="kind").set_value(kind).run()
        assert not validation.exception


def test_another_table(validation):
    app = upload(validation, table(GPT_175B))
    assert not app.exception
    assert {metric.label: metric.value for metric in app.metric}["Rows compared"] == "1"
    assert any("own.csv" in caption.value for caption in app.caption)


def test_a_table_that_is_none_is_told_in_one_line(validation):
    app = upload(validation, table({**GPT_175B, "tp": "eight"}))
    assert not app.exception and not app.metric
    assert "line 2: tp = 'eight'" in app.error[0].value
    assert not app.get("popover"), "a popover would lie over the line"
