"""Timeline page: ranks' compute and communication, the critical path, and a close look at one flow."""

import streamlit as st

from views.figures.gantt import gantt
from views.figures.pipeline_times import bubble_of
from views.figures.shares import OTHERS, kind_word, parts_of_path, path_shares
from views.figures.style import CONFIG, time_unit
from views.parts import congestion, fault_times, metrics, page, ranks, records
from views.parts import window as stretch
from views.parts.fields import spell
from views.parts.job_names import of_numbers, trains
from views.parts.words import plain, plural, show_bytes, show_rate, show_share, show_time

CHOSEN_FLOW, WINDOW = "timeline flow", "timeline window"
CANDIDATES = 200
MOST_SLOW = 8  # slow ranks that are named
HOW_TOLD = (
    " The row “network” is dark where any flow had to be simulated packet by packet (never too thin to be seen; hover for the share), "
    "lighter where all were replayed or skipped."
)
WAITED = (
    "*Work of others* is what the path computes beyond the work of its last rank: that rank waited for busier experts, slower GPUs "
    "or steps that only others have."
)
COMPUTED = ("forward", "backward", "weight", "recompute")  # what a rank computes with each micro-batch
WORK = (*COMPUTED, "TP")  # what a stage does with it


def main() -> None:
    page.open_page("Timeline", "Who computes, who sends, and who waits for whom?")
    result = page.need_result()
    prepare(result)
    jobs = ranks.choose_job(result)
    shares_s = parts_of_path(result)
    st.plotly_chart(
        path_shares(shares_s), config=CONFIG, key="path shares", alt="Shares of the critical path by kind"
    )
    parts = ", ".join(
        f"{kind_word(name)} {show_time(seconds)}" for name, seconds in shares_s.items() if seconds > 0
    )
    st.caption(
        f"What the critical path, the chain of steps that decides the end, went into: {parts}. "
        f"Only shortening these makes the {'iteration' if trains(result.scenario) and not result.scenario.jobs else 'run'} shorter."
    )
    explain_bubble(result, jobs)
    if shares_s.get(OTHERS, 0) > 0:
        st.caption(WAITED)
    name_slow(result)
    fault_times.tell(result, ": the dashed lines in the chart.")
    shown, labels = ranks.choose(result, jobs)
    window = stretch.choose(result, WINDOW)
    episodes = records.table(result, "episodes")
    moments = ranks.marks(result, jobs) | fault_times.moments(result)
    st.plotly_chart(
        gantt(result, shown, window, labels, st.session_state.get(CHOSEN_FLOW), episodes, moments),
        config=CONFIG,
        key="gantt",
        on_select=_clicked,
        selection_mode="points",
        alt="Gantt chart of ranks",
    )
    st.caption(
        f"One row per rank{': computing above, sending below' if result.dag.n_tasks else ' that sends'}. "
        "Outlined steps are on the critical path, which has a row of its own above. "
        "Where tasks are too short to see, a colour's height is its share of the time. "
        "Drag to zoom, double-click to zoom out, click a flow to look at it."
        + HOW_TOLD * (episodes is not None)
    )
    close_look(result)


def explain_bubble(result, jobs: list[ranks.Job]) -> None:
    """What a pipeline bubble is, and its size against the formula of each job's schedule."""
    piped = [job for job in jobs if job.parallelism is not None and job.parallelism.pp > 1]
    if not piped:
        return
    named = len(jobs) > 1
    sizes = "; ".join((f"{plain(job.name)}: " if named else "") + bubble_in_words(job.parallelism) for job in piped)
    text = (
        "The *bubble* is the time in which stages of the pipeline stand idle, because the first micro-batch has not yet reached them or the "
        f"last has left them{': ' if named else ', '}{sizes}."
    )
    p = piped[0].parallelism
    tasks = result.tasks[result.tasks["kind"].isin(WORK)]
    work = (tasks["end_s"] - tasks["start_s"]).sum() / p.gpus
    if result.finished and work > 0 and not result.scenario.jobs:
        bubble = result.path_shares_s.get("bubble", 0.0)
        text += f" In this run {show_time(bubble)} of it are on the critical path, beside {show_time(work)} of work: {show_share(bubble / work)}"
        text += ", waiting for slower GPUs included." if result.scenario.stragglers or p.compute_jitter else "."
    st.caption(text)


def name_slow(result) -> None:
    """Which ranks compute slower than the others, where a scenario says so: those beside them wait."""
    slow = [f"rank {one.gpu} at {show_share(one.speed)} of the others' speed" for one in result.scenario.stragglers]
    if slow:
        more = f" and {len(slow) - MOST_SLOW} more" if len(slow) > MOST_SLOW else ""
        named = f"**{', '.join(slow[:MOST_SLOW])}**{more}"
        st.caption(
            f":material/hourglass_bottom: Slow by the scenario: {named}. Ranks that share its work wait in the short gaps of their rows.{_lost_to_slow(result)}"
        )


def _lost_to_slow(result) -> str:
    """How much of the critical path slow ranks compute, and how much less that were at the others' speed."""
    speed = {one.gpu: one.speed for one in result.scenario.stragglers}
    path = result.critical_path
    path = path[(path["node_kind"] == "task") & path["kind"].isin(COMPUTED) & path["rank"].isin(list(speed))]
    took = path["end_s"] - path["start_s"]
    if not took.sum() > 0:
        return " The critical path does not go through it."
    lost = (took * (1 - path["rank"].map(speed))).sum()
    return f" Of the critical path {show_time(took.sum())} are computed there, {show_time(lost)} more than at the others' speed."


