"""Rules of further jobs, background traffic and slow GPUs."""

import pytest

from sim.errors import ScenarioError
from sim.scenario import Scenario

BASE = {
    "cluster": {"topology": "rail-optimised", "gpus": 32, "gpus_per_node": 8},
    "model": {"name": "gpt-125m"},
    "parallelism": {"tp": 2, "pp": 2, "dp": 2},
}
JOB = {"model": {"name": "gpt-125m"}, "parallelism": {"tp": 2, "dp": 4}}


def made(**changes):
    return Scenario.from_data({**BASE, **changes})


def test_jobs_stand_behind_one_another():
    found = made(jobs=[JOB, {**JOB, "name": "b", "first_gpu": 24}]).jobs
    assert [(job.name, job.first_gpu, job.gpus) for job in found] == [("job 1", 8, 8), ("b", 24, 8)]


def test_the_own_dp_is_derived_from_what_jobs_leave():
    open_dp = {"tp": 2, "pp": 2}
    assert made(parallelism=open_dp).parallelism.dp == 8
    assert made(parallelism=open_dp, jobs=[JOB]).parallelism.dp == 6
    assert made(jobs=[{**JOB, "gpus": 16, "parallelism": open_dp}]).jobs[0].parallelism.dp == 4


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"jobs": [{**JOB, "first_gpu": 4}]}, "jobs.0.first_gpu = 4: GPUs 0 to 7 belong to [parallelism]; the next free one is 8"),
        ({"jobs": [{**JOB, "first_gpu": 30}]}, "jobs.0: GPUs 30 to 37 are beyond cluster.gpus = 32"),
        ({"jobs": [{**JOB, "parallelism": {"tp": 2}}]}, "jobs.0.gpus is missing: give it, or parallelism.dp"),
        ({"jobs": [{**JOB, "parallelism": {"tp": 3, "dp": 1}}]}, "jobs.0.parallelism.tp = 3: must divide cluster.gpus_per_node = 8"),
        ({"background": [{"first_gpu": 31}]}, "background.0: GPUs 31 to 32 are wanted; the legal range is 0 to 31"),
        ({"background": [{"pattern": "all-to-all", "times": 10_000}]}, "background.0.times = 10000: makes 9920000 flows; at most 5000000"),
        ({"background": [{"times": 1001, "period_us": 1e10}]}, "background.0.period_us = 10000000000: times = 1001 from start_us = 0 on "
         "reach 10000000000000 us; at most 4500000000000: the nearest is 4500000000"),
        ({"background": [{"pattern": "incast", "gpus": 4, "receiver": 9}]}, "background.0.receiver = 9: must be one of its GPUs, 0 to 3"),
        ({"stragglers": [{"gpu": 32, "speed": 0.5}]}, "stragglers.0.gpu = 32: there is no such GPU; the legal range is 0 to 31"),
        ({"stragglers": [{"gpu": 1, "speed": 0.5}] * 2}, "stragglers.1.gpu = 1: is listed twice"),
        ({"stragglers": [{"gpu": 1, "speed": 0.0}]}, "stragglers.0.speed = 0.0: must be at least 0.01"),
    ],
)
def test_one_clear_line(changes, words):
    with pytest.raises(ScenarioError) as problem:
        made(**changes)
    assert words in str(problem.value) and "\n" not in str(problem.value)


def test_a_jobs_tensor_parallel_groups_lie_within_servers():
    narrow, wide = ({"model": {"name": "gpt-125m"}, "parallelism": {"tp": tp, "dp": 2}} for tp in (1, 4))
    assert [job.first_gpu for job in made(jobs=[narrow, wide]).jobs] == [8, 12]
    with pytest.raises(ScenarioError, match=r"jobs\.1\.first_gpu = 10: must be a multiple of 4, .* straddle servers .*; the next free one is 12"):
        made(jobs=[narrow, {**wide, "first_gpu": 10}])


def test_jobs_stand_behind_all_before_wherever_these_are():
    one = {"model": {"name": "gpt-125m"}, "parallelism": {"dp": 2}}
    assert [job.first_gpu for job in made(jobs=[{**one, "first_gpu": 20}, {**one, "first_gpu": 10}, one]).jobs] == [20, 10, 22]


def test_what_jobs_leave_is_told_and_what_is_offered_fits_it():
    with pytest.raises(ScenarioError) as problem:
        made(parallelism={"tp": 2, "pp": 2, "cp": 7}, jobs=[JOB], model={"name": "gpt-125m", "sequence": 28})
    assert "is 28 GPUs, more than the 24 GPUs that [[jobs]] leave of cluster.gpus = 32" in str(problem.value)
    with pytest.raises(ScenarioError, match=r"GPUs 8 to 39 are beyond cluster.gpus = 32; give fewer, or cluster.gpus = 40"):
        made(jobs=[{**JOB, "gpus": 32}])
    with pytest.raises(ScenarioError, match=r"\[\[jobs\]\] leave no GPU of cluster.gpus = 32"):
        made(parallelism={"tp": 2}, jobs=[{**JOB, "gpus": 32}])


def test_traffic_has_no_jobs():
    data = {"cluster": BASE["cluster"], "traffic": {"pattern": "ring"}}
    with pytest.raises(ScenarioError, match=r"\[traffic\] and \[\[jobs\]\] exclude each other"):
        Scenario.from_data({**data, "jobs": [JOB]})
    Scenario.from_data({**data, "background": [{}]})
