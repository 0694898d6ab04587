"""Partitions over time: a lane each, coloured by how its packet-hops came about."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from views.figures import style
from views.figures.lane_bars import BUSIEST, HOW, lane_bars
from views.figures.lane_links import MOST_LINKS, Ways, links, no_ways, told
from views.parts import palette
from views.parts.words import plural, show_count, show_time

ROW_PX, LEAST_PX, MOST_PX = 26, 170, 620
LANE = 0.78  # height of a lane within its row


def lanes(
    episodes: pd.DataFrame,
    window_s: tuple[float, float],
    run_end_s: float,
    chosen: int | None = None,
    at_s: float | None = None,
    order: str = BUSIEST,
    ways: Ways | None = None,
) -> tuple[go.Figure, int, int]:
    """(figure, lanes shown, lanes in all). A bar's customdata is its partition and its middle; `at_s` is the moment marked by a line.

    A `chosen` below 0 is the stretch around `at_s` in which the network was not divided.
    `ways`: which partitions came from which, drawn as lines between those that are shown; of too many only those of the chosen one.
    """
    ways = ways or no_ways()
    bars, placed, total = lane_bars(episodes, window_s, order)
    if not len(bars):
        return style.empty("nothing was under way in this time"), 0, 0
    shown = int(bars["row"].max()) + 1
    scale, unit = style.time_unit(run_end_s)
    figure = go.Figure()
    for how in HOW:
        _add_bars(figure, bars[bars["how"] == how], how, scale, ways)
    _add_births(figure, bars, scale)
    found = links(ways, placed, window_s)
    _add_links(figure, found[(found["from_id"] == chosen) | (found["to_id"] == chosen)], scale, palette.SELECTED, 4.0, "of the chosen one")
    if len(found) > MOST_LINKS:
        found = found[(found["from_id"] == chosen) | (found["to_id"] == chosen)]
    _add_links(figure, found, scale, palette.CRITICAL, 0.8, "went into")
    if chosen is not None:
        own = bars[bars["partition_id"] == chosen]
        if chosen < 0 and at_s is not None:
            own = own[(own["start_s"] <= at_s) & (own["end_s"] >= at_s)]
        _add_halo(figure, own, scale, "chosen partition" if chosen >= 0 else "chosen stretch")
    height = min(max(90 + ROW_PX * shown, LEAST_PX), MOST_PX)
    style.apply(figure, height, x_title=f"time ({unit})", y_title="partitions under way")
    figure.update_yaxes(range=[shown - 0.4, -0.6], showgrid=False, showticklabels=False, fixedrange=True)
    figure.update_xaxes(range=[window_s[0] / scale, window_s[1] / scale])
    if at_s is not None:
        figure.add_vline(x=at_s / scale, line=dict(color=palette.CRITICAL, width=1.2, dash="dot"))
    figure.update_layout(
        barmode="overlay", bargap=0, hovermode="closest", dragmode="zoom", legend_traceorder="reversed",
        uirevision=str((window_s, order)),
    )  # fmt: skip
    figure.update_traces(unselected=dict(marker=dict(opacity=1)), selector=dict(type="bar"))
    return figure, shown, total


def _add_bars(figure: go.Figure, part: pd.DataFrame, how: str, scale: float, ways: Ways) -> None:
    colour = palette.HOW[how]
    outline = 0.8 if how == "simulated" else 0  # so that the shortest stretch of work is still seen
    figure.add_trace(
        go.Bar(
            orientation="h", y=part["row"], width=LANE, base=part["start_s"] / scale, x=(part["end_s"] - part["start_s"]) / scale,
            name=how, marker=dict(color=colour, line=dict(color=colour, width=outline)),
            customdata=np.stack([part["partition_id"], _middles(part)], axis=1).tolist(), hoverinfo="text", textposition="none",
            hovertext=[_hover(ways, *values) for values in part.drop(columns="row").itertuples(index=False, name=None)],
        )
    )  # fmt: skip


def _middles(part: pd.DataFrame) -> np.ndarray:
    """Seconds: the middle of each bar, -1 of one that is joined of several, where it may be in another partition's life."""
    return np.where(part["count"] == 1, (part["start_s"] + part["end_s"]) / 2, -1.0)


def _hover(ways, how, start_s, end_s, partition_id, count, flows, ports, packet_hops) -> str:
    when = f"<br>{show_time(start_s)} to {show_time(end_s)}, {show_time(end_s - start_s)}"
    size = f"<br>{plural(flows, 'flow')} on {plural(ports, 'port')}"
    hops = f", {show_count(packet_hops)} packet-hops" if packet_hops else ""
    which = f"partition {partition_id}" if count == 1 else f"{show_count(count)} stretches from partition {partition_id} on (zoom in to tell them apart)"
    if partition_id < 0:
        which, size = "the whole network, undivided", ""
    others = "".join(f"<br>{words}" for words in told(ways, partition_id)) if count == 1 else ""
    return f"<b>{how}</b>, {which}{when}{size}{hops}{others}"


def _add_links(figure: go.Figure, found: pd.DataFrame, scale: float, colour: str, width: float, name: str) -> None:
    """A thin line from the end of a partition to the start of each one that it went into, with a dot where it arrives."""
    if not len(found):
        return
    down = np.where(found["to_row"] > found["from_row"], 1, -1) * LANE / 2
    at, gap = found["at_s"] / scale, np.full(len(found), np.nan)
    figure.add_trace(
        go.Scatter(
            x=np.stack([at, at, gap], axis=1).ravel(), y=np.stack([found["from_row"] + down, found["to_row"] - down, gap], axis=1).ravel(),
            mode="lines+markers", name=name, showlegend=colour != palette.SELECTED, hoverinfo="skip", line=dict(color=colour, width=width),
            marker=dict(size=np.tile([0, 5, 0], len(found)), color=colour, line_width=0),
        )
    )  # fmt: skip


def _add_births(figure: go.Figure, bars: pd.DataFrame, scale: float) -> None:
    """A white tick where a lane passes to another partition: what was there has merged, split or ended."""
    rows = bars.sort_values(["row", "start_s"])
    row, who, start = rows["row"].to_numpy(), rows["partition_id"].to_numpy(), rows["start_s"].to_numpy() / scale
    born = np.flatnonzero((row[1:] == row[:-1]) & (who[1:] != who[:-1])) + 1
    gap = np.full(len(born), np.nan)
    figure.add_trace(
        go.Scatter(
            x=np.stack([start[born], start[born], gap], axis=1).ravel(),
            y=np.stack([row[born] - LANE / 2, row[born] + LANE / 2, gap], axis=1).ravel(),
            mode="lines", hoverinfo="skip", showlegend=False, line=dict(color="white", width=1.2),
        )
    )  # fmt: skip


def _add_halo(figure: go.Figure, own: pd.DataFrame, scale: float, name: str) -> None:
    if not len(own):
        return
    row, start, end = int(own["row"].iloc[0]), own["start_s"].min() / scale, own["end_s"].max() / scale
    high, low = row - LANE / 2, row + LANE / 2
    figure.add_trace(
        go.Scatter(
            x=[start, end, end, start, start], y=[low, low, high, high, low], mode="lines", name=name,
            hoverinfo="skip", line=dict(color=palette.SELECTED, width=4),
        )
    )  # fmt: skip
