"""Runs of this process that any session may watch: one that nobody watches for a while is cancelled."""

from collections import OrderedDict
from threading import RLock, Timer

from sim import job as jobs

MOST_RUNS = 4
GRACE_S = 20.0  # without a watcher: enough to load a page anew, too short to miss a closed tab


def going(job) -> bool:
    """Whether a job has yet to end."""
    return job is not None and job.state not in jobs.ENDED


class Runs:
    """The latest jobs by scenario digest, and who watches them. A finished one belongs on the shelf, see `forget`."""

    def __init__(self):
        self._jobs, self._watchers, self._lock = OrderedDict(), {}, RLock()

    def put(self, job, watcher) -> None:
        """Take in a new job with its first watcher; one too many goes: an ended one, else one that nobody watches, else the oldest."""
        with self._lock:
            self.forget(self._jobs.get(job.scenario.digest()))
            while len(self._jobs) >= MOST_RUNS:
                self.forget(min(self._jobs.values(), key=lambda one: (going(one), len(self._watchers[one]) > 0)))
            self._jobs[job.scenario.digest()] = job
            self._watchers[job] = {watcher}

    def find(self, scenario):
        """The job of a scenario, running or ended, None if it is not known."""
        with self._lock:
            return self._jobs.get(scenario.digest())

    def watch(self, job, watcher) -> None:
        with self._lock:
            self._watchers.setdefault(job, set()).add(watcher)

    def leave(self, job, watcher, patient: bool = True) -> None:
        """One watcher less; after the last, a job is cancelled at once or, if `patient`, when nobody came back in time."""
        with self._lock:
            self._watchers.get(job, set()).discard(watcher)
            if patient and going(job) and self._is_known(job):
                timer = Timer(GRACE_S, self._cancel_if_alone, [job])
                timer.daemon = True
                timer.start()
            else:
                self._cancel_if_alone(job)

    def forget(self, job) -> None:
        """Let a job go; it stays with those who watch it, and is cancelled if nobody does."""
        with self._lock:
            if job is not None and self._is_known(job):
                del self._jobs[job.scenario.digest()]
                self._cancel_if_alone(job)

    def _is_known(self, job) -> bool:
        return self._jobs.get(job.scenario.digest()) is job

    def _cancel_if_alone(self, job) -> None:
        with self._lock:
            if self._watchers.get(job):
                return
            if going(job):
                job.cancel()
                self.forget(job)
            if not self._is_known(job):
                self._watchers.pop(job, None)
