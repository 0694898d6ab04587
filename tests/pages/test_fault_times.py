"""Faults of a run in words and as moments, and the line about them on the pages that show a run over time."""

import pytest

from sim.preset import load_preset
from sim.simulation import Simulation
from tests import fabricate
from tests.pages.app_under_test import go, press, run_now, widget
from views.parts.fault_times import moments, words


def of(*faults):
    return fabricate.result(load_preset("link-failure").replace_all({"faults": list(faults)}))


def fault(kind, at_us=100.0, **more):
    return {"kind": kind, "a": "leaf0", "at_us": at_us, **({} if kind.startswith("switch") else {"b": "spine0"}), **more}


@pytest.mark.parametrize(
    "one, wanted",
    [
        (fault("link-down"), "leaf0–spine0 fails"),
        (fault("link-up"), "leaf0–spine0 works again"),
        (fault("switch-down"), "leaf0 fails"),
        (fault("degrade", rate_factor=0.5), "leaf0–spine0 slows down to 50 %"),
        (fault("loss", probability=0.001), "leaf0–spine0 loses packets: 0.1 %"),
    ],
)
def test_a_fault_names_its_link_or_switch(one, wanted):
    result = of(one)
    assert words(result.scenario.faults[0], result.network) == wanted


def test_moments_are_those_that_the_run_got_to_in_order():
    result = of(fault("link-up", 600), fault("link-down", 200), fault("switch-down", 200), fault("link-down", 1e9))
    assert moments(result) == {2e-4: "2 faults", 6e-4: "leaf0–spine0 works again"}


@pytest.mark.parametrize("page", ["timeline", "network", "partitions"])
def test_each_page_says_what_failed_and_when(app, page):
    widget(app.selectbox, "Preset").select("link-failure").run()
    told = [caption.value for caption in go(run_now(app), page).caption if "By the scenario" in caption.value]
    assert len(told) == 1 and "**leaf0–spine0 fails** at 200 µs, **leaf0–spine0 works again** at 600 µs" in told[0]


def test_without_faults_nothing_is_said(app):
    assert not [caption for caption in go(run_now(app), "network").caption if "By the scenario" in caption.value]


def test_pages_show_every_way_of_a_flow_and_since_when(app, scripted):
    widget(app.selectbox, "Preset").select("link-failure").run()
    press(app, "Run")
    scripted.latest.end()
    scripted.latest.result = result = Simulation(scripted.latest.scenario).run()
    flow = int(result.raw.reroutes.flow[0])
    go(app, "timeline")
    widget(app.selectbox, "Flow").set_value(flow).run()
    (hops,) = [frame.value for frame in app.dataframe if "port" in frame.value]
    assert list(dict.fromkeys(hops["since"])) == ["0 s", "200 µs", "600 µs"] and len(hops) == sum(len(ports) for _, ports in result.flow_paths(flow))
    assert any("from 200 µs, 600 µs on it took another way" in caption.value for caption in app.caption)
    go(app, "network")
    widget(app.selectbox, "Port").set_value(result.flow_paths(flow)[1][1][1]).run()
    shown = next(frame.value for frame in app.dataframe if "here_since_s" in frame.value)
    row = shown[shown["flow_id"] == flow].iloc[0]
    assert (row["here_since_s"], row["here_until_s"]) == (2e-4, 6e-4)
