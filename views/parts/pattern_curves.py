"""Rates and queues of a pattern as they settle: simulated when somebody looks, at once where that is cheap, kept for a while."""

from collections import OrderedDict

import pandas as pd
import streamlit as st

from sim.convergence import MOST_HOPS, Settling, longest_episode
from sim.errors import LabError
from sim.units import BITS_PER_BYTE, PS_PER_S
from views.figures.convergence import convergence
from views.figures.style import CONFIG
from views.parts.words import plural, roughly_count, show_rate, show_time, told

CHEAP_HOPS = 3_000_000  # simulated without being asked: a quarter of a second
CHUNK_HOPS = 500_000  # between two looks at the progress bar
KEPT = 6
PROGRESS = "Simulating packet by packet"
UNLIKE = 0.1  # share by which mean rates may differ from those of the run before that is told


class Desk:
    """A session's last curves, and the simulation that is under way."""

    def __init__(self):
        self.done: OrderedDict = OrderedDict()
        self.of, self.going = None, None

    def take(self, key, result, pattern_id: int) -> Settling:
        """The simulation of a pattern, begun anew unless it is the one under way."""
        if self.of != key:
            self.of, self.going = None, None
            self.going = Settling(result, longest_episode(result, pattern_id))
            self.of = key
        return self.going

    def finish(self) -> None:
        """Keep the curves of what has just ended."""
        self.done[self.of] = self.going.episode, self.going.curves()
        self.of, self.going = None, None
        while len(self.done) > KEPT:
            self.done.popitem(last=False)


@st.cache_resource(scope="session", show_spinner=False)
def desk() -> Desk:
    return Desk()


def show(result, pattern_id: int) -> None:
    """The curves of a pattern, or the button that makes them."""
    st.subheader("How it settles", anchor=False)
    key, kept = (result.scenario.digest(), result.summary["memo"]["patterns"], int(pattern_id)), desk()
    if key not in kept.done:
        try:
            run = kept.take(key, result, int(pattern_id))
        except LabError as problem:
            st.caption(f"Rates and queues over time are not recorded, and cannot be made for this pattern: {told(str(problem))}.")
            return
        costly = run.expected_hops > CHEAP_HOPS
        if costly and not run.begun and not _asked(run):
            return
        _simulate(run, costly)
        kept.finish()
        if costly:
            st.rerun()
    episode, curves = kept.done[key]
    flows, ports = names(result, curves)
    st.plotly_chart(
        convergence(curves, flows, ports), config=CONFIG, key="convergence", alt="Rates of the flows and queues of the shared ports over time"
    )
    st.caption(about(episode, curves))
    st.download_button(
        "Download curves", lambda: table(curves).to_csv(index=False), f"pattern-{pattern_id}-curves.csv", "text/csv", icon=":material/download:",
        on_click="ignore", key="download curves",
    )  # fmt: skip


def _asked(run: Settling) -> bool:
    st.caption("Rates and queues over time are not recorded: the flows of the longest episode are simulated alone to see them.")
    hops = roughly_count(min(run.expected_hops, MOST_HOPS))
    return st.button(f"Simulate {hops} packet-hops", icon=":material/play_arrow:", key="simulate curves")


def _simulate(run: Settling, watched: bool) -> None:
    """To the end. A click meanwhile interrupts the script, and the next one goes on from there."""
    bar = st.progress(run.fraction, text=PROGRESS) if watched else None
    while not run.advance(CHUNK_HOPS):
        if bar is not None:
            bar.progress(run.fraction, text=PROGRESS)


def names(result, curves) -> tuple[list[str], list[str]]:
    """Of the flows and ports of some curves."""
    dag = result.dag
    flows = [f"flow {f}, {dag.flow_src[f]} to {dag.flow_dst[f]}" for f in curves.flows.tolist()]
    return flows, [result.network.port_name(port) for port in curves.ports.tolist()]


def about(episode, curves) -> str:
    """What the curves show, how far they can be trusted, and whether rates have settled."""
    lone, shown_s = len(curves.flows) == 1, curves.times_ps[-1] / PS_PER_S
    which, begin, they = ("the flow", "It starts", "it") if lone else (f"the {plural(len(curves.flows), 'flow')}", "They start", "they")
    trust = (
        f"as {they} did in the run." if episode.fresh
        else f"so that the first microseconds may differ from the episode itself: {'it' if lone else 'some'} had been under way before."
    )  # fmt: skip
    said = [
        f"Not recorded, but made for this page: {which} of the pattern's longest episode, {show_time(curves.length_ps / PS_PER_S)} from "
        f"{show_time(episode.start_ps / PS_PER_S)} on, simulated alone packet by packet. {begin} with empty queues and fresh controllers, {trust}",
        f"Rates are payload at the receiver over {show_time(curves.times_ps[curves.window] / PS_PER_S)}; dotted is the max-min fair share.",
    ]
    if curves.stopped:
        said.append(f"The curves end at {show_time(shown_s)}: {curves.stopped}.")
    said.append(_settled(curves))
    run_bps, here_bps = float(episode.sent_bps.sum()), curves.sent_bytes.sum() * BITS_PER_BYTE / shown_s
    if curves.tells and len(episode.sent_bps) and not episode.fresh and abs(run_bps - here_bps) > UNLIKE * max(run_bps, here_bps):
        said.append(f"In the run {they} sent {show_rate(run_bps)} on average, here {show_rate(here_bps)}: what had gone before still told there.")
    return " ".join(said)


def _settled(curves) -> str:
    at_ps = curves.converged_ps()
    if at_ps is not None:
        return f"From {show_time(at_ps / PS_PER_S)} on every rate stays within 5 % of its end value."
    return "Not every rate comes to stay within 5 % of its end value." if curves.tells else "Too few packets arrive in that time to tell whether rates settle."


def table(curves) -> pd.DataFrame:
    """The samples as a table: payload delivered so far by flow, and queues by port, in bytes."""
    return pd.DataFrame(
        {
            "time_s": curves.times_ps / PS_PER_S,
            **{f"flow_{f}_delivered_bytes": curves.delivered_bytes[:, j] for j, f in enumerate(curves.flows.tolist())},
            **{f"port_{q}_queue_bytes": curves.queue_bytes[:, j] for j, q in enumerate(curves.ports.tolist())},
        }
    )
