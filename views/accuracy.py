"""Accuracy page: the result beside packet mode and flow mode, what each of them cost, and what each means of saving is worth."""

import streamlit as st

from sim.accuracy import speedup_cpu, worked_s
from views.figures import compare
from views.figures.hops import hop_bars, parts_of
from views.figures.sensitivity import sensitivity as cells
from views.figures.style import CONFIG
from views.parts import comparison, level_trials, metrics, modes, page, preview, sensitivity, trials
from views.parts.job_names import COMPLETION, ITERATION, of_time
from views.parts.palette import MODES
from views.parts.words import fine_share, plural, roughly, show_time, times

POLL_S = 0.25
ERROR_COLUMNS = ("mean_error", "max_error", "iteration_error")
SHARE_COLUMNS = ("error_bar_coverage", "simulated")
WHOLE = {ITERATION: "iteration", COMPLETION: "last flow"}  # what a headline figure of a whole run is about
MOST_BARS = 4  # runs whose progress is shown one by one
LITTLE = 1.5  # a speed-up below is explained


def main() -> None:
    page.open_page("Accuracy", "Is the answer right, and what did it save?")
    result = page.need_result()
    if not result.finished:
        st.info("Only a run that went to its end can be compared.", icon=":material/info:")
        return
    desk = trials.desk()
    if desk.busy and desk.of == result.scenario.digest():
        watch()
        return
    found = comparison.results(result)
    begin(result, found)
    for failure in comparison.failures(result):
        st.error(failure, icon=":material/error:")
    if "packet" in found and len(found) > 1:
        verdict(found)
        flows(found)
        cost(found)
    ablation(result)
    levels(result)
    steadiness(result)


def begin(result, found) -> None:
    """The buttons that run what is missing."""
    missing = [trial for trial in comparison.modes_beside(result) if trial.name not in found]
    parts = [trial for trial in comparison.ablation_of(result) if comparison.find(result, trial.name) is None]
    if missing:
        took = roughly(preview.estimate(result.scenario).cpu_s)
        names = " and ".join(trial.name for trial in missing)
        st.caption(f"The same scenario once more in mode {names}; packet mode takes {took}. You may look at other pages meanwhile.")
    by_level = [] if len(level_trials.table(result)) else level_trials.runs(result)
    grid = [] if len(sensitivity.table(result, found.get("packet"))) == sensitivity.CELLS else sensitivity.runs(result)
    reference = [trial for trial in missing if trial.name == "packet"]
    with st.container(horizontal=True):
        if missing and st.button(f"Run {' and '.join(trial.name for trial in missing)} mode beside it", type="primary", icon=":material/play_arrow:"):
            start(result, missing)
        if parts and st.button("Switch replay and skip off, one at a time", icon=":material/tune:"):
            start(result, parts)
        told = f"{len(by_level)} runs, packet mode among them"
        if by_level and st.button("Compare levels by controller", icon=":material/stacked_bar_chart:", help=told):
            start(result, by_level)
        told = f"{len(grid) + len(reference)} runs: level paper with {len(grid)} pairs of θ and l" + ", after packet mode" * bool(reference)
        if grid and st.button("Vary θ and l of the published test", icon=":material/grid_on:", help=told):
            start(result, reference + grid)


def start(result, runs) -> None:
    """Run these beside the result."""
    trials.desk().begin(result.scenario.digest(), runs)
    st.rerun()


@st.fragment(run_every=POLL_S)
def watch() -> None:
    """Progress of the runs; one full rerun when the last has ended."""
    desk = trials.desk()
    if not desk.busy:
        st.rerun()
    done = [trial for trial in desk.trials if trial.result is not None]
    shown = desk.trials
    if len(shown) > MOST_BARS:
        st.progress(len(done) / len(shown), text=f"{len(done)} of {len(shown)} runs done")
        shown = [trial for trial in shown if trial not in done and trial.state != "failed"][:MOST_BARS]
    for trial in shown:
        trials.bar(trial, comparison.label(trial.name))
    st.button("Cancel", icon=":material/stop:", help="Stop these runs; the result they are compared with stays", on_click=desk.cancel)


def verdict(found) -> None:
    """Identical or not, in a sentence; then the figures."""
    packet, shown = found["packet"], []
    whole = of_time(packet.scenario)
    if "wormhole" in found:
        apart = comparison.differences(found["wormhole"], packet)
        if not apart:
            st.success(
                f"Identical: start and end of {plural(packet.summary['flows'], 'flow')}, the deepest queue, marks and pauses of every port "
                "are those of packet mode, to the bit.",
                icon=":material/verified:",
            )
        else:
            level = found["wormhole"].raw.level
            allowed = "" if level == "exact" else f", as level {level} allows"
            st.warning(f"Not identical{allowed}: {apart} differ from packet mode.", icon=":material/difference:")
        gain = speedup_cpu(found["wormhole"], packet)
        told = "CPU time of packet mode over that of wormhole mode, without compiling and building"
        shown.append(("Speed-up", "–" if gain is None else times(gain), told))
    for mode in ("wormhole", "flow"):
        if mode in found:
            error, name = comparison.errors_in_words(found[mode], packet), comparison.LABELS[mode]
            worst = f"Of flow completion times; worst flow {error['worst']}; root mean square of slowdowns, normalised: {error['round_trip']}"
            shown.append((f"{name}: mean error", error["mean"], worst))
            shown.append((f"{name}: {WHOLE[whole]}", error["iteration"], f"{whole} against that of packet mode"))
    metrics.row("verdict", *shown, border=True)
    if "wormhole" in found and (gain or 0) < LITTLE:
        st.caption(
            "Too little repeats here, or the run is too short, for remembering to pay: what is not replayed or skipped costs wormhole mode "
            "as much as packet mode, and a little for the bookkeeping."
        )


