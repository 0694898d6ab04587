"""Jobs: the way through their states, cancelling at every point of it, failures as one line, several at once."""

import sys
import threading
import time

import numpy as np
import pytest

from sim import job as jobs
from sim.errors import ScenarioError
from sim.job import Job, warm_up
from sim.preset import load_preset
from sim.simulation import Simulation


@pytest.fixture(scope="module", autouse=True)
def compiled():
    assert warm_up().wait(600) and warm_up().state == "ready", warm_up().error


def ended(job, timeout=60):
    job.start()
    assert job.wait(timeout)
    return job


def long_run():
    return load_preset("incast-16").replace_all({"traffic.flow_bytes": 500_000_000, "simulation.mode": "packet"})


def running(job, timeout=60):
    """The job, started and past its first quantum."""
    job.start()
    until = time.monotonic() + timeout
    while job.progress is None or job.progress.packet_hops == 0:
        assert job.state not in jobs.ENDED, (job.state, job.error)
        assert time.monotonic() < until
        time.sleep(0.005)
    return job


def test_a_job_ends_with_the_result_of_the_same_simulation():
    scenario = load_preset("incast-16")
    job = Job(scenario, "packet")
    assert (job.state, job.progress, job.result, job.error) == ("waiting", None, None, None)
    ended(job)
    assert (job.state, job.error) == ("finished", None)
    assert job.progress.fraction == 1 and job.progress.flows_finished == 16 and job.progress.bytes_left == 0
    alone = Simulation(scenario).run()
    assert np.array_equal(job.result.raw.acked_ps, alone.raw.acked_ps)
    assert job.result.summary["packet_hops"] == alone.summary["packet_hops"]


def test_the_scenario_says_the_mode_unless_the_job_does():
    scenario = load_preset("gpt-small-16")
    assert (Job(scenario).mode, Job(scenario).level) == ("wormhole", "exact")
    assert Job(scenario.replace("simulation.mode", "flow")).mode == "flow"
    assert Job(scenario.replace("simulation.level", "paper"), "packet").level == "paper"


@pytest.mark.parametrize("mode", ["wormhole", "packet", "flow"])
def test_a_job_runs_any_mode(mode):
    job = ended(Job(load_preset("gpt-small-16"), mode))
    assert (job.state, job.error, job.result.summary["mode"]) == ("finished", None, mode)
    assert (job.progress.kernel is None) == (mode != "wormhole")


def test_level_paper_is_run_and_cancelled_like_any_other():
    job = ended(Job(load_preset("gpt-small-16"), level="paper", memo="none"))
    assert (job.state, job.error, job.result.summary["level"]) == ("finished", None, "paper") and job.progress.kernel["memo"]["hits"] > 0
    job = Job(load_preset("incast-16").replace("traffic.flow_bytes", 500_000_000), level="paper")
    job.start()
    while job.progress is None or job.progress.fraction == 0:
        assert not job.wait(0.01)
    job.cancel()
    assert job.wait(20) and job.state == "cancelled" and 0 < job.result.summary["bytes_left"] < 8e9


def test_progress_of_the_wormhole_kernel_says_how_hops_came_about():
    job = ended(Job(load_preset("gpt-small-16")))
    kernel, hops = job.progress.kernel, job.progress.kernel["packet_hops"]
    assert hops["total"] == job.progress.packet_hops == job.result.summary["packet_hops"]["total"]
    assert 0 < hops["executed"] < hops["skipped"] < hops["replayed"] and kernel["memo"]["hits"] > kernel["memo"]["patterns"] > 0


def test_switches_reach_the_kernel():
    whole, no_replay, no_skip = (
        ended(Job(load_preset("gpt-small-16"), **given)).result for given in ({}, {"replay": False}, {"skip": False})
    )
    assert no_replay.summary["packet_hops"]["replayed"] == 0 < no_replay.summary["packet_hops"]["skipped"]
    assert no_skip.summary["packet_hops"]["skipped"] == 0 < no_skip.summary["packet_hops"]["replayed"]
    for other in (no_replay, no_skip):
        assert np.array_equal(other.raw.acked_ps, whole.raw.acked_ps)


def test_a_memo_is_begun_with_and_added_to(tmp_path):
    cold, warm = (ended(Job(load_preset("gpt-small-16"), memo=str(tmp_path / "memo.sqlite"))).result for _ in range(2))
    assert cold.summary["packet_hops"]["executed"] > 0 == warm.summary["packet_hops"]["executed"]
    assert np.array_equal(cold.raw.acked_ps, warm.raw.acked_ps) and list(tmp_path.iterdir())
    assert ended(Job(load_preset("gpt-small-16"), memo="none")).result.summary["packet_hops"]["executed"] > 0


def test_mode_flow_waits_for_no_compilation(monkeypatch):
    monkeypatch.setattr(jobs, "warm_up", lambda: pytest.fail("mode flow compiles no packet kernel"))
    assert ended(Job(load_preset("incast-16"), "flow")).state == "finished"


