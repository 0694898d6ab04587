"""Network page: links coloured by how busy they are at a time, and one port over the whole run."""

import numpy as np
import streamlit as st

from sim.topology.build import fault_ports
from views.figures.heat import heat
from views.figures.port import MARKS, port, quiet, seen
from views.figures.style import CONFIG
from views.parts import congestion, fault_times, metrics, page
from views.parts.job_names import of_numbers
from views.parts.words import plural, show_count, show_rate, show_share, show_time

TICK_S = 0.4
TICKS = 60  # steps in which Play goes through the whole run
MOST_PORTS = 1500
STAYS = {"since_s": "here_since_s", "until_s": "here_until_s"}  # when a flow's data took a port
MOST_FLOWS = 1000
NOTABLE_QUEUE_BYTES = 10_000  # a few packets wait anywhere
PAUSED_TOLD = " A square around a dot: PFC paused that port, it waits with what it has."
BIN, PLAY, PORT = "network bin", "network play", "network port"


def main() -> None:
    page.open_page("Network", "Where and when is the network congested?")
    result = page.need_result()
    if not result.series.n_bins:
        st.info("The run ended before anything was sent.", icon=":material/info:")
        return
    prepare(result)
    fault_times.tell(result, ". Move the time there to see it: a link that is down is dotted, one that is slow or loses packets dashed along its middle.")
    playing = st.session_state[PLAY]
    st.fragment(moment, run_every=TICK_S if playing else None)(result, playing)


def prepare(result) -> None:
    """A first look at the busiest moment and port; choices of another run are forgotten."""
    if st.session_state.get("network of") is not result.raw or PORT not in st.session_state:
        st.session_state["network of"] = result.raw
        st.session_state[BIN] = busiest_bin(result)
        st.session_state[PORT] = (faulty_ports(result) or ports_by_interest(result))[0]
        st.session_state[PLAY] = False


def busiest_bin(result) -> int:
    """When most bytes were queued; without queues worth the name, when the fabric sent most."""
    series = result.series
    queued = np.where(series.max_queue_bytes >= NOTABLE_QUEUE_BYTES, series.max_queue_bytes, 0).sum(axis=0)
    sent = series.tx_bytes[(result.ports["kind"] == "fabric").to_numpy()].sum(axis=0)
    return int((queued if queued.any() else sent).argmax())


def ports_by_interest(result) -> list[int]:
    """Ports that carried something, those with marks and deep queues first, then paused ones, NVLink last."""
    ports = result.ports[result.ports["tx_bytes"] > 0]
    queue = ports["max_queue_bytes"].where(ports["max_queue_bytes"] >= NOTABLE_QUEUE_BYTES, 0)
    ports = ports.assign(queue=queue, fabric=ports["kind"] == "fabric")
    ranked = ports.sort_values(["ecn_marks", "queue", "pauses", "fabric", "tx_bytes"], ascending=False)
    return ranked["port_id"].head(MOST_PORTS).tolist() or [0]


def faulty_ports(result) -> list[int]:
    """Ports that faults of the scenario touch, by how much they sent."""
    if not result.scenario.faults:
        return []
    touched = np.unique(np.concatenate([fault_ports(result.network, fault) for fault in result.scenario.faults]))
    sent = result.ports["tx_bytes"].to_numpy()[touched]
    return touched[np.argsort(-sent, kind="stable")][:MOST_PORTS].tolist()


