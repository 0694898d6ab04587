"""Partitions page: what can be simulated apart, when, and by what means; a chosen one on the network."""

import numpy as np
import streamlit as st

from sim.result_summary import simulated_hops
from views.figures.lane_bars import BUSIEST, MOST_ROWS, WORKED
from views.figures.lane_links import MOST_LINKS, told, ways_of
from views.figures.lanes import lanes
from views.figures.partition_map import partition_map
from views.figures.style import CONFIG, add_moments, time_unit
from views.parts import fault_times, metrics, page, records, window
from views.parts.labels import labelled
from views.parts.words import fine_share, plural, show_bytes, show_count, show_time

CHOSEN, MOMENT, WINDOW, ORDER = "partition chosen", "partition moment", "partition window", "partition order"
MOST_FLOWS = 1000


def main() -> None:
    page.open_page("Partitions", "What can be simulated apart, and how much of it had to be?")
    result = page.need_result()
    episodes = page.need_records(result, "episodes")
    prepare(result, episodes)
    headline(result)
    notice = records.in_packets(result)
    if notice is not None:
        st.caption(f":material/info: {labelled(notice)} What was not divided is one lane.")
    fault_times.tell(result, ": the dashed lines in the chart.")
    shown_s = window.choose(result, WINDOW)
    order = st.session_state.get(ORDER, BUSIEST)
    ways = ways_of(result.partitions)
    figure, shown, total = lanes(episodes, shown_s, result.end_s, st.session_state[CHOSEN], st.session_state[MOMENT], order, ways)
    if total:
        add_moments(figure, fault_times.moments(result), shown_s, time_unit(result.end_s)[0])
    st.plotly_chart(
        figure, config=CONFIG, key="lanes", on_select=_clicked, selection_mode="points",
        alt="Partitions over time, coloured by simulated, replayed and skipped",
    )  # fmt: skip
    few = f" The {shown} busiest of {plural(total, 'lane')} are shown." if shown < total and order == BUSIEST else ""
    few = f" The {shown} of {plural(total, 'lane')} with most simulated are shown." if shown < total and order == WORKED else few
    st.caption(
        "One lane per set of flows that share ports, directly or through others; a white tick begins another one, where sets merged, split "
        f"or ended.{_about_ways(ways)} Only the dark stretches were simulated packet by packet.{few} Drag to zoom, click a lane to see its ports below."
    )
    if total > MOST_ROWS:
        st.segmented_control("Lanes shown", (BUSIEST, WORKED), default=BUSIEST, required=True, key=ORDER, persist_state="session")
    at_the_moment(result, ways)


def _about_ways(ways) -> str:
    if not ways.known:
        return " Which of them came from which cannot be told of this run."
    if not ways.went_into:
        return ""
    return f" A thin line leads from a set to each one that it went into; where there are more than {MOST_LINKS}, only to and from the chosen set."


def prepare(result, episodes) -> None:
    """Choices made for another run are forgotten; the first look is at the episode with most packet-hops."""
    if st.session_state.get("partitions of") is result.raw and CHOSEN in st.session_state:
        if st.session_state[MOMENT] is None:
            st.session_state[MOMENT] = records.middle_of(result, st.session_state[CHOSEN])
        return
    st.session_state["partitions of"] = result.raw
    st.session_state.pop(WINDOW, None)
    biggest = episodes.loc[episodes["packet_hops"].idxmax()]
    st.session_state[CHOSEN] = int(biggest["partition_id"])
    st.session_state[MOMENT] = float((biggest["start_s"] + biggest["end_s"]) / 2)


def headline(result) -> None:
    counted, hops = result.summary["partitions"], result.summary["packet_hops"]
    simulated = simulated_hops(hops)[0] / max(1, hops["total"])
    metrics.row(
        "partitions",
        ("Partitions formed", show_count(counted["formed"]), "Sets of flows that share ports; each is simulated apart from all others"),
        ("Merges", show_count(counted["merges"]), "A flow that began joined sets that were apart"),
        ("Splits", show_count(counted["splits"]), "A flow that ended left sets that no longer touch"),
        ("Largest", plural(counted["max_flows"], "flow"), "Most flows that ever depended on each other"),
        ("Simulated", fine_share(simulated), f"Of {show_count(hops['total'])} packet-hops"),
    )  # fmt: skip


