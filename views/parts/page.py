"""The frame of every page: title, the question it answers, the link, and what to do without a result."""

import streamlit as st

from sim.result_notices import partial
from views.parts import draft, link, records, session
from views.parts.labels import labelled
from views.parts.words import plain, told

COMPACT = """<style>
[data-testid='stMainBlockContainer'] { padding-top: 4.5rem; padding-bottom: 2rem; }
[data-testid='stMainBlockContainer'] h1 { padding: 0; }
[data-testid='stMainBlockContainer'] h3 { padding: 0.25rem 0 0.5rem; }
@media (hover: none) { .js-plotly-plot:not(:hover) .modebar { opacity: 0; pointer-events: none; } }
</style>"""  # on a touch screen a chart's buttons come with a tap: always there, they would cover its legend
PAGES = {
    "build": "views/build.py",
    "import": "views/import_files.py",
    "run": "views/run.py",
    "timeline": "views/timeline.py",
    "network": "views/network.py",
    "partitions": "views/partitions.py",
    "patterns": "views/patterns.py",
    "accuracy": "views/accuracy.py",
    "validation": "views/validation.py",
}


def open_page(title: str, question: str) -> None:
    """Begin a page: compile in the background, follow the link, write title and question."""
    st.html(COMPACT)
    session.compilation()
    link.sync()
    session.rejoin(draft.scenario_or_none())
    st.title(title, anchor=False)
    st.caption(question)
    link.show_problem()


def need_result():
    """The result to show; without one, say how to get it and end the page."""
    scenario = draft.scenario_or_none()
    result = session.result_for(scenario)
    if result is not None:
        _say_what_is_shown(result, scenario)
        return result
    if session.running():
        st.info("The run is still going; its result will be here when it ends.", icon=":material/hourglass_top:")
        st.page_link(PAGES["run"], label="Watch the run", icon=":material/play_arrow:")
    else:
        st.info("Nothing has been simulated yet.", icon=":material/info:")
        with st.container(horizontal=True, vertical_alignment="center"):
            if st.button("Run this scenario", type="primary", icon=":material/play_arrow:", disabled=scenario is None):
                session.start_run(draft.titled())
                st.switch_page(PAGES["run"])
            st.page_link(PAGES["build"], label="Choose another scenario", icon=":material/tune:")
    st.stop()


def _say_what_is_shown(result, scenario) -> None:
    """Title of the scenario; partial results and results of another scenario are marked on every page."""
    same = scenario is not None and scenario.digest() == result.scenario.digest()
    name = draft.title() if same else result.scenario.title or result.scenario.name
    st.subheader(plain(name) + ("" if result.finished else " – partial result"), anchor=False)
    if not result.finished:
        st.warning(told(partial(result)), icon=":material/warning:")
    if scenario is not None and not same:
        st.info(
            f"This is not the scenario as it now stands on the Build page, “{plain(draft.title())}”.",
            icon=":material/history:",
        )


def need_records(result, name: str):
    """A table that the wormhole kernel notes; without one, say why and end the page."""
    found = records.table(result, name)
    if found is not None:
        return found
    mode = result.summary["mode"]
    if mode != "wormhole":
        st.info(f"This run was made in mode {mode}, which does not divide the network into partitions.", icon=":material/info:")
        if draft.scenario_or_none() is not None and st.button("Run it in wormhole mode", type="primary", icon=":material/play_arrow:"):
            draft.put("simulation.mode", None)
            session.start_run(draft.titled())
            st.switch_page(PAGES["run"])
    elif records.in_packets(result) is not None:
        st.info(f"{labelled(records.in_packets(result))} The network was not divided, so that nothing is recorded here.", icon=":material/info:")
    else:
        st.info("Nothing was sent over the network in this run, so that there was nothing to divide.", icon=":material/info:")
    st.stop()
