"""Run page: from the button to progress, cancel, figures, notices, and every way a run can end."""

import gzip
import json
from types import SimpleNamespace

import pytest

from sim.formats import perfetto
from sim.preset import load_preset, to_link
from tests.pages.app_under_test import close_the_tab, go, linked, opened, press, run_now, widget
from views.parts import downloads, runs
from views.parts.words import show_time


def figures(app):
    return {metric.label: metric.value for metric in app.metric}


def test_without_a_run_the_page_offers_one(app):
    go(app, "run")
    assert app.info[0].value == "Nothing has been simulated yet."
    press(app, "Run this scenario")
    assert "Cancel" in [button.label for button in app.button]


def test_run_button_starts_the_chosen_preset_and_shows_the_compilation(app, scripted):
    press(app, "Run")
    assert [title.value for title in app.title] == ["Run"]
    assert scripted.latest.scenario == load_preset("incast-16")
    assert "Compiling the kernel (first run only)" in app.get("progress")[0].proto.text


def test_progress_says_what_is_done_and_what_is_left(app, scripted):
    press(app, "Run")
    scripted.latest.run_to(0.25)
    app.run()
    bar = app.get("progress")[0].proto
    assert bar.value == 25 and bar.text == "Simulating what is new: 25 %, about 4 s left"
    assert figures(app) == {
        "Simulated time": "250 µs",
        "Packet-hops": "250,000",
        "Flows finished": "4 of 16",
        "Bytes left": "12.0 MB",
    }


def test_finished_run_shows_its_headline_figures(finished):
    shown = figures(finished)
    assert list(shown) == [
        "Completion time", "Mean flow completion", "99th percentile", "Slowest flow",
        "ECN marks", "PFC pauses", "Deepest queue", "Packets lost",
        "Simulated", "Replayed", "Skipped", "States remembered",
    ]  # fmt: skip
    assert [shown[name] for name in ("Simulated", "Replayed", "Skipped", "States remembered")] == ["10 %", "50 %", "40 %", "7"]
    assert shown["Completion time"] == "1.30 ms"
    assert not finished.warning and "16 of 16 flows finished" in " ".join(one.value for one in finished.caption)


def test_a_run_of_which_little_repeats_says_so_while_it_runs(app, scripted):
    press(app, "Run")
    scripted.latest.run_to(0.5)
    assert not any("Little repeats so far" in caption.value for caption in app.run().caption)
    scripted.latest.progress.kernel["packet_hops"].update(executed=400_000, irreducible=400_000, replayed=50_000, skipped=50_000)
    assert any("Little repeats so far" in caption.value for caption in app.run().caption)


def test_a_run_in_wormhole_mode_shows_live_where_its_packet_hops_come_from(app, scripted):
    press(app, "Run")
    scripted.latest.run_to(0.25)
    app.run()
    assert len(app.get("plotly_chart")) == 1
    assert any("7 states of partitions known, met again 21 times" in caption.value for caption in app.caption)


@pytest.mark.parametrize(("mode", "bar"), [("packet", "Simulating every packet: 25 %"), ("flow", "Sharing out rates: 25 %")])
def test_other_modes_have_no_such_bar_and_say_what_they_do(app, scripted, mode, bar):
    widget(app.get("button_group"), "Mode").set_value(mode).run()
    press(app, "Run")
    assert scripted.latest.scenario.simulation.mode == mode
    scripted.latest.run_to(0.25)
    app.run()
    assert app.get("progress")[0].proto.text.startswith(bar) and not app.get("plotly_chart")
    scripted.latest.end()
    app.run()
    assert "Replayed" not in figures(app) and not app.exception


def test_the_mode_can_be_chosen_beside_the_result_and_run_again(finished, scripted):
    widget(finished.get("button_group"), "Mode").set_value("packet").run()
    assert linked_mode(finished) == "packet"
    press(finished, "Run again")
    assert scripted.latest.mode == "packet"
    go(finished, "build")
    widget(finished.get("button_group"), "Mode").set_value("wormhole").run()
    assert linked_mode(finished) == "wormhole"


def linked_mode(app):
    return linked(app).simulation.mode


def test_cancel_keeps_the_partial_result_and_marks_it(app, scripted):
    press(app, "Run")
    scripted.latest.run_to(0.5)
    app.run()
    press(app, "Cancel")
    app.run()
    assert scripted.latest.state == "cancelled"
    assert "Partial result (cancelled)" in app.warning[0].value and "flows unfinished" in app.warning[0].value
    assert "Simulated so far" in figures(app) and not {"Iteration time", "Completion time"} & set(figures(app))


def test_a_failed_run_is_one_line_and_a_way_back(app, scripted):
    press(app, "Run")
    scripted.latest.fail("deadlock: rank 3 waits for rank 4 waits for rank 3")
    app.run()
    assert [error.value for error in app.error] == ["deadlock: rank 3 waits for rank 4 waits for rank 3"]
    assert not app.exception
    press(app, "Back to Build")
    assert [title.value for title in app.title] == ["Build"]


