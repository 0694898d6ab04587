"""Run page: how far the simulation is, and what came out of it."""

import streamlit as st

from sim.result_notices import partial
from sim.result_summary import simulated_hops
from views.figures.completion import completion
from views.figures.hops import hop_bars, parts_of
from views.figures.style import CONFIG
from views.parts import collective, congestion, downloads, draft, earlier, job_times, metrics, modes, page, session
from views.parts.job_names import of_time, trains
from views.parts.labels import labelled
from views.parts.words import fine_share, plain, plural, roughly, show_bytes, show_count, show_time

POLL_S = 0.25
COMPILED_NOW_S = 0.1  # a run that waited longer for the kernel says so
MOSTLY = 0.5  # share of the packet-hops from which a run is told to be no quicker than packet by packet
LITTLE_REPEATS = " Little repeats so far, so that most packets have to be simulated: expect about the time of packet mode, or cancel and keep what is there."
PHASES = {
    "waiting": "Waiting for its turn",
    "compiling": "Compiling the kernel (first run only)",
    "building": "Building network and workload",
    "running": "Simulating",
}


def main() -> None:
    page.open_page("Run", "What does the network do to this scenario?")
    if session.running():
        watch()
        return
    ended = session.desk().job
    if ended is not None and ended.result is None:
        without_result(ended)
        return
    result = page.need_result()
    headline(result)
    job_times.show(result)
    collective.show(result.summary)
    origin(result)
    for notice in result.notices:
        if notice != partial(result):
            st.info(labelled(notice), icon=":material/lightbulb:")
    distribution(result)
    earlier.show()
    downloads.show(result)


def without_result(job) -> None:
    """A run that failed, or was cancelled before it had begun."""
    if job.state == "failed":
        st.error(labelled(job.error), icon=":material/error:")
    else:
        st.warning("Cancelled before the simulation had begun: there is nothing to show.", icon=":material/warning:")
    if st.button("Back to Build", icon=":material/tune:"):
        st.switch_page(page.PAGES["build"])


@st.fragment(run_every=POLL_S)
def watch() -> None:
    """Progress of the running job; one full rerun when it ends."""
    job = session.desk().job
    if not session.running():
        st.rerun()
    state, progress = job.state, job.progress
    st.subheader(plain(job.scenario.title or job.scenario.name), anchor=False)
    if progress is None or state != "running":
        st.progress(0.0, text=PHASES.get(state, "Finishing") + " …")
        if state == "compiling":
            st.caption(
                "Once on this machine: the packet kernel is translated to machine code and kept on disk. "
                "Later runs start at once."
            )
    else:
        st.progress(
            min(max(progress.fraction, 0.0), 1.0),
            text=f"{modes.RUNNING[job.mode]}: {100 * progress.fraction:.0f} %, {left(progress)}",
        )
        metrics.row(
            "progress",
            ("Simulated time", show_time(progress.sim_time_s), None),
            ("Packet-hops", show_count(progress.packet_hops), None),
            ("Flows finished", f"{show_count(progress.flows_finished)} of {show_count(progress.flows_total)}", None),
            ("Bytes left", show_bytes(progress.bytes_left), None),
        )
        live_hops(progress)
    st.button("Cancel", icon=":material/stop:", help="Stop here and keep what has been simulated", on_click=job.cancel)


def live_hops(progress) -> None:
    """What the wormhole kernel has simulated, replayed and skipped so far."""
    if progress.kernel is None:
        return
    parts, memo = parts_of(progress.kernel["packet_hops"]), progress.kernel["memo"]
    if any(parts.values()):
        st.plotly_chart(hop_bars({"so far": parts}, alone=True), config=CONFIG, key="live hops", alt="Packet-hops so far by how they came about")
        st.caption(
            f"Packet-hops so far by how they came about. {plural(memo['patterns'], 'state')} of partitions known, met again {plural(memo['hits'], 'time')}."
            + LITTLE_REPEATS * (parts["simulated"] > MOSTLY * sum(parts.values()))
        )


def left(progress) -> str:
    return "time left not known yet" if progress.eta_s is None else f"{roughly(progress.eta_s)} left"