def bubble_in_words(p) -> str:
    """The formula of a schedule with a strategy's numbers in it."""
    found = bubble_of(p.schedule, p.pp, p.micro_batches, p.virtual_stages, p.recompute)
    virtual = f", v = {p.virtual_stages} virtual stages each" if p.virtual_stages > 1 else ""
    return (
        f"with {spell(p.schedule)} {found.formula} = {found.numbers} = {show_share(found.share)} of the work of one stage, "
        f"with p = {plural(p.pp, 'stage')}{virtual} and m = {plural(p.micro_batches, 'micro-batch', 'micro-batches')} ({found.source})"
    )


def prepare(result) -> None:
    """Choices made for another run are forgotten; the first flow is one that matters."""
    if st.session_state.get("timeline of") is not result.raw or CHOSEN_FLOW not in st.session_state:
        st.session_state["timeline of"] = result.raw
        st.session_state.pop(WINDOW, None)
        st.session_state[CHOSEN_FLOW] = next(iter(candidates(result)), None)


def _clicked() -> None:
    points = st.session_state["gantt"]["selection"]["points"]
    for point in points:
        if point.get("customdata", -1) >= 0:
            st.session_state[CHOSEN_FLOW] = int(point["customdata"])
            return


def candidates(result) -> list[int]:
    """Flows worth a look: those on the critical path, then the most slowed down ones."""
    path = result.critical_path
    on_path = path.loc[path["node_kind"] == "flow", "id"].tolist()
    slowest = result.flows["slowdown"].nlargest(CANDIDATES).index.tolist()
    return list(dict.fromkeys(on_path + slowest))[:CANDIDATES] or result.flows["flow_id"].head(CANDIDATES).tolist()


def close_look(result) -> None:
    st.subheader("One flow", anchor=False)
    if not len(result.flows):
        st.caption("This run has no flows.")
        return
    options, chosen = candidates(result), st.session_state[CHOSEN_FLOW]
    if chosen not in options:
        options.insert(0, chosen)
    on_path = set(result.critical_path.loc[result.critical_path["node_kind"] == "flow", "id"])
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    left.selectbox(
        "Flow",
        options,
        key=CHOSEN_FLOW,
        persist_state="session",
        format_func=lambda flow: describe(result, flow, flow in on_path),
    )
    flow = result.flows.iloc[st.session_state[CHOSEN_FLOW]]
    right.button(
        "Zoom to it",
        icon=":material/zoom_in:",
        width="stretch",
        on_click=_zoom,
        args=(result, flow),
        disabled=bool(flow.isna()["start_s"]),
    )
    missing = flow.isna()
    metrics.row(
        "flow-figures",
        ("Completion time", "unfinished" if missing["fct_s"] else show_time(flow["fct_s"]), None),
        ("Alone on the path", show_time(flow["ideal_fct_s"]), "Completion time of this flow on an idle network"),
        (
            "Slowdown",
            "–" if missing["slowdown"] else f"{flow['slowdown']:.2f}",
            "Completion time over that of the flow alone",
        ),
        *congestion.figures(result.summary, congestion.OF_FLOW, flow),
    )
    st.caption(
        f"{show_bytes(flow['bytes'])} of payload from rank {flow['src']} to rank {flow['dst']}"
        + (f", {flow['collective']}, step {flow['step']}" if isinstance(flow["collective"], str) else "")
        + ". The ports it crosses, in order:"
    )
    hops(result, int(flow["flow_id"]))


def describe(result, flow_id: int, on_path: bool) -> str:
    row = result.flows.iloc[flow_id]
    slow = "" if row.isna()["slowdown"] else f", slowdown {row['slowdown']:.2f}"
    job = of_numbers(result.scenario).get(int(row["job"])) if result.scenario.jobs else None
    which = f"{row['kind']} flow {flow_id}" + (f" of {job}" if job else "") + (" (critical path)" if on_path else "")
    return f"{which}: rank {row['src']} to {row['dst']}, {show_bytes(row['bytes'])}{slow}"


def _zoom(result, flow) -> None:
    scale, _ = time_unit(result.end_s)
    length = flow["fct_s"] if flow["fct_s"] > 0 else result.end_s - flow["start_s"]
    first, last = max(flow["start_s"] - 0.2 * length, 0.0), min(flow["start_s"] + 1.2 * length, result.end_s)
    st.session_state[WINDOW] = (first / scale, last / scale)
    ranks.include(int(flow["src"]), int(flow["dst"]))


def hops(result, flow_id: int) -> None:
    """The ports on a flow's way with what they went through; on each of its ways, where links failed or came back meanwhile."""
    paths = result.flow_paths(flow_id)
    table = result.ports.iloc[[port for _, ports in paths for port in ports]]
    since = [show_time(at_s) for at_s, ports in paths for _ in ports]
    queued = {
        "deepest queue": [show_bytes(size) for size in table["max_queue_bytes"]],
        "ECN marks": table["ecn_marks"].tolist(),
        "PFC pauses": table["pauses"].tolist(),
    }
    st.dataframe(
        {
            **({"since": since} if len(paths) > 1 else {}),
            "port": table["name"].tolist(),
            "speed": [show_rate(rate) for rate in table["rate_bps"]],
            "mean utilisation": [show_share(share) for share in table["mean_utilisation"]],
            **(queued if congestion.simulated(result.summary) else {}),
        },
        column_config={name: st.column_config.NumberColumn(format="localized") for name in ("ECN marks", "PFC pauses")},
        hide_index=True,
        width="stretch",
    )
    if len(paths) > 1:
        at = ", ".join(show_time(at_s) for at_s, _ in paths[1:])
        st.caption(f"A link failed or came back while it was under way: from {at} on it took another way; *since* says from when it took which.")


main()
