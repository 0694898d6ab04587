"""What this browser session holds besides the draft: its running job and the result on show."""

import threading
from collections import OrderedDict
from dataclasses import dataclass

import streamlit as st

from sim import job as jobs
from sim.scenario import Scenario

RESULTS_KEPT = 4  # finished results that any session may reuse, by scenario digest


@dataclass
class Desk:
    """One session's job and result."""

    job: object | None = None
    result: object | None = None

    def cancel(self) -> None:
        if self.job is not None:
            self.job.cancel()


class Shelf:
    """The last finished results of all sessions: a scenario has one result, whoever ran it."""

    def __init__(self):
        self._results, self._lock = OrderedDict(), threading.Lock()

    def put(self, result) -> None:
        with self._lock:
            self._results[result.scenario.digest()] = result
            while len(self._results) > RESULTS_KEPT:
                self._results.popitem(last=False)

    def get(self, scenario: Scenario):
        with self._lock:
            return self._results.get(scenario.digest())


@st.cache_resource(scope="session", on_release=Desk.cancel, show_spinner=False)
def desk() -> Desk:
    return Desk()


@st.cache_resource(show_spinner=False)
def shelf() -> Shelf:
    return Shelf()


def compilation():
    """The kernel's compilation, begun in the background by the first page that anyone opens."""
    return jobs.warm_up()


def start_run(scenario: Scenario) -> None:
    """Run a scenario in its own thread; a run that is still going is cancelled."""
    own = desk()
    own.cancel()
    own.result = None
    own.job = jobs.Job(scenario)
    own.job.start()


def running() -> bool:
    job = desk().job
    return job is not None and job.state not in jobs.ENDED


def collect() -> None:
    """Take the result of a job that has ended; a partial one counts too."""
    own = desk()
    if own.job is None or running() or own.result is own.job.result or own.job.result is None:
        return
    own.result = own.job.result
    if own.result.finished:
        shelf().put(own.result)


def result_for(scenario: Scenario | None):
    """The session's result, or a finished one of this very scenario from the shelf, or None."""
    collect()
    own = desk()
    if own.result is None and own.job is None and scenario is not None:
        own.result = shelf().get(scenario)
    return own.result
