"""The shareable link: the whole scenario in one query parameter of every page."""

import streamlit as st

from sim.errors import ScenarioError
from sim.preset import from_link, to_link
from views.parts import draft
from views.parts.labels import labelled

PARAMETER = "scenario"
PAGES = ("build", "import_files", "run", "timeline", "network", "partitions", "patterns", "accuracy", "validation")  # last part of a page's address
MAX_LINK_CHARACTERS = 7000  # browsers and proxies cut URLs from 8 kB on
MAX_TEXT = 300_000  # characters of imported work or of a graph: whatever packs them, they are not tried for a link


def sync() -> None:
    """Take the scenario of an opened link into the draft, then keep the address bar on the draft."""
    given = st.query_params.get(PARAMETER)
    if given and given != st.session_state.get("link_written"):
        st.session_state["link_written"] = given
        try:
            draft.load(from_link(given))
        except ScenarioError as problem:
            st.session_state["link_problem"] = str(problem)
    write()


def write() -> None:
    """Put the draft into the address bar, if it is a legal scenario and short enough."""
    scenario = draft.scenario_or_none()
    if scenario is None:
        return
    link = _short(scenario)
    if link is None:
        st.query_params.pop(PARAMETER, None)
        st.session_state["link_written"] = None
    elif st.query_params.get(PARAMETER) != link:
        st.query_params[PARAMETER] = link
        st.session_state["link_written"] = link


def _short(scenario) -> str | None:
    """The scenario as text of a link, None if it is too long for one."""
    if len(scenario.cluster.graph or "") > MAX_TEXT or (scenario.program is not None and len(scenario.program.work) > MAX_TEXT):
        return None
    link = to_link(scenario)
    return link if len(link) <= MAX_LINK_CHARACTERS else None


def show_problem() -> None:
    """Say once that the link that was opened is no good."""
    problem = st.session_state.pop("link_problem", None)
    if problem:
        st.error(
            f"The link could not be opened: {labelled(problem)}. Showing the first preset instead.",
            icon=":material/link_off:",
        )


def address(scenario) -> str | None:
    """The full link that restores a scenario, None if it is too long for one."""
    link = _short(scenario)
    if link is None:
        return None
    page = (st.context.url or "").split("?")[0].rstrip("/")
    root, _, last = page.rpartition("/")
    return f"{root if last in PAGES else page}/?{PARAMETER}={link}"
