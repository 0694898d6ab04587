"""`compare --alone`: each job of a scenario by itself on the same cluster, and what sharing costs it."""

from pathlib import Path

from sim.alone import case_alone, cost_of_sharing, jobs_that_share
from sim.case import case_of
from sim.command.options import UsageError, job_options, write_text
from sim.command.report import INTERRUPTED, OK, STUCK, as_json, say_notes
from sim.command.watch import clocks, watch
from sim.job import Job
from sim.result_writers import write_tables
from sim.units import show_time

HELP = "in place of other modes: each job by itself on the same GPUs, without other jobs and background, and how much slower it is among them"
NOTHING = "stopped before there was anything to compare"


def execute(args, scenario) -> int:
    """Run everything together, then each job alone; say how much slower each is among the others."""
    numbers = jobs_that_share(scenario)
    if not numbers:
        raise UsageError(f"--alone: {scenario.name} has one job and nobody else; add [[jobs]] or [[background]], or leave --alone out")
    case, results = case_of(scenario), {}
    for name, work in [("together", case), *((number, case_alone(case, number)) for number in numbers)]:
        result = watch(Job(work, "wormhole", **job_options(args)), clocks())
        if result is None or result.status == "cancelled":
            say_notes([NOTHING])
            return INTERRUPTED
        results[name] = result
    together = results.pop("together")
    jobs = cost_of_sharing(together, results)
    if args.json is not None:
        write_text(args.json, as_json({"jobs": jobs, "together": together.summary, "alone": [result.summary for result in results.values()]}))
    if args.tables is not None:
        for name, result in {"together": together, **{f"alone-{number}": result for number, result in results.items()}}.items():
            write_tables(result, Path(args.tables) / name)
    if args.json != "-":
        print(page(scenario.name, jobs))
    return STUCK if any(result.status == "deadlock" for result in (together, *results.values())) else OK


def page(name: str, jobs: list[dict]) -> str:
    """A line for each job."""
    width = max(len(job["name"]) for job in jobs)
    rows = [
        f"  {job['name']:{width}}  {_pair(job, 'iteration_s', 'alone_s', 'slowdown')}; mean flow {_pair(job, 'mean_fct_s', 'alone_mean_fct_s', 'fct_slowdown')}"
        for job in jobs
    ]
    return "\n".join([f"{name}: what sharing the network costs each job", *rows])


def _pair(job: dict, together: str, alone: str, ratio: str) -> str:
    times = "" if job[ratio] is None else f": {job[ratio]:.3f} times as long"
    return f"{_time(job[together])} together, {_time(job[alone])} alone{times}"


def _time(seconds: float | None) -> str:
    return "unknown" if seconds is None else show_time(seconds)
