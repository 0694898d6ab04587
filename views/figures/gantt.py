"""Ranks over time: what each computes and sends, with the critical path marked."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from sim.result_lanes import COMPUTE, NETWORK, OVERLAPPING, WAITING, bars, shares_over_time
from views.figures import style
from views.figures.gantt_lanes import COMPUTE_LANE, Lanes
from views.figures.how_strip import add_how_strip
from views.parts import palette
from views.parts.words import show_bytes, show_count, show_share, show_time

PATH_ROW, PATH_LANE = -1, (-0.25, 0.25)  # the strip above all ranks
HOW_ROW = -2  # above it, in wormhole mode: how the answer came about
PATH_STEPS = 300  # longer critical paths are condensed in the strip
LONG_NAME = 20  # characters
THIN = 0.2  # lanes this low are underlined where others are outlined, and take a thin halo
_FIELDS = ["lane", "kind", "rank", "start_s", "end_s", "low", "high", "count", "id", "bytes"]


def gantt(
    result,
    ranks: list[int],
    window_s: tuple[float, float],
    labels: dict[int, str] | None = None,
    chosen: int | None = None,
    episodes: pd.DataFrame | None = None,
    marks: dict[float, str] | None = None,
) -> go.Figure:
    """One row per rank, top to bottom; above them the critical path, in colours of what it waits for, and with `episodes`
    of partitions how the network's answer came about.

    A bar's customdata is the id of its flow, -1 if it is anything but one flow; `chosen` is a flow to point out; `marks` are
    moments (in seconds) with a word on each.
    """
    found, lanes = bars(result, ranks, window_s), Lanes(result.dag)
    scale, unit = style.time_unit(result.end_s)
    row_of = {rank: row for row, rank in enumerate(ranks)}
    figure = go.Figure()
    names, top = ["critical path"] + [_folded((labels or {}).get(rank, f"rank {rank}")) for rank in ranks], PATH_ROW
    if episodes is not None:
        add_how_strip(figure, episodes, window_s, HOW_ROW, PATH_LANE[1], scale)
        names, top = ["network"] + names, HOW_ROW
    for kind in _known_first(found["kind"].unique()):
        _add_bars(figure, found[found["kind"] == kind], kind, lanes, row_of, scale)
    spots = _spots(found, lanes)
    if chosen is not None:
        flow = result.flows.iloc[chosen]
        _add_chosen(figure, flow, spots.get(flow["flow_id"], lanes.of(NETWORK, str(flow["kind"]))), row_of, scale, result.end_s)
    path = result.critical_path
    path = path[(path["end_s"] >= window_s[0]) & (path["start_s"] <= window_s[1]) & (path["kind"] != WAITING)]
    if len(path):
        _add_strip(figure, path, window_s, scale)
        _add_outlines(figure, path, spots, lanes, row_of, scale)
    style.apply(figure, 90 + lanes.row_px * len(names), x_title=f"time ({unit})")
    figure.update_yaxes(
        tickvals=list(range(top, len(ranks))),
        ticktext=names,
        range=[len(ranks) - 0.4, top - 0.6],
        showgrid=False,
        fixedrange=True,
    )
    figure.update_xaxes(range=[window_s[0] / scale, window_s[1] / scale])
    style.add_moments(figure, marks or {}, window_s, scale)
    figure.update_layout(
        barmode="overlay", bargap=0, hovermode="closest", dragmode="zoom", uirevision=str((ranks, window_s))
    )
    figure.update_traces(unselected=dict(marker=dict(opacity=1)), selector=dict(type="bar"))
    return figure


def _folded(name: str) -> str:
    """A long name on two lines: it leaves room for the chart on a phone."""
    return name.replace(" (", "<br>(") if len(name) > LONG_NAME else name


def _known_first(kinds) -> list[str]:
    return [kind for kind in palette.KINDS if kind in kinds] + sorted(
        kind for kind in kinds if kind not in palette.KINDS
    )


def _bars(part: pd.DataFrame, rows, lane: tuple[float, float], scale: float, **look) -> go.Bar:
    """Bars that fill their lane from `high` of its height down to `low`."""
    top, bottom = lane
    height = (part["high"] - part["low"]) * (bottom - top)
    middle = bottom - (part["low"] + part["high"]) / 2 * (bottom - top)
    return go.Bar(
        orientation="h", y=rows + middle, width=height, base=part["start_s"] / scale,
        x=(part["end_s"] - part["start_s"]) / scale,
        hoverinfo="text", textposition="none", **look,
    )  # fmt: skip


def _add_bars(figure: go.Figure, found: pd.DataFrame, kind: str, lanes: Lanes, row_of: dict[int, int], scale: float) -> None:
    first = True
    for lane, part in found.groupby("lane", observed=True):
        figure.add_trace(
            _bars(
                part, part["rank"].map(row_of), lanes.of(lane, kind), scale, name=kind, legendgroup=kind, showlegend=first,
                text=[_hover(*values) for values in part[_FIELDS].itertuples(index=False, name=None)],
                marker=dict(
                    color=palette.kind_colour(kind), line=dict(color="white", width=0.6 if kind in OVERLAPPING else 0)
                ),
                customdata=np.where((part["lane"] == NETWORK) & (part["count"] == 1), part["id"], -1).tolist(),
            )
        )  # fmt: skip
        first = False


def _hover(lane, kind, rank, start_s, end_s, low, high, count, id, size_bytes) -> str:
    when = f"<br>{show_time(start_s)} to {show_time(end_s)}, {show_time(end_s - start_s)}"
    if lane == COMPUTE and count > 1:
        return (
            f"<b>{kind}</b> on rank {rank}: {show_share(high - low)} of this stretch (zoom in for single tasks){when}"
        )
    thing = "task" if lane == COMPUTE else "flow"
    which = f"{thing} {id}" if count == 1 else f"{show_count(count)} {thing}s (zoom in to tell them apart)"
    return f"<b>{kind}</b> on rank {rank}, {which}{when}" + (f"<br>{show_bytes(size_bytes)}" if size_bytes else "")


def _add_chosen(figure: go.Figure, flow: pd.Series, spot: tuple[float, float], row_of: dict, scale: float, run_end_s: float) -> None:
    """A halo around one flow, if its sender is on show and it has started."""
    if flow["src"] not in row_of or not flow["start_s"] >= 0:
        return
    top, bottom = spot
    start = flow["start_s"] / scale
    end = (flow["start_s"] + flow["fct_s"] if flow["fct_s"] >= 0 else run_end_s) / scale
    width = 2 if bottom - top < THIN else 5
    high, low = row_of[flow["src"]] + top, row_of[flow["src"]] + bottom
    figure.add_trace(
        go.Scatter(
            x=[start, end, end, start, start], y=[low, low, high, high, low], mode="lines", name="flow below",
            hoverinfo="skip", line=dict(color=palette.SELECTED, width=width),
        )
    )  # fmt: skip


def _spots(found: pd.DataFrame, lanes: Lanes) -> dict[int, tuple[float, float]]:
    """Top and bottom, within its row, of every flow that has a bar of its own."""
    single = found[(found["lane"] == NETWORK) & (found["count"] == 1)]
    spots = {}
    for kind, flow, low, high in single[["kind", "id", "low", "high"]].itertuples(index=False, name=None):
        top, bottom = lanes.of(NETWORK, kind)
        spots[flow] = bottom - high * (bottom - top), bottom - low * (bottom - top)
    return spots


def _add_strip(figure: go.Figure, path: pd.DataFrame, window_s, scale: float) -> None:
    """The whole critical path as one row, whatever ranks it visits."""
    texts = [
        f"<b>{what}</b><br>{show_time(end - start)} on the critical path"
        for what, start, end in zip(path["what"], path["start_s"], path["end_s"], strict=True)
    ]
    steps = path.assign(rank=0, lane=path["node_kind"], low=0.0, high=1.0, count=1, bytes=0)
    if len(steps) > PATH_STEPS:
        steps = shares_over_time(steps.assign(lane=COMPUTE), window_s)
        texts = [
            f"<b>{kind}</b>: {show_share(high - low)} of this stretch of the critical path"
            for kind, low, high in zip(steps["kind"], steps["low"], steps["high"], strict=True)
        ]
    figure.add_trace(
        _bars(
            steps, np.full(len(steps), PATH_ROW), PATH_LANE, scale, text=texts, showlegend=False,
            marker=dict(color=[palette.kind_colour(kind) for kind in steps["kind"]], line_width=0),
            customdata=np.where((steps["lane"] == "flow") & (steps["count"] == 1), steps["id"], -1).tolist(),
        )
    )  # fmt: skip


def _add_outlines(figure: go.Figure, path: pd.DataFrame, spots: dict, lanes: Lanes, row_of: dict[int, int], scale: float) -> None:
    """A box around what is on the critical path, a line under it where the lane is thin."""
    x, y = [], []
    for rank, top, bottom, start, end in _stretches(path, spots, lanes):
        if rank not in row_of:
            continue
        high, low, start, end = row_of[rank] + top, row_of[rank] + bottom, start / scale, end / scale
        thin = bottom - top < THIN
        x += [start, end, None] if thin else [start, end, end, start, start, None]
        y += [low + 0.02, low + 0.02, None] if thin else [low, low, high, high, low, None]
    figure.add_trace(
        go.Scatter(
            x=x,
            y=y,
            mode="lines",
            name="on the critical path",
            hoverinfo="skip",
            line=dict(color=palette.CRITICAL, width=1.6),
        )
    )


def _stretches(path: pd.DataFrame, spots: dict, lanes: Lanes) -> list[tuple]:
    """(rank, top, bottom, start_s, end_s) of the path; steps that follow each other in one lane are one."""
    found = []
    columns = ["kind", "node_kind", "id", "rank", "start_s", "end_s"]
    for kind, node_kind, id, rank, start, end in path[columns].itertuples(index=False, name=None):
        is_task = node_kind == "task"
        lane = (rank, *(COMPUTE_LANE if is_task else spots.get(id, lanes.of(NETWORK, kind))))
        if found and found[-1][:3] == lane and start <= found[-1][4] * (1 + 1e-9):
            found[-1] = (*found[-1][:4], end)
        else:
            found.append((*lane, start, end))
    return found
