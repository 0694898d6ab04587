"""Accuracy page: the runs beside the result, their progress and cancel, the verdict, and what each means of saving is worth."""

import threading
import time

import pytest

from sim.accuracy import fct_error
from tests import fabricate
from tests.pages.app_under_test import ScriptedJob, go, press, run_now
from views.parts import sensitivity
from views.parts.trials import Trial, Trials


@pytest.fixture
def accuracy(finished):
    return go(finished, "accuracy")


def wait_for(what):
    deadline = time.monotonic() + 10
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def all_ended():
    return "trials" not in [thread.name for thread in threading.enumerate()]


def next_job(after):
    wait_for(lambda: ScriptedJob.latest is not after)
    return ScriptedJob.latest


def run_all(app, button, count):
    """Press it, and let each of its jobs end; the modes that were run."""
    last, modes = ScriptedJob.latest, []
    press(app, button)
    for _ in range(count):
        last = next_job(last)
        modes.append((last.mode, last.options))
        last.end()
    wait_for(all_ended)
    app.run()
    assert not app.exception, app.exception
    return modes


def test_without_a_result_the_page_says_how_to_get_one(app):
    go(app, "accuracy")
    assert app.info[0].value == "Nothing has been simulated yet." and not app.get("plotly_chart")


def test_runs_flow_and_packet_mode_and_says_identical(accuracy):
    assert not accuracy.get("plotly_chart")
    assert run_all(accuracy, "Run flow and packet mode beside it", 2) == [("flow", {}), ("packet", {})]
    assert "Identical: start and end of 16 flows" in accuracy.success[0].value
    assert len(accuracy.get("plotly_chart")) == 4
    shown = {metric.label: metric.value for metric in accuracy.metric}
    assert shown["Wormhole: mean error"] == shown["Flow level: last flow"] == "0 %"


def test_a_difference_is_said_in_words(accuracy, scripted):
    press(accuracy, "Run flow and packet mode beside it")
    flow = next_job(scripted.latest) if scripted.latest.mode == "wormhole" else scripted.latest
    flow.end()
    packet = next_job(flow)
    packet.end()
    packet.result.raw.port_marks[0] += 1
    wait_for(all_ended)
    accuracy.run()
    assert accuracy.warning[0].value == "Not identical: 1 marks of ports differ from packet mode."


def test_progress_and_cancel(accuracy, scripted):
    first = scripted.latest
    press(accuracy, "Run flow and packet mode beside it")
    job = next_job(first)
    job.run_to(0.5)
    accuracy.run()
    assert [bar.proto.text for bar in accuracy.get("progress")][:1] == ["Flow level: 50 %, about 4 s left"]
    assert accuracy.get("progress")[1].proto.text == "Packet: waits for its turn …"
    press(accuracy, "Cancel")
    wait_for(all_ended)
    accuracy.run()
    assert job.state == "cancelled" and scripted.latest is job
    assert "Run flow and packet mode beside it" in [button.label for button in accuracy.button]


def test_each_means_of_saving_alone(accuracy):
    made = run_all(accuracy, "Switch replay and skip off, one at a time", 2)
    assert made == [("wormhole", {"replay": True, "skip": False}), ("wormhole", {"replay": False, "skip": True})]
    assert accuracy.subheader[-1].value == "Replay, skip, or both" and len(accuracy.get("plotly_chart")) == 1


def test_a_failed_run_is_one_line(accuracy, scripted):
    first = scripted.latest
    press(accuracy, "Run flow and packet mode beside it")
    job = next_job(first)
    job.fail("mode flow has no losses")
    packet = next_job(job)
    packet.end()
    wait_for(all_ended)
    accuracy.run()
    assert [error.value for error in accuracy.error] == ["Flow level: mode flow has no losses"]
    assert "Identical" in accuracy.success[0].value


def test_a_partial_result_is_not_compared(app):
    run_now(app, stop_after=0.3)
    go(app, "accuracy")
    assert any("went to its end" in info.value for info in app.info)


def test_levels_are_compared_by_controller(accuracy):
    made = run_all(accuracy, "Compare levels by controller", 20)
    assert made[:4] == [("packet", {}), *(("wormhole", {"level": level}) for level in ("exact", "bounded", "paper"))]
    table = accuracy.dataframe[0].value
    assert table["controller"].unique().tolist() == ["DCQCN", "HPCC", "TIMELY", "DCTCP", "Swift"]
    assert table["mean_error"].max() == 0 and table["simulated"].tolist() == [0.1] * 15
    assert not accuracy.get("plotly_chart") and any("Every completion time is that of packet mode" in caption.value for caption in accuracy.caption)
    assert "Compare levels by controller" not in [button.label for button in accuracy.button]


def test_theta_and_l_of_the_published_test_are_varied(accuracy):
    made = run_all(accuracy, "Vary θ and l of the published test", 13)
    assert made == [("packet", {}), *[("wormhole", {"level": "paper"})] * 12]
    assert accuracy.subheader[-1].value == "θ and l of the published test"
    assert len(accuracy.get("plotly_chart")) == 5 and "Vary θ and l of the published test" not in [button.label for button in accuracy.button]


def test_of_a_grid_only_what_is_compared_is_kept(scripted):
    desk = Trials()
    desk.begin("here", [Trial("theta 0.1 100", fabricate.scenario(), {"mode": "wormhole"}, keep=sensitivity.slim)])
    next_job(None).end()
    wait_for(lambda: not desk.busy)
    kept = desk.find("here", "theta 0.1 100")
    assert not hasattr(kept, "flows") and fct_error(kept, scripted.latest.result)["max"] == 0 < kept.summary["packet_hops"]["executed"]


def test_many_runs_are_one_bar_and_those_under_way(accuracy, scripted):
    first = scripted.latest
    press(accuracy, "Vary θ and l of the published test")
    job = next_job(first)
    job.end()
    job = next_job(job)
    job.run_to(0.25)
    accuracy.run()
    bars = [bar.proto.text for bar in accuracy.get("progress")]
    assert bars[0] == "1 of 13 runs done" and bars[1].startswith("θ 10 %, l 100: 25 %") and len(bars) == 5
    assert (job.scenario.simulation.paper_theta, job.scenario.simulation.paper_samples) == (0.1, 100)
    press(accuracy, "Cancel")
    wait_for(all_ended)
    accuracy.run()
    assert job.state == "cancelled" and "Vary θ and l of the published test" in [button.label for button in accuracy.button]


def test_runs_that_fail_alike_are_one_line(accuracy, scripted):
    last = scripted.latest
    press(accuracy, "Vary θ and l of the published test")
    for _ in range(13):
        last = next_job(last)
        last.end() if last.mode == "packet" else last.fail("level paper knows no links that lose packets")
    wait_for(all_ended)
    accuracy.run()
    assert [error.value for error in accuracy.error] == ["θ 10 %, l 100 and 11 more: level paper knows no links that lose packets"]
