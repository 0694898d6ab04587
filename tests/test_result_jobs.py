"""Iterations and jobs of a run, each with its own time."""

import numpy as np
import pytest

from sim.modes import make_simulation
from sim.result_jobs import ends_ps
from sim.scenario import Scenario

BASE = {
    "cluster": {"topology": "rail-optimised", "gpus": 16, "gpus_per_node": 8},
    "model": {"name": "gpt-125m"},
    "parallelism": {"tp": 2, "pp": 2, "dp": 2, "micro_batches": 2},
}


def result_of(mode="flow", **changes):
    run = make_simulation(Scenario.from_data({**BASE, **changes}), mode)
    while not run.advance(10_000_000):
        pass
    return run.result()


def test_iterations_follow_one_another_and_take_as_long_each():
    once = result_of("packet").summary
    thrice = result_of("packet", parallelism={**BASE["parallelism"], "iterations": 3})
    summary = thrice.summary
    assert len(summary["iterations_s"]) == 3
    assert summary["iterations_s"] == pytest.approx([once["iteration_s"]] * 3, rel=1e-3)
    assert summary["iteration_s"] == pytest.approx(np.mean(summary["iterations_s"]))
    assert summary["flows"] == 3 * once["flows"]
    tasks = thrice.tasks
    ends = tasks.groupby(["rank", "iteration"])["end_s"].max().unstack()
    starts = tasks[tasks["kind"] == "forward"].groupby(["rank", "iteration"])["start_s"].min().unstack()
    assert (starts[1] >= ends[0] - 1e-12).all() and (starts[2] >= ends[1] - 1e-12).all()


def test_jobs_on_gpus_of_their_own_and_background_apart():
    job = {"name": "other", "gpus": 4, "start_us": 1000.0, "model": {"name": "gpt-125m"}, "parallelism": {"tp": 2, "dp": 2}}
    result = result_of(jobs=[job], background=[{"pattern": "random", "times": 5, "period_us": 1e5, "flow_bytes": 1000}])
    summary = result.summary
    assert [one["name"] for one in summary["jobs"]] == ["scenario", "other"]
    tasks, flows = result.tasks, result.flows
    assert set(tasks[tasks["job"] == 1]["rank"]) == {8, 9, 10, 11}
    first = tasks[(tasks["job"] == 1) & (tasks["kind"] == "forward")]["start_s"].min()
    assert first == pytest.approx(1e-3)
    other = summary["jobs"][1]["iteration_s"]
    assert tasks[tasks["job"] == 1]["end_s"].max() - 1e-3 == pytest.approx(other, rel=1e-2)
    assert (flows["job"] == -1).sum() == 5
    assert summary["iteration_s"] < summary["simulated_s"], "background goes on after the job"


def test_an_unfinished_iteration_has_no_time():
    result = result_of(parallelism={**BASE["parallelism"], "iterations": 2}, simulation={"time_limit_s": 0.0001})
    assert result.summary["iteration_s"] is None
    assert result.summary["iterations_s"] == [None, None]
    assert (ends_ps(result.raw)[0] == -1).all()


def test_a_slow_gpu_and_jitter_lengthen_an_iteration():
    even = result_of().summary["iteration_s"]
    slow = result_of(stragglers=[{"gpu": 3, "speed": 0.5}]).summary["iteration_s"]
    assert slow > 1.1 * even
    jitter = {**BASE["parallelism"], "compute_jitter": 0.1}
    drawn = result_of(parallelism=jitter).summary["iteration_s"]
    assert even < drawn < 1.5 * even
    assert drawn == result_of(parallelism=jitter).summary["iteration_s"]
    assert drawn != result_of(parallelism=jitter, simulation={"seed": 2}).summary["iteration_s"]