def headline(result) -> None:
    """Two rows of four figures."""
    summary = result.summary
    rows = (
        (
            (
                of_time(result.scenario) if result.finished else "Simulated so far",
                show_time(job_times.iteration_s(result)),
                f"From the start until {'the last task is done and ' * trains(result.scenario)}the last ACK is back",
            ),
            (
                "Mean flow completion",
                _time(summary["mean_fct_s"]),
                "From a flow's start until its last ACK is back at the sender",
            ),
            ("99th percentile", _time(summary["p99_fct_s"]), "99 of 100 flows complete within this time"),
            ("Slowest flow", _time(summary["max_fct_s"]), "A collective waits for its slowest flow"),
        ),
        congestion.figures(summary),
    )
    for name, figures in zip(("times", "congestion"), rows, strict=True):
        metrics.row(name, *figures, border=True)
    finished = f"{show_count(summary['flows_finished'])} of {plural(summary['flows'], 'flow')} finished"
    spent = summary["cpu_s"]
    compile_s = spent.get("compile", 0.0)
    compiling = f", {show_time(compile_s)} to compile it, once" if compile_s > COMPILED_NOW_S else ""
    st.caption(
        f"{finished}. {of_hops(summary)} in {show_time(summary['wall_s'])} "
        f"({show_time(spent.get('kernel', 0.0))} in the kernel{compiling}), "
        f"{show_bytes(summary['peak_rss_bytes'])} is the most memory that the app has taken since it started."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.page_link(page.PAGES["timeline"], label="See who waits for whom", icon=":material/view_timeline:")
        st.page_link(page.PAGES["network"], label="See where it is congested", icon=":material/hub:")
    modes.choose("run", run_again)


def run_again() -> None:
    if st.button("Run again", icon=":material/replay:", disabled=draft.scenario_or_none() is None):
        session.start_run(draft.titled())
        st.rerun()


def of_hops(summary: dict) -> str:
    """How many packet-hops there were, in the words of the mode."""
    hops = summary["packet_hops"]
    if summary["mode"] == "flow":
        return f"Rates of the flows worked out without packets ({show_count(hops['total'])} packet-hops left out)"
    if summary["mode"] == "packet":
        return f"{show_count(hops['executed'])} packet-hops simulated one by one"
    own, beyond = simulated_hops(hops)
    return f"{show_count(hops['total'])} packet-hops accounted for, {show_count(own)} of them simulated{_beyond(beyond)}"


def _beyond(hops: int) -> str:
    return f" (and {show_count(hops)} more that were not needed in the end)" if hops else ""


def beyond_in_words(hops: int) -> str:
    """Why more may be simulated than a run has."""
    return f"; {show_count(hops)} more to find out what states become, not needed in the end because another flow came or went before" if hops else ""


def origin(result) -> None:
    """Of a wormhole run: what was simulated, replayed and skipped."""
    summary = result.summary
    hops, memo = summary["packet_hops"], summary["memo"]
    if summary["mode"] != "wormhole" or not hops["total"]:
        return
    st.subheader("Where the answer came from", anchor=False)
    parts, exact, beyond = parts_of(hops), summary["level"] == "exact", simulated_hops(hops)[1]
    total, steady = max(1, sum(parts.values())), " to the bit" if exact else ", or are steady on average"
    metrics.row(
        "origin",
        ("Simulated", fine_share(parts["simulated"] / total), f"{show_count(parts['simulated'])} packet-hops, one by one" + beyond_in_words(beyond)),
        ("Replayed", fine_share(parts["replayed"] / total), f"{show_count(parts['replayed'])} packet-hops: a state that was met before has the same future"),
        ("Skipped", fine_share(parts["skipped"] / total), f"{show_count(parts['skipped'])} packet-hops of stretches that repeat{steady}"),
        ("States remembered", show_count(memo["patterns"]), f"Met again {plural(memo['hits'], 'time')}, {show_bytes(memo['bytes'])} of memory"),
        border=True,
    )  # fmt: skip
    st.plotly_chart(hop_bars({"run": parts}, alone=True), config=CONFIG, key="hops", alt="Packet-hops simulated, replayed and skipped, as shares")
    told = "All three give the same bits as packet mode." if exact else f"Level {summary['level']}: not the same bits as packet mode, see Accuracy."
    st.caption(f"All packet-hops of the run by how they came about: the less is simulated, the shorter the wait. {told}")
    if session.was_kept(result) and memo["patterns"]:
        st.caption(
            f":material/bookmark: Remembered for later runs: {plural(memo['patterns'], 'state')} of partitions and what becomes of them, "
            f"{show_bytes(memo['bytes'])}. A run that meets one of them begins with its answer."
        )
    with st.container(horizontal=True):
        st.page_link(page.PAGES["partitions"], label="See when what was skipped", icon=":material/view_week:")
        st.page_link(page.PAGES["patterns"], label="See what repeats", icon=":material/schema:")
        st.page_link(page.PAGES["accuracy"], label="See whether it is right", icon=":material/verified:")


def _time(seconds: float | None) -> str:
    return "–" if seconds is None else show_time(seconds)


def distribution(result) -> None:
    st.subheader("How long flows took", anchor=False)
    measure = st.segmented_control(
        "Measure",
        ("Time of each flow", "Slowdown"),
        default="Time of each flow",
        required=True,
        key="measure",
        label_visibility="collapsed",
    )
    column = "slowdown" if measure == "Slowdown" else "fct_s"
    st.plotly_chart(
        completion(result.flows, column),
        config=CONFIG,
        key="completion",
        alt="Cumulative distribution of flow completion times",
    )
    st.caption(
        "Share of flows done within a time, per kind. A long tail to the right is what a collective waits for."
        if column == "fct_s"
        else "Completion time over that of the same flow alone on an idle path: 1 is undisturbed, "
        "the rest is contention."
    )


main()
