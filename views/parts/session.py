"""What this browser session holds besides the draft: its running job and the result on show."""

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

import streamlit as st

from sim import job as jobs
from sim.scenario import Scenario
from views.parts.history import History
from views.parts.runs import Runs, going

RESULTS_KEPT = 4  # finished results that any session may reuse, by scenario digest


@dataclass(eq=False)
class Desk:
    """One session's job and result."""

    runs: Runs
    job: object | None = None
    result: object | None = None
    history: History = field(default_factory=History)
    remembered: bool = False  # whether the job began with what earlier runs had learnt

    def take(self, job) -> None:
        """Watch a job, and no other."""
        self.drop(patient=False)
        self.job, self.result = job, None

    def drop(self, patient: bool = True) -> None:
        if self.job is not None:
            self.runs.leave(self.job, self, patient)
            self.job = None


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


@st.cache_resource(scope="session", on_release=Desk.drop, show_spinner=False)
def desk() -> Desk:
    return Desk(runs())


@st.cache_resource(show_spinner=False)
def runs() -> Runs:
    return Runs()


@st.cache_resource(show_spinner=False)
def shelf() -> Shelf:
    return Shelf()


def compilation():
    """The kernel's compilation, begun in the background by the first page that anyone opens."""
    return jobs.warm_up()


REMEMBER = "remember what runs have learnt"


def remembers() -> bool:
    """Whether runs begin with what earlier ones of this user have learnt, and add to it."""
    return st.session_state.get(REMEMBER, False)


def start_run(scenario: Scenario) -> None:
    """Run a scenario in its own thread; this session's run that is still going is cancelled."""
    collect()
    job = jobs.Job(scenario, memo="user" if remembers() else None)
    desk().take(job)
    desk().remembered = remembers()
    runs().put(job, desk())
    job.start()


def was_kept(result) -> bool:
    """Whether what this run has learnt is there for later ones: as at level exact, if it was told to remember."""
    own = desk()
    return own.remembered and own.job is not None and own.job.result is result and result.raw.mode == "wormhole" and result.raw.level == "exact"


def rejoin(scenario: Scenario | None) -> None:
    """Where nothing is run or shown, as after the page was loaded anew: the run of this very scenario, if there is one."""
    own = desk()
    if own.job is not None or own.result is not None or scenario is None:
        return
    job = runs().find(scenario)
    told_something = job is not None and (job.result is not None or job.state == "failed")
    if going(job) or (told_something and shelf().get(scenario) is None):
        runs().watch(job, own)
        own.take(job)


def running() -> bool:
    return going(desk().job)


def collect() -> None:
    """Take the result of a job that has ended; a partial one counts too."""
    own = desk()
    if own.job is None or running() or own.result is own.job.result or own.job.result is None:
        return
    own.result = own.job.result
    own.history.add(own.result, own.remembered)
    if own.result.finished:
        shelf().put(own.result)
        runs().forget(own.job)


def result_for(scenario: Scenario | None):
    """The session's result, or a finished one of this very scenario from the shelf, or None."""
    collect()
    own = desk()
    if own.result is None and own.job is None and scenario is not None:
        own.result = shelf().get(scenario)
    return own.result