def _clicked() -> None:
    for point in st.session_state["lanes"]["selection"]["points"]:
        if point.get("customdata") is not None:
            number, middle_s = point["customdata"]
            st.session_state[CHOSEN] = int(number)
            st.session_state[MOMENT] = middle_s if middle_s >= 0 else None  # somewhere within its life
            return


def at_the_moment(result, ways) -> None:
    """The network at one time, with the chosen partition's ports."""
    st.subheader("At one moment", anchor=False)
    moment = choose_moment(result)
    under_way = records.under_way(result, moment)
    if not under_way:
        st.caption(f"At {show_time(moment)} nothing is being sent: every rank computes, or waits.")
        st.plotly_chart(
            partition_map(result.network, np.zeros(0, int), np.zeros(0, int)), config=CONFIG, key="map", alt="Network without active ports"
        )
        return
    own, others = choose_partition(under_way, whole := records.undivided(result, moment))
    st.plotly_chart(
        partition_map(result.network, own.ports, others, "all flows under way" if whole else "the chosen partition"),
        config=CONFIG, key="map", alt="Network with the ports of the chosen partition",
    )  # fmt: skip
    if whole:
        told_of = "all flows under way queue in. They are simulated together, packet by packet, until the network is divided again or the run ends."
    else:
        alone = "What happens elsewhere cannot reach it before a flow begins or ends, so it is simulated alone."
        went = f" It {' and '.join(told(ways, own.partition_id))}." if told(ways, own.partition_id) else ""
        told_of = f"the chosen partition queue in. {alone}{went}"
    st.caption(f"At {show_time(moment)}: the ports that data and ACKs of {told_of}")
    flows = result.flows.iloc[own.flows]
    which = "under way" if whole else "of this partition"
    with st.expander(f"{plural(len(flows), 'flow')} {which}, {show_bytes(flows['bytes'].sum())}", icon=":material/list:"):
        st.dataframe(flows.head(MOST_FLOWS), hide_index=True, width="stretch", placeholder="–")


def choose_partition(under_way: list, whole: bool) -> tuple:
    """The chosen one of those under way, and the ports of all others; there is nothing to choose where the network is not divided."""
    if whole:
        own = under_way[0]
        st.session_state[CHOSEN] = own.partition_id
        st.markdown(
            f"**Not divided here**: {plural(len(own.flows), 'flow is', 'flows are')} under way on {plural(len(own.ports), 'port')}, simulated together."
        )
        return own, np.zeros(0, int)
    by_id = {one.partition_id: one for one in under_way}
    if st.session_state[CHOSEN] not in by_id:
        st.session_state[CHOSEN] = max(under_way, key=lambda one: len(one.ports)).partition_id
    st.selectbox(
        f"Partition ({plural(len(by_id), 'partition is', 'partitions are')} under way)", list(by_id), key=CHOSEN, persist_state="session",
        format_func=lambda id: f"{f'partition {id}' if id >= 0 else 'number not known'}: {plural(len(by_id[id].flows), 'flow')} "
        f"on {plural(len(by_id[id].ports), 'port')}",
    )  # fmt: skip
    own = by_id[st.session_state[CHOSEN]]
    others = [one.ports for one in under_way if one is not own]
    return own, np.unique(np.concatenate(others)) if others else np.zeros(0, int)


def choose_moment(result) -> float:
    """Seconds; a click on a lane puts it into the stretch that was clicked, or into the longest of that partition."""
    scale, unit = time_unit(result.end_s)
    st.session_state["moment slider"] = min(st.session_state[MOMENT] / scale, result.end_s / scale)
    st.slider(
        f"Moment ({unit})", 0.0, result.end_s / scale, key="moment slider", step=result.end_s / scale / 1e5, format="%.3f", on_change=_moved, args=(scale,),
    )
    return st.session_state[MOMENT]


def _moved(scale: float) -> None:
    st.session_state[MOMENT] = st.session_state["moment slider"] * scale


main()
