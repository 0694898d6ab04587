"""Figures of congestion in words: what was counted in a mode with packets, a dash in mode flow."""

import pytest

from tests.fabricate import result, scenario
from views.figures.html_report import html_report
from views.parts.congestion import NOT_SIMULATED, OF_PORT, figures

COUNTED = {"ecn_marks": 1200, "pfc_pauses": 3, "max_queue_bytes": 40_000, "drops": 2, "losses": 5}


@pytest.mark.parametrize("mode", ["packet", "wormhole"])
def test_a_mode_with_packets_tells_what_was_counted(mode):
    told = {label: value for label, value, _ in figures({"mode": mode, **COUNTED})}
    assert told == {"ECN marks": "1,200", "PFC pauses": "3", "Deepest queue": "40.0 kB", "Packets lost": "7"}


def test_mode_flow_has_a_dash_and_says_why_also_of_a_port():
    of_port = figures({"mode": "flow"}, OF_PORT, {"max_queue_bytes": 0, "ecn_marks": 0, "paused_s": 0.0, "pauses": 0})
    for _, value, help in (*figures({"mode": "flow", **COUNTED}), *of_port):
        assert (value, help) == ("–", NOT_SIMULATED)


def test_the_report_of_a_run_in_mode_flow_has_no_count_of_what_was_not_simulated():
    run = result(scenario())
    run.raw.mode = "flow"
    page = html_report(run)
    assert page.count("– (not simulated)") == 4 and "<h2>Deepest queue" not in page
