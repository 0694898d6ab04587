"""One run in a thread of its own: started, watched and cancelled from elsewhere; no user interface in it."""

import logging
import os
import threading
import time

from sim.case import Case
from sim.errors import LabError
from sim.modes import make_simulation, refuse_unknown
from sim.result import Result
from sim.scenario import Scenario
from sim.simulation import Progress
from sim.warm_up import warm_up

__all__ = ["ENDED", "Job", "warm_up"]

ENDED = ("finished", "cancelled", "failed")
QUANTUM_S = 0.025  # between two looks at the cancel button
FIRST_HOPS, LEAST_HOPS, MOST_HOPS = 20_000, 1_000, 20_000_000  # packet-hops of a quantum
PROGRESS_S = 0.1  # between two snapshots of the progress, at least
PROGRESS_SHARE = 0.05  # of the time may go into them
LOOK_S = 0.02  # between two looks at the cancel button while waiting

_turns = threading.BoundedSemaphore(max(2, os.cpu_count() or 1))
_log = logging.getLogger(__name__)


class Job:
    """A run of a scenario, or of a case made elsewhere, in any mode and level; those of the scenario unless given.

    `state` goes waiting, compiling, building, running, and ends as finished, cancelled or failed. `progress` is the
    latest snapshot. `result` is there when the run has ended; that of a cancelled one is partial and says so (None
    if nothing had begun). `error` is one line.
    """

    def __init__(
        self, work: Scenario | Case, mode: str | None = None, *, level: str | None = None, replay=True, skip=True,
        memo=None, threads=None,
    ):  # fmt: skip
        self._work = work
        self.scenario = work.scenario if isinstance(work, Case) else work
        self.mode = mode or self.scenario.simulation.mode
        self.level = level or self.scenario.simulation.level
        self._options = dict(level=self.level, replay=replay, skip=skip, memo=memo, threads=threads)
        self.state = "waiting"
        self.progress: Progress | None = None
        self.result: Result | None = None
        self.error: str | None = None
        self._cancel = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"job {self.scenario.name}", daemon=True)

    def start(self) -> None:
        """Begin, in the job's own thread; once only."""
        self._thread.start()

    def cancel(self) -> None:
        """Stop at the next quantum and keep what there is. Without effect once the run has ended."""
        self._cancel.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the run has ended; False if it has not within `timeout` seconds."""
        return self._ended.wait(timeout)

    def _run(self) -> None:
        try:
            state = self._from_start_to_end()
        except LabError as problem:
            state, self.error = "failed", str(problem)
        except MemoryError as problem:
            state, self.error = "failed", f"not enough memory for this run; try fewer or smaller flows ({problem})"
        except Exception as problem:
            _log.exception("job %s", self.scenario.name)
            reason = " ".join(str(problem).split())
            state, self.error = "failed", f"the run stopped on an unexpected {type(problem).__name__}: {reason}"
        self.state = state
        self._ended.set()

    def _from_start_to_end(self) -> str:
        while not _turns.acquire(timeout=LOOK_S):
            if self._cancel.is_set():
                return "cancelled"
        try:
            refuse_unknown(self.mode, self.level)
            began = time.perf_counter()
            compile_s = 0.0 if self.mode == "flow" else self._compile()
            waited_s = time.perf_counter() - began
            if self._cancel.is_set():
                return "cancelled"
            self.state = "building"
            simulation = make_simulation(self._work, self.mode, **self._options)
            simulation.cpu_s["compile"] = compile_s
            simulation.wall_s += waited_s
            self._look(simulation)
            self.state = "running"
            self._advance(simulation)
            self._look(simulation)
            self.result = self._conclude(simulation)
            return "cancelled" if simulation.status == "cancelled" else "finished"
        finally:
            _turns.release()

    def _conclude(self, simulation) -> Result:
        """The result, whose making is part of the run's cost, as is letting later runs know what this one has learnt."""
        began = time.thread_time()
        result = simulation.result()
        if self.mode == "wormhole":
            simulation.keep()
        took_s, spent = time.thread_time() - began, result.raw.cpu_s
        spent["orchestrate"] += took_s
        spent["total"] += took_s
        return result

    def _compile(self) -> float:
        """Wait for the process's compilation; CPU seconds that it took meanwhile."""
        compilation = warm_up()
        if compilation.state == "ready":
            return 0.0
        self.state = "compiling"
        before_s = compilation.cpu_s
        while not (compilation.wait(LOOK_S) or self._cancel.is_set()):
            pass
        if compilation.state == "failed":
            raise LabError(compilation.error)
        return compilation.cpu_s - before_s

    def _advance(self, simulation) -> None:
        """Quanta of about QUANTUM_S until the end or the cancel button."""
        hops, due = FIRST_HOPS, time.perf_counter() + PROGRESS_S
        while not self._cancel.is_set():
            began = time.perf_counter()
            if simulation.advance(hops):
                return
            now = time.perf_counter()
            hops = int(min(max(hops * min(4.0, QUANTUM_S / (now - began)), LEAST_HOPS), MOST_HOPS))
            if now >= due:
                self._look(simulation)
                looked_s = time.perf_counter() - now
                due = now + looked_s + max(PROGRESS_S, looked_s / PROGRESS_SHARE)
        simulation.cancel()

    def _look(self, simulation) -> None:
        began = time.thread_time()
        self.progress = simulation.progress()
        simulation.cpu_s["orchestrate"] += time.thread_time() - began
