"""Import page: files of other tools, or of this one, become the scenario on the Build page."""

import streamlit as st

from sim.errors import LabError
from sim.workload.sizes import sizes
from views.figures.style import CONFIG
from views.figures.topology import topology
from views.parts import draft, metrics, page, preview, uploads
from views.parts.labels import labelled
from views.parts.words import plain, plural, show_bytes, show_count, told

KIND = "import kind"


def main() -> None:
    page.open_page("Import", "What have you got from elsewhere? Files become a scenario that can be changed and run here.")
    kind = st.segmented_control(
        "From", list(uploads.NAMES), default=uploads.OWN, required=True, key=KIND, format_func=uploads.NAMES.get, persist_state="session"
    )
    st.caption(f"{uploads.WHAT[kind]} Takes {plain(uploads.takes(kind))}.")
    given = st.file_uploader(
        "Files, in any order", accept_multiple_files=True, key="files to import", max_upload_size=uploads.MAX_UPLOAD_MB,
        help=f"At most {uploads.MAX_UPLOAD_MB} MB together; python -m sim import takes more. They are read here and go nowhere else.",
    )  # fmt: skip
    if not given:
        return
    try:
        scenario, said = uploads.imported(kind, uploads.named(given))
        show(scenario, said)
    except LabError as problem:
        st.error(labelled(str(problem)), icon=":material/block:")


def show(scenario, said: list[str]) -> None:
    """What was read, and the button that takes it over."""
    network, counts = preview.network(scenario.cluster), sizes(scenario)
    st.subheader(plain(scenario.title or scenario.name), anchor=False)
    if scenario.description:
        st.caption(told(scenario.description))
    links = network.n_ports // 2
    metrics.row(
        "read",
        ("GPUs", show_count(network.n_hosts), None),
        ("Switches", show_count(network.n_nodes - network.n_hosts), "NVSwitches among them"),
        ("Links", show_count(links), None),
        ("Tasks", show_count(counts.tasks), "Of computing"),
        ("Messages", show_count(counts.flows), "Those that collectives are made of, too"),
        ("To send", show_bytes(counts.network_bytes), "Payload of all messages"),
        border=True,
    )
    for notice in said:
        st.caption(f":material/info: {labelled(notice)}")
    if st.button("Use this scenario", type="primary", icon=":material/tune:", help="Take it to the Build page, in place of what is there"):
        draft.load(scenario)
        st.switch_page(page.PAGES["build"])
    st.plotly_chart(topology(network, preview.faulty_ports(network, scenario)), config=CONFIG, key="imported topology", alt="Drawing of the network")
    st.caption(f"The network as it was read: {plural(links, 'link')}. Hover a link for its speed and delay.")


main()
