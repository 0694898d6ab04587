"""Conflict patterns page: which sets of flows get in each other's way, how often, and what their repetition saves."""

import streamlit as st

from sim.convergence import longest_stretch
from sim.units import PS_PER_S
from views.figures.pattern import pattern
from views.figures.style import CONFIG
from views.parts import metrics, page, pattern_curves, pattern_files, pattern_graphs, scroll
from views.parts.words import fine_share, plural, show_count, show_time

STATIC = {**CONFIG, "displayModeBar": False, "staticPlot": True}
FIRST, MORE = 5, 10  # cards at first, and at each press of the button
CARD_PX = 210
SORTS = {
    "Packet-hops saved": ("hops_saved", False),
    "Times met": ("count", False),
    "Flows": ("flows", False),
    "Mean length": ("mean_length_s", False),
}
TABLES = {"Flows": pattern_graphs.flows_table, "Shared ports": pattern_graphs.shared_table, "Pairs": pattern_graphs.pairs_table}
TABLE_PX, ROW_PX = 340, 35
CHOSEN, SORT, SHOWN = "pattern chosen", "pattern sort", "patterns shown"
CLOSE, SCROLL = "one-pattern", "scroll to the chosen pattern"


def main() -> None:
    page.open_page("Conflict patterns", "Which flows get in each other's way, and how often does the same happen again?")
    result = page.need_result()
    patterns = page.need_records(result, "patterns")
    prepare(result, patterns)
    summary(result, patterns)
    sort = st.segmented_control("Sort by", tuple(SORTS), default="Packet-hops saved", required=True, key=SORT, persist_state="session")
    column, ascending = SORTS[sort]
    ranked = patterns.sort_values([column, "hops_saved", "pattern_id"], ascending=[ascending, False, True])
    gallery(result, ranked)
    close_look(result, ranked)


def prepare(result, patterns) -> None:
    """Choices made for another run are forgotten; the first look is at what saves most."""
    if st.session_state.get("patterns of") is result.raw and CHOSEN in st.session_state:
        return
    st.session_state["patterns of"] = result.raw
    st.session_state[SHOWN] = FIRST
    st.session_state[CHOSEN] = int(patterns.loc[patterns["hops_saved"].idxmax(), "pattern_id"])


def summary(result, patterns) -> None:
    hops = result.summary["packet_hops"]
    met, hits, saved = (int(patterns[name].sum()) for name in ("count", "hits", "hops_saved"))
    metrics.row(
        "patterns",
        ("Patterns", show_count(len(patterns)), "Conflict graphs that differ, whichever flows and ports are in them"),
        ("Times met", show_count(met), "Episodes: from one change of a set of flows to the next"),
        ("From memory", fine_share(hits / max(1, met)), f"{show_count(hits)} episodes that began in a known state"),
        ("Packet-hops saved", fine_share(saved / max(1, hops["total"])), f"{show_count(saved)} of {show_count(hops['total'])}, replayed or skipped"),
    )  # fmt: skip


def gallery(result, ranked) -> None:
    """Cards of the first patterns, as many side by side as there is room for."""
    st.html(f"<style>.st-key-gallery > div {{ flex: 1 1 {CARD_PX}px; max-width: {int(1.9 * CARD_PX)}px; }}</style>")
    with st.container(horizontal=True, key="gallery"):
        for row in ranked.head(st.session_state[SHOWN]).itertuples():
            with st.container(border=True):
                card(result, row)
    st.caption(
        "Each dot is a flow, each line joins two that queue in a common port. A pattern met again in the same state is not simulated again: "
        "its outcome is replayed."
    )
    left = len(ranked) - st.session_state[SHOWN]
    if left > 0 and st.button(more(left), icon=":material/expand_more:"):
        st.session_state[SHOWN] += MORE
        st.rerun()


def more(left: int) -> str:
    return f"Show {MORE} more of {show_count(left)}" if left > MORE else f"Show the other {left}" if left > 1 else "Show the last one"


def card(result, row) -> None:
    chosen = row.pattern_id == st.session_state[CHOSEN]
    drawn = pattern_graphs.drawn(result, row.pattern_id)
    if drawn is not None:
        st.plotly_chart(
            pattern(*drawn, chosen=chosen), config=STATIC, key=f"pattern {row.pattern_id}",
            alt=f"Conflict graph of pattern {row.pattern_id}: {plural(row.flows, 'flow')}",
        )  # fmt: skip
    st.markdown(f"Pattern {row.pattern_id}: **{plural(row.flows, 'flow')}**, {plural(row.ports, 'port')}")
    st.caption(
        f"Met {plural(row.count, 'time')}, {show_count(row.hits)} from memory; saved {show_count(row.hops_saved)} packet-hops; "
        f"lasts {show_time(row.mean_length_s)} on average."
    )
    st.button(
        "Shown below" if chosen else "Look closer", key=f"choose {row.pattern_id}", disabled=chosen, width="stretch", on_click=_choose, args=(row.pattern_id,)
    )


