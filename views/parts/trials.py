"""Runs of one scenario beside its result, one after the other, to compare: started, watched and cancelled by one session."""

import threading
from dataclasses import dataclass, field

import streamlit as st

from sim import job as jobs
from sim.scenario import Scenario
from views.parts.runs import going
from views.parts.words import roughly, show_time

STATES = {"waiting": "waits for its turn", "compiling": "compiling the kernel", "building": "building", "running": "running"}


@dataclass(eq=False)
class Trial:
    """One run to be made: its name on the page and what it gives to `Job`. `keep` makes of its result what is kept of it.

    `work` makes what `Job` runs in place of the scenario, when its turn comes.
    """

    name: str
    scenario: Scenario
    options: dict = field(default_factory=dict)
    keep: object | None = None
    work: object | None = None
    job: object | None = None

    @property
    def state(self) -> str:
        return "waiting" if self.job is None else self.job.state

    @property
    def result(self):
        """The finished result, None while there is none."""
        found = None if self.job is None else self.job.result
        return found if found is not None and found.finished else None


class Trials:
    """The trials of one scenario, and the thread that runs them in order."""

    def __init__(self):
        self.of, self.trials = None, []
        self._stop, self._lock, self._thread = threading.Event(), threading.Lock(), None

    def begin(self, of: str, trials: list[Trial]) -> None:
        """Run these after each other, unless there is one of that name already; those of another scenario are dropped."""
        with self._lock:
            if of != self.of:
                self._cancel()
                self.of, self.trials = of, []
            done = {trial.name for trial in self.trials if trial.result is not None}
            self.trials = [trial for trial in self.trials if trial.name in done] + [trial for trial in trials if trial.name not in done]
            self._stop = threading.Event()
            self._thread = threading.Thread(target=self._run, args=(list(self.trials), self._stop), name="trials", daemon=True)
            self._thread.start()

    def _run(self, trials: list[Trial], stop: threading.Event) -> None:
        for trial in trials:
            if trial.result is None and not stop.is_set():
                trial.job = jobs.Job(trial.scenario if trial.work is None else trial.work(), **trial.options)
                if stop.is_set():
                    trial.job.cancel()
                trial.job.start()
                trial.job.wait()
                if trial.keep is not None and trial.result is not None:
                    trial.job.result = trial.keep(trial.result)

    @property
    def busy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def cancel(self) -> None:
        """Stop the one that runs and start no other."""
        with self._lock:
            self._cancel()

    def _cancel(self) -> None:
        self._stop.set()
        for trial in self.trials:
            if going(trial.job):
                trial.job.cancel()

    def find(self, of: str, name: str):
        """The finished result of a trial of this scenario, or None."""
        return next((trial.result for trial in self.trials if of == self.of and trial.name == name), None)


@st.cache_resource(scope="session", on_release=Trials.cancel, show_spinner=False)
def desk(what: str = "modes") -> Trials:
    """The session's trials of a kind; those of one kind do not end those of another."""
    return Trials()


def bar(trial: Trial, name: str) -> None:
    """How far one run is."""
    progress = None if trial.job is None else trial.job.progress
    if trial.result is not None:
        st.progress(1.0, text=f"{name}: done in {show_time(trial.result.summary['wall_s'])}")
    elif progress is None or trial.state != "running":
        st.progress(0.0, text=f"{name}: {STATES.get(trial.state, 'ending')} …")
    else:
        left = "" if progress.eta_s is None else f", {roughly(progress.eta_s)} left"
        st.progress(min(max(progress.fraction, 0.0), 1.0), text=f"{name}: {100 * progress.fraction:.0f} %{left}")
