"""Build page: choose a preset or assemble a scenario, and see at once whether it fits and what it costs."""

import streamlit as st

from sim.errors import LabError
from sim.preset import to_toml
from views.parts import (
    draft,
    fields,
    keys,
    link,
    modes,
    page,
    pictures,
    presets,
    preview,
    session,
    sources,
    troubles,
    workload,
)
from views.parts.labels import labelled
from views.parts.words import file_stem, plural, roughly, roughly_count

SECTIONS = CLUSTER, WORKLOAD, TRANSPORT, TROUBLE = "Cluster", "Workload", "Transport", "What goes wrong"
MESSAGES_TELL_S = 1.0  # from which on it is told what messages cost that no repetition saves
LAST_LEGAL = "last legal scenario"
SECTION_KEPT = "section kept"  # for when other pages were looked at meanwhile


def main() -> None:
    page.open_page("Build", "What do you want to simulate? Pick a preset, change what you like, press Run.")
    presets.choose()
    scenario, network, problem = check()
    run_bar(scenario, problem)
    modes.choose("build")
    compilation()
    form, picture = st.columns([5, 8], gap="large")
    with form:
        edit(scenario, network)
    with picture:
        if problem is None:
            pictures.show(scenario, network)
            st.session_state[LAST_LEGAL] = scenario, network
        elif LAST_LEGAL in st.session_state:
            st.caption("Not what is on the left, but the last scenario that was legal:")
            pictures.show(*st.session_state[LAST_LEGAL])


def check():
    """(scenario, network, None), or what there is of them and the line that says what is wrong."""
    scenario = network = None
    try:
        scenario = draft.scenario()
        network = preview.network(scenario.cluster)
        preview.faulty_ports(network, scenario)
        preview.estimate(scenario)
    except LabError as problem:
        return scenario, network, str(problem)
    return scenario, network, None


def run_bar(scenario, problem: str | None) -> None:
    """The line that says whether it can run, what that costs, and the button."""
    left, right = st.columns([3, 1], vertical_alignment="center")
    with right:
        if st.button(
            "Run", type="primary", icon=":material/play_arrow:", disabled=problem is not None, width="stretch"
        ):
            session.start_run(draft.titled())
            st.switch_page(page.PAGES["run"])
    with left:
        if problem is not None:
            st.error(labelled(problem), icon=":material/block:")
            return
        cost = preview.estimate(scenario)
        tasks = f", {plural(cost.tasks, 'compute task')}" if cost.tasks else ""
        takes = f"**{roughly(cost.cpu_s)}**"
        messages = f" ({roughly(cost.least_s)} of it to start and end every message)" if cost.least_s > MESSAGES_TELL_S else ""
        how_long = {
            "packet": f"The run takes {takes}.",
            "wormhole": f"Packet by packet it would take {takes}{messages}; less as far as traffic repeats.",
            "flow": f"Packet by packet it would take {takes}; without packets it is quick.",
        }[scenario.simulation.mode]
        st.success(
            f"Ready: {plural(cost.flows, 'flow')}{tasks}, {roughly_count(cost.packet_hops)} packet-hops. {how_long}",
            icon=":material/check_circle:",
        )
    for notice in pictures.idle(scenario):
        st.warning(labelled(notice), icon=":material/warning:")


def compilation() -> None:
    """Whether the kernel is being compiled. It is not polled: a fragment that reruns by itself makes number fields forget what they hold."""
    kernel = session.compilation()
    if kernel.state == "compiling":
        st.caption(":material/build: Compiling the kernel in the background, once on this machine; a run may be started meanwhile.")
    elif kernel.state == "failed":
        st.caption(f":material/error: {kernel.error}")


def edit(scenario, network) -> None:
    st.session_state["section"] = st.session_state.get("section") or st.session_state.get(SECTION_KEPT, CLUSTER)
    section = st.segmented_control("Section", SECTIONS, required=True, key="section", label_visibility="collapsed", persist_state="session")
    st.session_state[SECTION_KEPT] = section
    if section == CLUSTER:
        fields.show(keys.CLUSTER, scenario)
        if told := sources.of_cluster(draft.data().get("cluster", {})):
            st.caption(told)
        with st.expander("Links and delays", icon=":material/cable:"):
            fields.show(keys.LINKS, scenario)
    elif section == WORKLOAD:
        workload.show(scenario)
    elif section == TRANSPORT:
        fields.show(keys.TRANSPORT, scenario)
        with st.expander("Packets and losses", icon=":material/mail:"):
            fields.show(keys.PACKETS, scenario)
        with st.expander("Simulation", icon=":material/timer:"):
            fields.show(keys.SIMULATION, scenario)
    else:
        troubles.show(scenario, network)
    share(scenario)


def share(scenario) -> None:
    with st.popover("Share this scenario", icon=":material/share:", disabled=scenario is None, width="stretch"):
        if scenario is None:
            return
        address = link.address(scenario)
        if address is None:
            st.caption("This scenario is too large for a link; share it as a file.")
        else:
            st.caption("This link restores everything on this page.")
            st.code(address, language=None, wrap_lines=True)
        st.download_button(
            "Download as TOML",
            to_toml(draft.titled()),
            f"{file_stem(scenario.name)}.toml",
            "application/toml",
            icon=":material/download:",
            on_click="ignore",
        )


main()