def _choose(pattern_id: int) -> None:
    st.session_state[CHOSEN] = int(pattern_id)
    st.session_state[SCROLL] = True


def close_look(result, ranked) -> None:
    ids = ranked["pattern_id"].tolist()
    by_id = ranked.set_index("pattern_id")
    with st.container(key=CLOSE):
        st.subheader("One pattern", anchor=False)
    if st.session_state.pop(SCROLL, False):
        scroll.to(CLOSE)
    st.selectbox(
        "Pattern", ids, key=CHOSEN, persist_state="session",
        format_func=lambda id: f"pattern {id}: {plural(by_id.loc[id, 'flows'], 'flow')} on {plural(by_id.loc[id, 'ports'], 'port')}, "
        f"met {plural(by_id.loc[id, 'count'], 'time')}",
    )  # fmt: skip
    chosen = st.session_state[CHOSEN]
    row = by_id.loc[chosen]
    metrics.row(
        "pattern-figures",
        ("Times met", show_count(row["count"]), "Episodes with this conflict graph"),
        ("From memory", show_count(row["hits"]), "Of these, begun in a state that was known"),
        ("States", show_count(row["states"]), "The same graph with other remaining bytes, queues or controllers is another state"),
        ("Packet-hops saved", show_count(row["hops_saved"]), "Replayed or skipped"),
        ("Mean length", show_time(row["mean_length_s"]), "From one change of the set of flows to the next"),
    )  # fmt: skip
    graph = pattern_graphs.graph(result, chosen)
    if graph is None:
        st.caption("The graph of this pattern is not in the records.")
        return
    left, right = st.columns([1, 1])
    with left:
        st.plotly_chart(
            pattern(*pattern_graphs.drawn(result, chosen), large=True), config=CONFIG, key="large pattern",
            alt="Conflict graph of the chosen pattern",
        )  # fmt: skip
        st.caption("Dots are flows, larger the faster they send; lines join flows that queue in a common port, thicker the more they share.")
    with right:
        tables(result, chosen)
    download(result, chosen)
    pattern_curves.show(result, chosen)


def tables(result, pattern_id: int) -> None:
    which = st.segmented_control(
        "Table", tuple(TABLES), default="Flows", required=True, key="pattern table", label_visibility="collapsed", persist_state="session"
    )
    table = TABLES[which](result, pattern_id)
    if len(table):
        st.dataframe(table, hide_index=True, width="stretch", placeholder="–", height=min(TABLE_PX, ROW_PX * (len(table) + 1) + 3))
        st.caption("Flows are numbered in order of start, ports by first use: a pattern stands for every set of flows and ports that looks like it.")
    else:
        st.caption("A lone flow: it shares no port with another.")


def where(result, pattern_id: int) -> None:
    """The longest episode of a pattern, and the way to its place on the network."""
    own = result.episodes[result.episodes["pattern_id"] == pattern_id]
    if not len(own):
        return
    number, start_ps, end_ps, _ = longest_stretch(own, pattern_id)
    start_s, length_s = start_ps / PS_PER_S, (end_ps - start_ps) / PS_PER_S
    if st.button(
        f"See it on the network at {show_time(start_s)}", icon=":material/view_week:",
        help=f"The longest of {plural(len(own), 'episode')}: {show_time(length_s)}",
    ):  # fmt: skip
        st.session_state["partitions of"] = result.raw
        st.session_state["partition chosen"] = number
        st.session_state["partition moment"] = start_s + length_s / 2
        st.switch_page(page.PAGES["partitions"])


def download(result, pattern_id: int) -> None:
    with st.container(horizontal=True):
        where(result, pattern_id)
        for label, suffix, mime, write in (
            ("Download GraphML", "graphml", "application/xml", pattern_files.as_graphml),
            ("Download JSON", "json", "application/json", pattern_files.as_json),
        ):
            st.download_button(
                label, lambda write=write: write(result, pattern_id), f"pattern-{pattern_id}.{suffix}", mime,
                icon=":material/download:", on_click="ignore", key=f"download {suffix}",
            )  # fmt: skip


main()
