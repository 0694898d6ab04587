"""Timeline page: rows chosen, time narrowed, one flow looked at."""

import pytest

from tests import fabricate
from tests.pages.app_under_test import go, press, run_now, widget
from views.parts import ranks
from views.parts.words import show_time


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
    assert "(p − 1)/m = 1/2 = 50 % of the work" in line and "In this run " in line and "of it are on the critical path" in line
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


@pytest.fixture
def tenants(app):
    widget(app.selectbox, "Preset").select("two-tenants").run()
    return go(run_now(app), "timeline")


def bubbles(app):
    return [caption.value for caption in app.caption if "bubble*" in caption.value]


def test_of_several_jobs_one_or_all_are_shown(tenants):
    assert tenants.segmented_control(key="timeline job").options == ["All jobs", "own job", "mixture"]
    (line,) = bubbles(tenants)
    assert "own job: with 1F1B (p − 1)/m = 1/2" in line and "; mixture: with 1F1B" in line and "In this run" not in line
    flow = widget(tenants.selectbox, "Flow")
    assert " of own job" in flow.format_func(flow.value) or " of mixture" in flow.format_func(flow.value)
    tenants.segmented_control(key="timeline job").set_value(1).run()
    assert not tenants.exception and "mixture:" not in bubbles(tenants)[0]
    widget(tenants.selectbox, "Ranks shown").select("Stage 1").run()
    assert not tenants.exception
    widget(tenants.selectbox, "Ranks shown").select("Pick ranks").run()
    picked = tenants.multiselect[0]
    assert min(picked.value) >= 32 and picked.format_func(48) == "rank 48 (stage 1)"


def test_a_flow_of_another_job_is_zoomed_to_all_the_same(tenants):
    tenants.segmented_control(key="timeline job").set_value(0).run()
    press(tenants, "Zoom to it")
    assert tenants.segmented_control(key="timeline job").value == "All jobs" and not tenants.exception


def test_ranks_know_their_job_and_stage_wherever_they_are_placed():
    scenario = fabricate.training(parallelism={"tp": 2, "pp": 2, "dp": 2, "cp": 2, "placement": "random"})
    result = fabricate.result(scenario)
    (job,) = ranks.jobs(result)
    for stage, gpus in enumerate(job.stages):
        layers = result.tasks.loc[result.tasks["rank"].isin(gpus) & (result.tasks["kind"] == "forward"), "layer"]
        assert set(layers) == set(range(6 * stage, 6 * stage + 6 + stage))  # the last stage has the head, too
    names = ranks.labels([job])
    assert len(names) == 16 and names[int(job.stages[1][0])] == f"rank {job.stages[1][0]} (stage 1)"


def test_ends_of_iterations_are_marked_per_job():
    scenario = fabricate.training(
        cluster={"topology": "rail-optimised", "gpus": 24, "gpus_per_node": 4}, parallelism={"tp": 4, "pp": 2, "dp": 2, "iterations": 3},
        jobs=[{"name": "other", "model": {"name": "gpt-125m"}, "parallelism": {"tp": 4, "dp": 1}}], background=[{"times": 50}],
    )  # fmt: skip
    result = fabricate.result(scenario)
    own, other, nobody = ranks.jobs(result)
    assert (other.gpus.tolist(), nobody.name, nobody.gpus.tolist()) == ([16, 17, 18, 19], "no job", [20, 21, 22, 23])
    words = set(ranks.marks(result, [own, other]).values())
    assert words == {"own job iteration 1 ends", "own job iteration 2 ends", "own job iteration 3 ends", "other ends"}
    times = sorted(ranks.marks(result, [own]))
    ends = result.tasks[result.tasks["job"] == 0].groupby("iteration")["end_s"].max()
    assert len(times) == 3 and all(mark >= end for mark, end in zip(times, ends, strict=True))
    assert ranks.marks(fabricate.result(fabricate.training()), [own]) == {}


def test_slow_ranks_are_named(app):
    widget(app.selectbox, "Preset").select("straggler").run()
    go(run_now(app), "timeline")
    assert any("**rank 5 at 60 % of the others' speed**" in caption.value for caption in app.caption)


def test_a_slow_gpu_is_named_with_what_it_costs_on_the_critical_path(app, scripted):
    widget(app.selectbox, "Preset").select("straggler").run()
    go(run_now(app), "timeline")
    result = scripted.latest.result
    path = result.critical_path
    there = path[(path["rank"] == 5) & path["kind"].isin(["forward", "backward", "weight", "recompute"])]
    took = (there["end_s"] - there["start_s"]).sum()
    (line,) = [caption.value for caption in app.caption if "Slow by the scenario" in caption.value]
    assert took > 0 and "rank 5 at 60 %" in line
    assert f"{show_time(took)} are computed there, {show_time(0.4 * took)} more" in line