def test_a_run_cancelled_while_compiling_has_nothing_to_show(app):
    press(app, "Run")
    press(app, "Cancel")
    app.run()
    assert app.warning[0].value.startswith("Cancelled before the simulation had begun")
    press(app, "Back to Build")


def test_slowdown_can_be_shown_instead_of_time(finished):
    finished.segmented_control(key="measure").set_value("Slowdown").run()
    assert not finished.exception
    assert any("1 is undisturbed" in caption.value for caption in finished.caption)


def test_a_result_of_another_scenario_says_so(finished):
    go(finished, "build")
    widget(finished.selectbox, "Preset").select("link-failure").run()
    go(finished, "run")
    assert "not the scenario as it now stands" in finished.info[0].value
    assert finished.subheader[0].value == "Incast: 16 senders, one receiver"


def test_a_finished_result_is_there_for_whoever_opens_the_same_link(finished):
    other = go(opened(), "run")
    assert figures(other)["Completion time"] == "1.30 ms"


def test_a_page_loaded_anew_finds_its_running_job_and_then_its_result(app, scripted):
    press(app, "Run")
    job = scripted.latest
    job.run_to(0.5)
    close_the_tab()
    again = go(opened(to_link(load_preset("incast-16"))), "run")
    assert job.state == "running" and figures(again)["Flows finished"] == "8 of 16"
    job.end()
    again.run()
    assert figures(again)["Completion time"] == "1.30 ms"


def test_a_job_that_ended_while_no_page_was_open_is_found_too(app, scripted):
    press(app, "Run")
    close_the_tab()
    scripted.latest.end()
    assert figures(go(opened(), "timeline"))["Completion time"]


def test_a_page_on_another_scenario_does_not_take_the_job(app, scripted):
    press(app, "Run")
    close_the_tab()
    other = go(opened(to_link(load_preset("link-failure"))), "run")
    assert other.info[0].value == "Nothing has been simulated yet."


def test_a_closed_tab_cancels_its_run_unless_somebody_comes_back_in_time(app, scripted, monkeypatch):
    timers = []
    monkeypatch.setattr(runs, "Timer", lambda *given: timers.append(given) or SimpleNamespace(start=lambda: None))
    press(app, "Run")
    job = scripted.latest
    job.run_to(0.1)
    close_the_tab()
    opened()
    close_the_tab()
    opened()
    for after_s, cancel, (alone,) in timers:
        assert after_s == runs.GRACE_S
        cancel(alone)
    assert job.state == "running"
    close_the_tab()
    assert job.state == "running"
    _, cancel, (alone,) = timers[-1]
    cancel(alone)
    assert job.state == "cancelled"
    assert go(opened(), "run").info[0].value == "Nothing has been simulated yet."


@pytest.mark.parametrize(
    ("name", "time"), [("gpt-small-16", "Iteration time"), ("link-failure", "Completion time"), ("parallel-links", "Completion time")]
)
def test_other_presets_run_too(app, name, time):
    widget(app.selectbox, "Preset").select(name).run()
    run_now(app)
    assert not app.exception and next(iter(figures(app))) == time


def test_what_was_simulated_beyond_the_run_is_said_and_no_share_of_it(app, scripted):
    press(app, "Run")
    scripted.latest.end()
    scripted.latest.result.raw.kernel["packet_hops"] = {"total": 64_000, "executed": 74_418, "replayed": 0, "skipped": 0, "irreducible": 64_000}
    app.run()
    assert figures(app)["Simulated"] == "100 %"
    (line,) = [caption.value for caption in app.caption if "packet-hops accounted for" in caption.value]
    assert "64,000 packet-hops accounted for, 64,000 of them simulated (and 10,418 more that were not needed in the end)" in line
    assert not any("116 %" in text.value for text in (*app.caption, *app.markdown))


def test_of_several_jobs_each_has_its_iteration_time(app):
    widget(app.selectbox, "Preset").select("two-tenants").run()
    run_now(app)
    shown = figures(app)
    assert shown["own job"] == shown["Iteration time"] and shown["mixture"] not in ("–", shown["own job"])
    assert not app.exception


def test_a_run_of_several_iterations_has_their_mean_and_their_spread(app, scripted):
    widget(app.selectbox, "Preset").select("gpt-small-16").run()
    app.segmented_control(key="section").set_value("Workload").run()
    widget(app.number_input, "Iterations").set_value(3).run()
    run_now(app)
    summary = scripted.latest.result.summary
    assert figures(app)["Iteration time"] == show_time(summary["iteration_s"]) and len(summary["iterations_s"]) == 3
    assert any(caption.value.startswith("Iteration time: mean of 3 iterations, ") for caption in app.caption)


def test_every_download_is_made_of_the_result(finished, scripted):
    result = scripted.latest.result
    trace = json.loads(gzip.decompress(downloads._packed(perfetto.trace(result))))
    assert trace["traceEvents"]
    assert [button.label for button in finished.get("download_button")] == [f"Download {name}" for name in ("CSV", "Parquet", "Perfetto trace", "HTML report")]
