"""Accuracy page: the runs beside the result, their progress and cancel, the verdict, and what each means of saving is worth."""

import threading
import time

import pytest

from tests.pages.app_under_test import ScriptedJob, go, press, run_now
from views.parts import modes


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
    assert shown["Wormhole: mean error"] == shown["Flow level: iteration"] == "0 %"


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


def test_levels_are_compared_by_controller_once_there_are_several(accuracy, monkeypatch):
    assert any(caption.value.startswith("Level: exact only") for caption in accuracy.caption) == (len(modes.BUILT_LEVELS) == 1)
    monkeypatch.setattr(modes, "BUILT_LEVELS", ("exact", "bounded"))
    accuracy.run()
    made = run_all(accuracy, "Compare levels by controller", 15)
    assert made[:3] == [("packet", {}), ("wormhole", {"level": "exact"}), ("wormhole", {"level": "bounded"})]
    table = accuracy.dataframe[0].value
    assert table["controller"].unique().tolist() == ["DCQCN", "HPCC", "TIMELY", "DCTCP", "Swift"]
    assert table["mean_error"].max() == 0 and table["simulated"].tolist() == [0.1] * 10
    assert len(accuracy.get("plotly_chart")) == 1 and "Compare levels by controller" not in [button.label for button in accuracy.button]
