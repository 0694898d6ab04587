"""Earlier runs of this session beside the newest: what was changed, and what that did."""

import streamlit as st

from views.figures.earlier_runs import earlier_runs
from views.figures.style import CONFIG, time_unit
from views.parts import history, session
from views.parts.fields import spell
from views.parts.job_names import COMPLETION, ITERATION
from views.parts.words import plain, signed

KEYS_TOLD = 4  # in the table; the file names all
RUNS_TOLD = 4  # in the warning; the table names all
WORDS = {ITERATION: "iteration", COMPLETION: "completion"}


def show() -> None:
    """Nothing until there are two."""
    runs = list(session.desk().history.runs)[::-1]
    if len(runs) < 2:
        return
    st.subheader("Runs of this session", anchor=False)
    st.plotly_chart(earlier_runs([_bar(run, runs[0]) for run in runs]), config=CONFIG, key="earlier runs", alt="Times of the runs of this session")
    unfinished = " Hatched: a run that was stopped." * any(not run.finished for run in runs)
    unlike = " Unlike: on another cluster, or of another workload." * any(run.unlike(runs[0]) for run in runs)
    st.caption(f"Iteration or completion times, newest run on top, and how far the others are from it.{unlike}{unfinished}")
    if others := [run for run in runs if run.unlike(runs[0])]:
        st.warning(warning(runs[0], others), icon=":material/compare_arrows:")
    columns, config = table(runs)
    st.dataframe(columns, hide_index=True, width="stretch", column_config=config, placeholder="–")
    st.caption(
        "Changed: keys with another value than in the run before, old → new. CPU time is that of simulating, without compiling and building. "
        f"The last {history.MOST_RUNS} runs are kept while this tab is open."
    )
    st.download_button(
        "Download runs as CSV", lambda: history.as_csv(runs), "runs.csv", "text/csv", icon=":material/table:", on_click="ignore", key="download runs"
    )


def warning(newest, others) -> str:
    """Which runs are of something else than the newest, and of what."""
    listed = [f"run {run.number} ({', '.join(getattr(run, name) for name in run.unlike(newest))})" for run in others[:RUNS_TOLD]]
    more = f" and {len(others) - RUNS_TOLD} more" if len(others) > RUNS_TOLD else ""
    why = "for another cluster or workload takes its own time"
    return plain(f"Not compared with the newest run ({newest.cluster}; {newest.workload}), {why}: {', '.join(listed)}{more}.")


def _bar(run, newest) -> tuple[str, float, str, bool]:
    ratio = None if run is newest else run.over(newest)
    beside = "(unlike)" if run.unlike(newest) else "" if ratio is None else f"({signed(ratio)})"
    return f"run {run.number}", run.time_s, beside, run.finished


def table(runs) -> tuple[dict, dict]:
    """Columns of the table, and how Streamlit is to write them; times in one unit, so that they sort."""
    scale, unit = time_unit(max(run.time_s for run in runs))
    number = st.column_config.NumberColumn
    columns = {
        "run": [run.number for run in runs],
        "title": [run.title for run in runs],
        "changed": [told(run) for run in runs],
        "time": [run.time_s / scale for run in runs],
        "over": [_against(run, runs[0]) for run in runs],
        "mean": [_scaled(run.mean_fct_s, scale) for run in runs],
        "slowest": [_scaled(run.max_fct_s, scale) for run in runs],
        "busbw": [_scaled(run.busbw_bytes_per_s, 1e9) for run in runs],
        "mode": [run.mode if run.level in (None, "exact") else f"{run.mode}, {run.level}" for run in runs],
        "controller": [spell(run.controller) for run in runs],
        **{part: [getattr(run, part) for run in runs] for part in ("simulated", "replayed", "skipped")},
        "cpu_s": [run.cpu_s for run in runs],
        "of": [WORDS[run.time_name] if run.finished else f"partial: {run.status}" for run in runs],
    }
    for name in ("title", "of"):  # told only where runs differ in it
        if len(set(columns[name])) == 1:
            del columns[name]
    if not any(columns["busbw"]):
        del columns["busbw"]
    config = {
        "title": st.column_config.TextColumn("scenario", width="medium"), "changed": st.column_config.TextColumn("changed", width="medium"),
        "time": number(f"time ({unit})", format="%.4g"), "over": "against newest", "mean": number(f"mean flow ({unit})", format="%.4g"),
        "busbw": number("bus bandwidth (GB/s)", format="%.4g"),
        "slowest": number(f"slowest flow ({unit})", format="%.4g"), "cpu_s": number("CPU (s)", format="%.3g"), "of": "time of",
        **{part: number(part, format="percent") for part in ("simulated", "replayed", "skipped")},
    }  # fmt: skip
    return columns, config


def _against(run, newest) -> str:
    if run is newest:
        return "newest"
    if unlike := run.unlike(newest):
        return f"other {' and '.join(unlike)}"
    ratio = run.over(newest)
    return "–" if ratio is None else signed(ratio)


def told(run) -> str:
    """What was changed for a run, the first keys of it."""
    if run.changed is None:
        return "first run"
    if not run.changed:
        return "nothing"
    more = len(run.changed) - KEYS_TOLD
    return "; ".join(run.changed[:KEYS_TOLD]) + (f"; and {more} more" if more > 0 else "")


def _scaled(seconds: float | None, scale: float) -> float | None:
    return None if seconds is None else seconds / scale