def flows(found) -> None:
    packet = found["packet"].flows["fct_s"].to_numpy()
    others = {mode: found[mode].flows["fct_s"].to_numpy() for mode in ("wormhole", "flow") if mode in found}
    st.subheader("Flow by flow", anchor=False)
    with st.container(horizontal=True, key="pair"):
        st.html("<style>.st-key-pair > div { flex: 1 1 360px; min-width: 0; }</style>")
        with st.container():
            st.plotly_chart(
                compare.scatter(packet, others), config=CONFIG, key="scatter", alt="Completion time of each flow in other modes against packet mode"
            )
            st.caption("Each mark is a flow. On the dotted line a mode says what packet mode says; above it flows seem slower than they are, below it faster.")
        with st.container():
            st.plotly_chart(compare.errors(packet, others), config=CONFIG, key="errors", alt="Cumulative distribution of completion time errors")
            st.caption("Share of flows whose completion time is off by at most so much. A curve at the top from the left edge on is a mode without error.")


def cost(found) -> None:
    st.subheader("What it cost", anchor=False)
    spent = {comparison.LABELS[mode]: worked_s(result) for mode, result in found.items()}
    st.plotly_chart(
        compare.costs(spent, {comparison.LABELS[mode]: MODES[mode] for mode in found}), config=CONFIG, key="costs", alt="CPU time of each mode"
    )
    st.caption("CPU time of each run; the axis is logarithmic, a step from one line to the next can be tenfold.")
    if "wormhole" in found:
        rows = {comparison.LABELS[mode]: parts_of(found[mode].summary["packet_hops"]) for mode in ("packet", "wormhole") if mode in found}
        st.plotly_chart(hop_bars(rows), config=CONFIG, key="hop bars", alt="Packet-hops simulated, replayed and skipped, by mode")
        hops = found["wormhole"].summary["packet_hops"]
        saved = fine_share((hops["replayed"] + hops["skipped"]) / max(1, hops["total"]))
        st.caption(f"Where the speed-up comes from: packet mode simulates every packet-hop, wormhole mode replayed or skipped {saved} of them.")


def ablation(result) -> None:
    """What each of the two means of saving is worth alone."""
    found = {trial.name: comparison.find(result, trial.name) for trial in comparison.ablation_of(result)}
    found = {name: one for name, one in found.items() if one is not None}
    if not found:
        return
    st.subheader("Replay, skip, or both", anchor=False)
    everything = comparison.results(result)
    runs = {**({"wormhole": everything["wormhole"]} if "wormhole" in everything else {}), **found}
    rows = {comparison.LABELS[name] if name != "wormhole" else "Both": parts_of(one.summary["packet_hops"]) for name, one in runs.items()}
    st.plotly_chart(hop_bars(rows), config=CONFIG, key="ablation", alt="Packet-hops simulated, replayed and skipped with one of the two switched off")
    seconds = ", ".join(f"{name.lower()} {show_time(worked_s(one))}" for name, one in zip(rows, runs.values(), strict=True))
    st.caption(
        f"The same run with one of the two switched off. CPU time: {seconds}. Replay saves what happens again, skipping saves what goes on unchanged; "
        "which of them counts depends on how long flows are and how alike."
    )


def levels(result) -> None:
    """What there is of the levels of trust, by controller."""
    table = level_trials.table(result)
    if not len(table):
        return
    st.subheader("Levels, by controller", anchor=False)
    if (table["mean_error"] > 0).any():
        st.plotly_chart(compare.levels(table), config=CONFIG, key="levels", alt="Mean error and speed-up of each level and controller")
    else:
        st.caption("Every completion time is that of packet mode, at every level and with every controller.")
    st.caption(
        f"The same traffic under each controller, at the levels that there are ({', '.join(modes.choices('level'))}): "
        "how far completion times are off, and how many times faster than packet mode that is. Level paper is the published method. Level bounded "
        "promises of HPCC only the last completion at a shared bottleneck: the shares of its flows wander longer than any window."
    )
    shown = table.dropna(axis="columns", how="all")
    errors = [name for name in ERROR_COLUMNS if name in shown]
    shown = shown.assign(**{name: 100 * shown[name] for name in errors})
    named = {"iteration_error": f"{WHOLE[of_time(result.scenario)]} error"}
    columns = {name: st.column_config.NumberColumn(named.get(name, name.replace("_", " ")), format="%.2g %%") for name in errors}
    columns |= {name: st.column_config.NumberColumn(name.replace("_", " "), format="percent") for name in SHARE_COLUMNS if name in shown}
    columns["speedup"] = st.column_config.NumberColumn("speed-up", format="%.2f ×")
    st.dataframe(shown, hide_index=True, width="stretch", height="content", column_config=columns, placeholder="–")


def steadiness(result) -> None:
    """What the published test makes of this scenario, by theta and l."""
    table = sensitivity.table(result, comparison.results(result).get("packet"))
    if not len(table):
        return
    st.subheader("θ and l of the published test", anchor=False)
    st.plotly_chart(cells(table), config=CONFIG, key="sensitivity", alt="Mean error and share of packet-hops skipped for each theta and l")
    st.caption(
        "Level paper takes rates for steady that stay within θ over l samples: the larger θ and the smaller l, the sooner it skips, and the more it errs. "
        "Where nothing is skipped, all error is that of its memo."
    )


main()
