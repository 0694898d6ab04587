"""The HTML report in a browser: every chart is drawn, nothing is asked for, nothing complains."""

import pytest

from tests.browser.conftest import need_browser
from tests.fabricate import result, training
from views.figures.html_report import charts, html_report


@pytest.fixture(autouse=True)
def browser_is_there():
    need_browser()


def test_every_chart_is_drawn_without_a_request(browse):
    run = result(training())
    page = browse(width=1200)
    page.set_content(html_report(run))
    number = len(list(charts(run)))
    page.wait_for_function(f"document.querySelectorAll('.plotly-graph-div.js-plotly-plot').length === {number}")
    assert page.locator("svg.main-svg").first.is_visible()
    page.get_by_text("Unit and meaning of every column of the tables").click()
    assert page.get_by_role("cell", name="flow, in the order of the workload").is_visible()
