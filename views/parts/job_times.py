"""How long iterations took: of the run's own job, and of every job where there are several."""

import streamlit as st

from views.parts import alone, metrics
from views.parts.job_names import of_jobs
from views.parts.words import plural, show_time

MOST_JOBS = 8  # more are a table


def iteration_s(result) -> float:
    """What the headline shows: the mean iteration of the own job, or how far the run got."""
    mean = result.summary["iteration_s"]
    return result.end_s if mean is None or not result.finished else mean


def show(result) -> None:
    """Nothing for a run of one iteration of one job without company."""
    jobs = result.summary["jobs"]
    if len(jobs) > 1:
        names = of_jobs(result.scenario)
        st.subheader("Jobs", anchor=False)
        if len(jobs) <= MOST_JOBS:
            metrics.row("jobs", *((name, _time(job["iteration_s"]), told(job)) for name, job in zip(names, jobs, strict=True)), border=True)
        else:
            st.dataframe(
                {"job": names, "iteration": [_time(job["iteration_s"]) for job in jobs], "iterations": [len(job["iterations_s"]) for job in jobs]},
                hide_index=True, width="stretch",
            )  # fmt: skip
        st.caption("Mean time of an iteration of each job, all on the same network. What sharing costs a job shows when it runs alone.")
    elif jobs and len(jobs[0]["iterations_s"]) > 1:
        st.caption(f"Iteration time: {told(jobs[0])}; the whole run took {show_time(result.end_s)}.")
    alone.show(result)


def told(job: dict) -> str:
    """How far the iterations of a job are apart."""
    done = [seconds for seconds in job["iterations_s"] if seconds is not None]
    if not done:
        return "No iteration was simulated to its end"
    if len(job["iterations_s"]) == 1:
        return "One iteration"
    some = "" if len(done) == len(job["iterations_s"]) else f", {len(done)} of them to the end"
    return f"mean of {plural(len(job['iterations_s']), 'iteration')}{some}, {show_time(min(done))} to {show_time(max(done))} each"


def _time(seconds: float | None) -> str:
    return "–" if seconds is None else show_time(seconds)
