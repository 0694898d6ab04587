"""The HTML report: whole, escaped, and without a reference to anything outside the file."""

import re

import pytest

from tests.fabricate import result, scenario, training
from views.figures.html_report import charts, html_report
from views.parts.words import show_bytes, show_time


@pytest.fixture(scope="module")
def page():
    return html_report(result(training(title="A <b>&amp; title</b>", description="</script><script>alert(1)</script>")))


def outside_scripts(page):
    return re.sub(r"<script\b.*?</script>", "", page, flags=re.DOTALL)


def test_nothing_is_loaded_from_anywhere(page):
    text = outside_scripts(page)
    assert not re.search(r"\b(?:src|href)\s*=|@import|url\(|<link|<iframe|<img", text)
    assert not re.search(r"<script[^>]*\bsrc", page)
    assert "default-src 'none'" in page


def test_texts_are_escaped(page):
    assert "<title>A &lt;b&gt;&amp;amp; title&lt;/b&gt;</title>" in page
    assert "alert(1)" in page and "<script>alert(1)" not in page


def test_it_holds_key_figures_charts_notices_dictionary_and_scenario(page):
    text = outside_scripts(page)
    for heading in ("Key figures", "Notices", "How long flows took", "Timeline", "Network at its busiest", "Data dictionary", "Scenario"):
        assert f"<h2>{heading}" in text
    assert text.count('class="plotly-graph-div"') == len(list(charts(result(training()))))
    assert "flow completion time: from start_s" in text and "[parallelism]" in text


def test_a_partial_result_says_so_first():
    page = html_report(result(scenario(), stop_after=0.5))
    assert page.index("PARTIAL RESULT (cancelled)") < page.index("Key figures")


def test_one_chart_more_for_slowdown_and_none_that_is_empty():
    assert [heading for heading, _, _ in charts(result(scenario()))][:2] == ["How long flows took", "Slowdown"]


@pytest.mark.parametrize(("made", "name"), [(scenario, "Completion time"), (training, "Iteration time")])
def test_the_time_of_a_run_is_called_what_it_is(made, name):
    page = html_report(result(made()))
    assert page.count(f"<div>{name}<b>") == 1
    assert ({"Completion time", "Iteration time"} - {name}).pop() + "<b>" not in page


def test_slowed_flows_are_told_in_words_and_units_in_a_table_that_scrolls_by_itself():
    run = result(scenario())
    table = html_report(run).partition("<h2>Most slowed down flows</h2>")[2].partition("</div>")[0]
    worst = run.flows.loc[run.flows["slowdown"].idxmax()]
    assert table.startswith('<div class="wide"><table>') and "fct_s" not in table and "nan" not in table
    cells = re.findall("<td>(.*?)</td>", table)[:9]
    assert cells == [
        str(worst["flow_id"]), "traffic", "–", str(worst["src"]), str(worst["dst"]), show_bytes(worst["bytes"]), show_time(worst["start_s"]),
        show_time(worst["fct_s"]), f"{worst['slowdown']:.2f}",
    ]  # fmt: skip