def moment(result, ticking: bool) -> None:
    """Everything that depends on the time chosen; reruns alone, and by itself while `ticking`."""
    series = result.series
    last = series.n_bins - 1
    if st.session_state[PLAY]:
        st.session_state[BIN] = min(st.session_state[BIN] + max(1, series.n_bins // TICKS), last)
        st.session_state[PLAY] = st.session_state[BIN] < last
    if st.session_state[PLAY] != ticking:
        st.rerun()
    play, scrub = st.columns([1, 6], vertical_alignment="bottom")
    play.button(
        "Pause" if ticking else "Play",
        key="play or pause",
        icon=":material/pause:" if ticking else ":material/play_arrow:",
        width="stretch",
        disabled=last == 0,
        on_click=_toggle_play,
        args=(last,),
    )
    with scrub:
        if last:
            options = [show_time(edge) for edge in series.edges_s[:-1]]
            st.select_slider(
                "Time", range(last + 1), key=BIN, persist_state="session", format_func=lambda bin: options[bin]
            )
    bin = st.session_state[BIN]
    chosen = choose_port(result)
    st.plotly_chart(
        heat(result, bin, chosen),
        config=CONFIG,
        key="heat",
        on_select=_clicked,
        selection_mode="points",
        alt="Network with links coloured by utilisation",
    )
    edges = series.edges_s
    st.caption(
        f"Between {show_time(edges[bin])} and {show_time(edges[bin + 1])}. Each link has two sides, one per direction; "
        "the dot near the sending end is its port. "
        "Click a dot to look at that port below."
        + PAUSED_TOLD * bool((series.paused_s[:, bin] > 0).any())
    )
    detail(result, chosen, (edges[bin] + edges[bin + 1]) / 2)


def _toggle_play(last: int) -> None:
    st.session_state[PLAY] = not st.session_state[PLAY]
    if st.session_state[PLAY] and st.session_state[BIN] >= last:
        st.session_state[BIN] = 0


def _clicked() -> None:
    for point in st.session_state["heat"]["selection"]["points"]:
        if point.get("customdata") is not None:
            st.session_state[PORT] = int(point["customdata"])
            return


def choose_port(result) -> int:
    options = list(dict.fromkeys(faulty_ports(result) + ports_by_interest(result)))
    chosen = st.session_state[PORT]
    if chosen not in options:
        options.insert(0, chosen)
    names = result.ports["name"]
    return st.selectbox(
        "Port",
        options,
        key=PORT,
        persist_state="session",
        format_func=lambda port_id: names[port_id],
        help="Ports with a fault first, then the most troubled ones: marks, queues, pauses",
    )


def detail(result, port_id: int, at_s: float) -> None:
    row = result.ports.iloc[port_id]
    flows = result.flows.iloc[result.flows_through(port_id)].sort_values("start_s")
    st.subheader(f"Port {row['name']}", anchor=False)
    metrics.row(
        "port-figures",
        (
            "Mean utilisation",
            show_share(row["mean_utilisation"]),
            f"Of {show_rate(row['rate_bps'])}, over the whole run",
        ),
        *congestion.figures(result.summary, congestion.OF_PORT, row),
        *_of_others(result, flows),
    )
    st.plotly_chart(
        port(result, port_id, at_s, fault_times.moments(result)),
        config=CONFIG,
        key="port",
        alt="Utilisation, queue, marks and flows of one port over time",
    )
    told = [quiet(result, port_id)]
    if MARKS in seen(result, port_id):
        told.append("A queue above kmin gets packets marked, and senders slow down.")
    if row["paused_s"] > 0:
        told.append("While it is paused (shaded) a port may not send at all and backs up the ports behind it.")
    st.caption(" ".join(filter(None, told)))
    with st.expander(f"{plural(len(flows), 'flow')} through this port", icon=":material/list:"):
        names = of_numbers(result.scenario)
        shown = flows.head(MOST_FLOWS).assign(job=flows["job"].map(names))
        if len(flows) and len(result.raw.reroutes.flow):
            shown = shown.merge(result.stays_at(port_id).rename(columns=STAYS), on="flow_id")
            shown = shown[["flow_id", *STAYS.values(), *(name for name in shown if name not in ("flow_id", *STAYS.values()))]]
            st.caption("Links failed or came back: *here since* and *here until* say when a flow's data took this port.")
        st.dataframe(shown, hide_index=True, width="stretch", placeholder="–")
        if len(flows) > MOST_FLOWS:
            st.caption(f"The first {show_count(MOST_FLOWS)} by start; all are in the download of the Run page.")


def _of_others(result, flows) -> list[tuple[str, str, str]]:
    """The share of background in what crossed a port, where a run has any."""
    if not result.scenario.background:
        return []
    sent = flows["bytes"] - flows["bytes_left"]
    share = sent[flows["job"] < 0].sum() / max(1, sent.sum())
    return [("Background", show_share(share), "Share of the payload through this port that is traffic of others")]


main()
