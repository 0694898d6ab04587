"""Build page: choose a preset or assemble a scenario, and see at once whether it fits and what it costs."""

import streamlit as st

from sim.errors import LabError
from sim.preset import list_presets, load_preset, to_toml
from sim.topology.build import all_notices
from sim.workload.bytes import bytes_per_gpu
from sim.workload.memory import feasibility
from views.figures import shares
from views.figures.style import CONFIG
from views.figures.topology import topology
from views.parts import draft, faults, fields, link, modes, page, preview, session
from views.parts.labels import labelled
from views.parts.words import file_stem, plain, plural, roughly, roughly_count

SECTIONS = ("Cluster", "Workload", "Transport", "Faults")
LAST_LEGAL = "last legal scenario"
TRAINING, TRAFFIC = "Training a model", "Plain traffic"


def main() -> None:
    page.open_page("Build", "What do you want to simulate? Pick a preset, change what you like, press Run.")
    choose_preset()
    scenario, network, problem = check()
    run_bar(scenario, problem)
    modes.choose("build")
    compilation()
    form, picture = st.columns([5, 8], gap="large")
    with form:
        edit(scenario, network)
    with picture:
        if problem is None:
            show(scenario, network)
            st.session_state[LAST_LEGAL] = scenario, network
        elif LAST_LEGAL in st.session_state:
            st.caption("Not what is on the left, but the last scenario that was legal:")
            show(*st.session_state[LAST_LEGAL])


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


def choose_preset() -> None:
    presets = {name: load_preset(name) for name in list_presets()}
    names = sorted(presets, key=lambda name: (presets[name].model is not None, presets[name].cluster.gpus, name))
    st.session_state.setdefault(draft.PRESET, draft.data().get("name") if draft.data().get("name") in names else None)
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    left.selectbox(
        "Preset",
        names,
        index=None if st.session_state[draft.PRESET] is None else 0,
        key=draft.PRESET,
        format_func=lambda name: presets[name].title or name,
        on_change=_load_preset,
        placeholder="Own scenario",
        persist_state="session",
    )
    if right.button("Undo all changes", icon=":material/undo:", disabled=not draft.edited(), width="stretch"):
        draft.undo()
        st.rerun()
    changed = f"**{plain(draft.title())}**: " if draft.edited() else ""
    st.caption(changed + plain(str(draft.data().get("description", ""))))


def _load_preset() -> None:
    name = st.session_state[draft.PRESET]
    if name:
        draft.load(load_preset(name))


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
        how_long = {
            "packet": f"The run takes {takes}.",
            "wormhole": f"Packet by packet it would take {takes}; only what is new is simulated.",
            "flow": f"Packet by packet it would take {takes}; without packets it is quick.",
        }[scenario.simulation.mode]
        st.success(
            f"Ready: {plural(cost.flows, 'flow')}{tasks}, {roughly_count(cost.packet_hops)} packet-hops. {how_long}",
            icon=":material/check_circle:",
        )


def compilation() -> None:
    """While the kernel is being compiled, say so; look again every second."""
    st.fragment(_compilation, run_every=1.0 if session.compilation().state == "compiling" else None)()


def _compilation() -> None:
    kernel = session.compilation()
    if kernel.state == "compiling":
        st.caption(
            f":material/build: Compiling the kernel in the background (first run only): {kernel.seconds:.0f} s so far."
        )
    elif kernel.state == "failed":
        st.caption(f":material/error: {kernel.error}")


def edit(scenario, network) -> None:
    section = st.segmented_control(
        "Section",
        SECTIONS,
        default=SECTIONS[0],
        required=True,
        key="section",
        label_visibility="collapsed",
        persist_state="session",
    )
    if section == "Cluster":
        fields.show(fields.CLUSTER, scenario)
    elif section == "Workload":
        edit_workload(scenario)
    elif section == "Transport":
        fields.show(fields.TRANSPORT, scenario)
    else:
        faults.show(network)
    share(scenario)


def edit_workload(scenario) -> None:
    training = "traffic" not in draft.data()
    st.session_state.setdefault("workload", TRAINING if training else TRAFFIC)
    st.session_state["workload"] = TRAINING if training else TRAFFIC
    st.segmented_control("Workload", (TRAINING, TRAFFIC), required=True, key="workload", on_change=_choose_workload)
    if training:
        fields.show(fields.MODEL[:2], scenario)
        fields.show(fields.PARALLELISM, scenario)
        with st.expander("Shape of the model"):
            fields.show(fields.MODEL[2:], scenario)
    else:
        fields.show(fields.TRAFFIC, scenario)
        if isinstance(draft.get("traffic.ranks"), (list, tuple)):
            st.caption(f"{plural(len(draft.get('traffic.ranks')), 'GPU takes', 'GPUs take')} part, as listed in the scenario; edit them in its TOML text.")
        listed = draft.get("traffic.flows")
        if listed:
            st.caption(
                f"{plural(len(listed), 'flow is', 'flows are')} listed in the scenario; edit them in its TOML text."
            )


def _choose_workload() -> None:
    draft.choose_workload(st.session_state["workload"] == TRAINING)


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


def show(scenario, network) -> None:
    for notice in all_notices(scenario, network):
        st.caption(f":material/info: {labelled(notice)}")
    st.subheader("Network", anchor=False)
    st.plotly_chart(
        topology(network, preview.faulty_ports(network, scenario)),
        config=CONFIG,
        key="topology",
        alt="Drawing of the network",
    )
    st.caption(
        f"{plural(network.n_hosts, 'GPU')} and {plural(network.n_nodes - network.n_hosts, 'switch', 'switches')}: "
        "every packet takes a shortest path through this graph. Hover a link for its speed and delay."
    )
    if scenario.model is None:
        return
    st.subheader("Bytes each GPU sends", anchor=False)
    st.plotly_chart(
        shares.bytes_per_gpu(bytes_per_gpu(scenario), preview.over(scenario, network)),
        config=CONFIG,
        key="bytes",
        alt="Bytes sent per GPU by kind of parallelism",
    )
    st.caption(
        "Per iteration and kind of parallelism: what crosses the network is what its links must carry. GPUs of one "
        "server talk over NVLink: TP always does, DP and PP where the ranks that talk share a server."
    )
    st.subheader("Memory of each GPU", anchor=False)
    memory = feasibility(scenario)
    st.plotly_chart(
        shares.memory_per_gpu(memory.rows, memory.capacity_bytes),
        config=CONFIG,
        key="memory",
        alt="Memory per GPU by kind against its capacity",
    )
    if memory.fits:
        st.caption(f"This strategy {memory.message}.")
    else:
        st.warning(
            f"This strategy {memory.message}. The network can be simulated all the same.", icon=":material/memory:"
        )


main()
