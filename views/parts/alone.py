"""Each job run by itself beside the result: the button, how far those runs are, and what sharing costs each job."""

from functools import partial

import streamlit as st

from sim.alone import cases_alone, cost_of_sharing, jobs_that_share
from views.parts import trials
from views.parts.job_names import of_jobs, of_time
from views.parts.trials import Trial
from views.parts.words import plural, show_time

POLL_S = 0.25
KIND = "alone"
NOT_FELT = 0.001  # a job that is slower by less does not feel the others


def show(result) -> None:
    """Nothing where nobody shares the network, or where a run was stopped."""
    numbers = jobs_that_share(result.scenario)
    if not numbers or not result.finished:
        return
    desk, of = trials.desk(KIND), result.scenario.digest()
    if desk.busy and desk.of == of:
        watch()
        return
    found = {number: one for number in numbers if (one := desk.find(of, str(number))) is not None}
    for trial in desk.trials if desk.of == of else []:
        if trial.state == "failed":
            st.error(f"{_names(result)[int(trial.name)]} alone: {trial.job.error}", icon=":material/error:")
    if found:
        table(result, found)
    if len(found) < len(numbers):
        told = "The same tasks and messages on the same GPUs and paths, without other jobs and without traffic of others"
        if st.button(f"Run {'each job' if len(numbers) > 1 else 'it'} alone", icon=":material/call_split:", help=told):
            desk.begin(of, runs(result, numbers))
            st.rerun()


def runs(result, numbers: list[int]) -> list[Trial]:
    """One for each job, in the mode of the result."""
    case_of = cases_alone(result.scenario)
    options = {"mode": result.raw.mode, **({"level": result.raw.level} if result.raw.level else {})}
    return [Trial(str(number), result.scenario, options, work=partial(case_of, number)) for number in numbers]


@st.fragment(run_every=POLL_S)
def watch() -> None:
    """Progress of the runs; one full rerun when the last has ended."""
    desk = trials.desk(KIND)
    if not desk.busy:
        st.rerun()
    for trial in desk.trials:
        trials.bar(trial, f"{of_jobs(trial.scenario)[int(trial.name)]} alone")
    st.button("Cancel", icon=":material/stop:", help="Stop these runs; the result stays", on_click=desk.cancel, key="cancel alone")


def table(result, found: dict) -> None:
    """Times among others and alone, job by job, and what that says."""
    rows = [row for number, row in enumerate(cost_of_sharing(result, found)) if number in found]
    names = [_names(result)[number] for number in sorted(found)]
    st.dataframe(
        {
            "job": names,
            "slow-down": [_times(row["slowdown"]) for row in rows],
            "together": [_time(row["iteration_s"]) for row in rows],
            "alone": [_time(row["alone_s"]) for row in rows],
            "slow-down of flows": [_times(row["fct_slowdown"]) for row in rows],
            "mean flow together": [_time(row["mean_fct_s"]) for row in rows],
            "mean flow alone": [_time(row["alone_mean_fct_s"]) for row in rows],
        },
        hide_index=True, width="stretch",
    )  # fmt: skip
    whole = of_time(result.scenario).lower()
    chance = " Below 1 is chance: random marks fall on other packets, and senders slow down at other times."
    below = any((ratio or 1) < 1 - NOT_FELT for row in rows for ratio in (row["slowdown"], row["fct_slowdown"]))
    st.caption(f"What sharing costs: {whole} among the others over that alone, and the same of the mean flow.{hidden(names, rows)}{chance * below}")


def hidden(names: list[str], rows: list[dict]) -> str:
    """A word on jobs whose flows feel the others while the job does not: computing hides it."""
    unfelt = [name for name, row in zip(names, rows, strict=True) if (row["fct_slowdown"] or 0) > 1 + NOT_FELT and (row["slowdown"] or 9) < 1 + NOT_FELT]
    if not unfelt:
        return ""
    return f" Of {plural(len(unfelt), 'job')} ({', '.join(unfelt)}) flows take longer, but not the whole: its computing hides that."


def _names(result) -> list[str]:
    return of_jobs(result.scenario)


def _times(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio:.3f} ×"


def _time(seconds: float | None) -> str:
    return "–" if seconds is None else show_time(seconds)