@pytest.mark.parametrize("given", [{"mode": "pocket"}, {"level": "papre"}])
def test_what_is_not_there_is_one_line_before_anything_is_compiled(monkeypatch, given):
    monkeypatch.setattr(jobs, "warm_up", lambda: pytest.fail("nothing to compile for"))
    job = ended(Job(load_preset("incast-16"), **given))
    assert job.state == "failed" and "\n" not in job.error and next(iter(given.values())) in job.error


def test_compilation_is_never_charged_to_the_kernel():
    spent = ended(Job(load_preset("gpt-small-16"))).result.summary["cpu_s"]
    assert spent["compile"] == 0, "it was ready before this job began"
    assert spent["total"] == pytest.approx(sum(spent.values()) - spent["total"])


@pytest.mark.parametrize("mode", ["wormhole", "packet"])
@pytest.mark.parametrize("name", ["gpt-small-16-slow-link", "link-failure", "parallel-links", "incast-16-hpcc"])
def test_a_warmed_up_process_compiles_nothing_more(name, mode):
    before = signatures()
    scenario = load_preset(name)
    if scenario.traffic is None:
        scenario = scenario.replace("parallelism.bucket_parameters", 2_000_000)
    result = ended(Job(scenario, mode)).result
    len(result.critical_path)
    assert signatures() == before


def signatures():
    """Every compiled function of the project, with the number of types it has been compiled for."""
    modules = [module for name, module in sys.modules.items() if name.startswith("sim.")]
    functions = {
        id(value): value for module in modules for value in vars(module).values() if hasattr(value, "overloads")
    }
    return {
        f"{value.py_func.__module__}.{value.py_func.__name__}": len(value.overloads) for value in functions.values()
    }


def test_cancel_keeps_the_partial_result_and_marks_it():
    job = running(Job(long_run()))
    began = time.monotonic()
    job.cancel()
    assert job.wait(5) and time.monotonic() - began < 1
    assert job.state == "cancelled" and job.result.status == "cancelled"
    summary = job.result.summary
    assert summary["iteration_s"] is None and 0 < summary["packet_hops"]["total"]
    assert summary["flows_finished"] < 16 and 0 < summary["bytes_left"] < 16 * 500_000_000
    assert "Partial result" in " ".join(job.result.notices)


def test_progress_comes_and_grows():
    job = running(Job(long_run()))
    first = job.progress
    time.sleep(0.4)
    second = job.progress
    job.cancel()
    assert job.wait(5)
    assert first.packet_hops < second.packet_hops and first.fraction < second.fraction < 1
    assert second.sim_time_s > first.sim_time_s and second.bytes_left < first.bytes_left


def test_cancel_before_the_start_leaves_nothing():
    job = Job(long_run())
    job.cancel()
    ended(job)
    assert (job.state, job.result) == ("cancelled", None)


def test_cancel_after_the_end_changes_nothing():
    job = ended(Job(load_preset("incast-16")))
    job.cancel()
    assert job.state == "finished" and job.result.finished


def test_a_fault_of_the_scenario_is_one_line():
    job = ended(Job(load_preset("incast-16").replace("transport.buffer_mb", 2)))
    assert job.state == "failed" and job.result is None
    assert job.error.startswith("transport.buffer_mb = 2") and "\n" not in job.error


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        (ValueError("two\nlines"), "the run stopped on an unexpected ValueError: two lines"),
        (MemoryError("9 GB"), "not enough memory for this run; try fewer or smaller flows (9 GB)"),
        (ScenarioError("cluster.gpus = 0: no"), "cluster.gpus = 0: no"),
    ],
)
def test_any_failure_is_one_line(monkeypatch, problem, line):
    def refuse(*_, **__):
        raise problem

    monkeypatch.setattr(jobs, "make_simulation", refuse)
    job = ended(Job(load_preset("incast-16")))
    assert (job.state, job.error) == ("failed", line)


def test_a_time_limit_ends_a_job_with_a_partial_result():
    job = ended(Job(load_preset("incast-16").replace("simulation.time_limit_s", 0.0005)))
    assert job.state == "finished" and job.result.status == "time limit"


def test_two_jobs_at_once_equal_each_alone():
    scenarios = [
        load_preset("incast-16"),
        load_preset("incast-16-hpcc"),
        load_preset("link-failure"),
        load_preset("incast-16"),
    ]
    together = [Job(scenario) for scenario in scenarios]
    for job in together:
        job.start()
    assert all(job.wait(60) for job in together)
    for job in together:
        assert job.state == "finished", job.error
        assert np.array_equal(job.result.raw.acked_ps, Simulation(job.scenario).run().raw.acked_ps)


def test_a_job_waits_for_its_turn_and_can_be_cancelled_while_it_waits(monkeypatch):
    monkeypatch.setattr(jobs, "_turns", threading.BoundedSemaphore(1))
    first = running(Job(long_run()))
    second = Job(long_run())
    second.start()
    time.sleep(0.1)
    assert second.state == "waiting"
    second.cancel()
    assert second.wait(1) and second.state == "cancelled" and second.result is None
    first.cancel()
    assert first.wait(5)


def test_warm_up_is_one_for_the_process():
    assert warm_up() is warm_up()
    assert warm_up().seconds > 0 and warm_up().cpu_s > 0
