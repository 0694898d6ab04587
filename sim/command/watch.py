"""Follow a job on a terminal: a progress bar, and Ctrl-C that stops it and keeps what there is."""

import contextlib
import signal
import sys
import threading
import time

from tqdm import tqdm

from sim.errors import RunError
from sim.job import Job
from sim.result import Result
from sim.result_summary import simulated_hops
from sim.warm_up import warm_up

LOOK_S = 0.1
WITHOUT_END = "{desc} {elapsed}"
PHASES = {
    "waiting": "waiting",
    "compiling": "compiling the kernel (once on this machine)",
    "building": "building network and workload",
    "running": "simulating",
}


def clocks() -> tuple[float, float]:
    """(wall, CPU of this thread) in seconds, to be handed to `watch` when a command begins."""
    return time.perf_counter(), time.thread_time()


def watch(job: Job, began: tuple[float, float]) -> Result | None:
    """Run `job` to its end; None if it was cancelled before anything had begun.

    `began`: the `clocks` when the command did. The result carries the whole compilation, and what was read and
    checked before the job as part of the building. RunError if the job failed.
    """
    before_s = time.thread_time() - began[1]
    with (
        _interrupted(job.cancel),
        tqdm(
            disable=None, file=sys.stderr, unit="hop", unit_scale=True, leave=False, bar_format=WITHOUT_END, desc="starting"
        ) as bar,
    ):  # fmt: skip
        job.start()
        while not job.wait(LOOK_S):
            _show(bar, job)
    if job.state == "failed":
        raise RunError(job.error)
    if job.result is not None:
        raw = job.result.raw
        if job.mode != "flow":
            raw.cpu_s["compile"] = warm_up().cpu_s
        raw.cpu_s["build"] += before_s
        raw.cpu_s["total"] = sum(seconds for phase, seconds in raw.cpu_s.items() if phase != "total")
        raw.wall_s = time.perf_counter() - began[0]
    return job.result


def ready() -> None:
    """Wait for the kernel's compilation, saying so on a terminal; RunError if it fails."""
    compilation = warm_up()
    with tqdm(disable=None, file=sys.stderr, bar_format=WITHOUT_END, desc=PHASES["compiling"], leave=False) as bar:
        while not compilation.wait(LOOK_S):
            bar.refresh()
    if compilation.state == "failed":
        raise RunError(compilation.error)


def _show(bar: tqdm, job: Job) -> None:
    progress = job.progress
    bar.set_description_str(PHASES.get(job.state, job.state), refresh=False)
    if progress is not None:
        bar.bar_format = None
        bar.total, bar.n = progress.packet_hops_expected, progress.packet_hops
        simulated = ""
        if progress.kernel:
            hops = progress.kernel["packet_hops"]
            simulated = f", {simulated_hops(hops)[0] / max(1, hops['total']):.1%} simulated"
        bar.set_postfix_str(f"{progress.flows_finished}/{progress.flows_total} flows{simulated}", refresh=False)
    bar.refresh()


@contextlib.contextmanager
def _interrupted(stop):
    """Call `stop` on the first Ctrl-C; the second one interrupts as usual."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def on_interrupt(number, frame):
        signal.signal(signal.SIGINT, before)
        stop()

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
