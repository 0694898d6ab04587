"""The register of runs: who watches what, and what goes when there are too many."""

from types import SimpleNamespace

import pytest

from tests.pages.app_under_test import ScriptedJob
from views.parts.runs import MOST_RUNS, Runs


def scenario(name):
    return SimpleNamespace(digest=lambda: name, name=name, simulation=SimpleNamespace(mode="packet"))


def started(name):
    job = ScriptedJob(scenario(name))
    job.start()
    return job


@pytest.fixture
def full():
    """A register that is full, and its jobs; each has a watcher."""
    runs, jobs = Runs(), [started(str(index)) for index in range(MOST_RUNS)]
    for job in jobs:
        runs.put(job, "somebody")
    return runs, jobs


def test_an_ended_job_makes_room_first(full):
    runs, jobs = full
    jobs[2].state = "finished"
    runs.put(started("new"), "me")
    assert runs.find(scenario("2")) is None and runs.find(scenario("0")) is jobs[0]


def test_then_one_that_nobody_watches_and_it_is_cancelled(full):
    runs, jobs = full
    runs.leave(jobs[1], "somebody")
    assert jobs[1].state == "compiling"
    runs.put(started("new"), "me")
    assert jobs[1].state == "cancelled" and runs.find(scenario("1")) is None


def test_a_watched_one_is_forgotten_but_runs_until_its_watcher_leaves(full):
    runs, jobs = full
    runs.put(started("new"), "me")
    assert runs.find(scenario("0")) is None and jobs[0].state == "compiling"
    runs.leave(jobs[0], "somebody")
    assert jobs[0].state == "cancelled"


def test_of_two_watchers_the_last_decides():
    runs, job = Runs(), started("one")
    runs.put(job, "first")
    runs.watch(job, "second")
    runs.leave(job, "first", patient=False)
    assert job.state == "compiling"
    runs.leave(job, "second", patient=False)
    assert job.state == "cancelled" and runs.find(scenario("one")) is None
