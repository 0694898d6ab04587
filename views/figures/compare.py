"""Modes compared: completion times flow by flow, the distribution of their errors, and what each run cost."""

import numpy as np
import plotly.graph_objects as go

from views.figures import style
from views.figures.completion import decimated_distribution
from views.parts import palette
from views.parts.words import off, show_time, times

POINTS = 3000  # of a scatter; the extremes of the error are always kept
SPREAD, PAD = 30, 0.06  # from this ratio on axes are logarithmic; room around the marks on others
TEXT_ROOM = 1.7  # of the longest bar: what stands beside it needs some, on a phone too
PAIR_PX = 360  # height of charts that stand side by side
SYMBOLS = {"wormhole": "circle-open", "flow": "x-thin", "packet": "circle"}
LABELS = {"wormhole": "wormhole", "flow": "flow level", "packet": "packet"}


def scatter(packet_s: np.ndarray, others_s: dict[str, np.ndarray]) -> go.Figure:
    """Completion time of every flow in other modes against packet mode; on the diagonal both agree."""
    done = np.isfinite(packet_s) & (packet_s > 0)
    for values in others_s.values():
        done &= np.isfinite(values) & (values > 0)
    if not done.any():
        return style.empty("no flow has finished in every mode")
    scale, unit = style.time_unit(packet_s[done].max())
    figure = go.Figure()
    low = min(packet_s[done].min(), *(values[done].min() for values in others_s.values())) / scale
    high = max(packet_s[done].max(), *(values[done].max() for values in others_s.values())) / scale
    wide = high > SPREAD * low
    low, high = (low / 1.15, high * 1.15) if wide else (low - PAD * (high - low or high), high + PAD * (high - low or high))
    figure.add_trace(
        go.Scatter(x=[low, high], y=[low, high], mode="lines", name="equal", hoverinfo="skip", line=dict(color=palette.MUTED, width=1, dash="dot"))
    )
    for mode, values in others_s.items():
        picks = _picks(packet_s, values, done)
        error = values[picks] / packet_s[picks] - 1
        figure.add_trace(
            go.Scatter(
                x=packet_s[picks] / scale, y=values[picks] / scale, mode="markers", name=LABELS[mode],
                marker=dict(color=palette.MODES[mode], size=8, symbol=SYMBOLS[mode], line=dict(color=palette.MODES[mode], width=1.4)),
                hoverinfo="text",
                hovertext=[
                    f"flow {i}<br>packet mode {show_time(packet_s[i])}<br>{LABELS[mode]} {show_time(values[i])} ({100 * e:+.3g} %)"
                    for i, e in zip(picks.tolist(), error.tolist(), strict=True)
                ],
            )
        )  # fmt: skip
    style.apply(figure, PAIR_PX, x_title=f"completion time in packet mode ({unit})", y_title=f"in the other mode ({unit})")
    if wide:
        ticks = style.log_ticks(low, high)
        for update in (figure.update_xaxes, figure.update_yaxes):
            update(type="log", tickvals=ticks, ticktext=[f"{tick:g}" for tick in ticks], range=[np.log10(low), np.log10(high)])
    else:
        figure.update_xaxes(range=[low, high])
        figure.update_yaxes(range=[low, high])
    return figure


def _picks(packet_s, values, done) -> np.ndarray:
    """Ids of the flows drawn: all, or an even choice and those furthest off."""
    ids = np.flatnonzero(done)
    if len(ids) <= POINTS:
        return ids
    error = np.abs(values[ids] / packet_s[ids] - 1)
    worst = ids[np.argsort(error)[-100:]]
    return np.unique(np.concatenate([ids[np.linspace(0, len(ids) - 1, POINTS).astype(int)], worst]))


def errors(packet_s: np.ndarray, others_s: dict[str, np.ndarray]) -> go.Figure:
    """Share of flows whose completion time is off by at most x, per mode."""
    figure, largest = go.Figure(), 0.0
    for mode, values in others_s.items():
        done = np.isfinite(packet_s) & np.isfinite(values) & (packet_s > 0)
        if not done.any():
            continue
        error = np.abs(values[done] / packet_s[done] - 1)
        largest = max(largest, 100 * error.max())
        x, share = decimated_distribution(100 * error)
        figure.add_trace(
            go.Scatter(
                x=np.concatenate([[0.0], x]), y=100 * np.concatenate([[0.0], share]), name=f"{LABELS[mode]} (mean {off(error.mean())})", mode="lines",
                line=dict(color=palette.MODES[mode], width=2.4, shape="hv"),
                hovertemplate=f"%{{y:.0f}} % of flows are off by at most %{{x:.3g}} % in mode {LABELS[mode]}<extra></extra>",
            )
        )  # fmt: skip
    if not figure.data:
        return style.empty("no flow has finished in both modes")
    style.apply(figure, PAIR_PX, x_title="completion time off by at most (%)", y_title="share of flows (%)")
    right = 1.06 * largest if largest > 0 else 1.0
    for trace in figure.data:  # curves go on to the edge at their full height
        trace.x, trace.y = (*trace.x, right), (*trace.y, 100.0)
    figure.update_xaxes(range=[-0.01 * right, right])
    figure.update_yaxes(range=[0, 103])
    return figure


def costs(rows: dict[str, float], colours: dict[str, str]) -> go.Figure:
    """CPU seconds of each run on a logarithmic axis, shortest bars fastest."""
    names, values = list(rows), np.maximum(np.array(list(rows.values())), 1e-4)
    figure = go.Figure(
        go.Bar(
            orientation="h", y=names, x=values, width=0.62, marker_color=[colours[name] for name in names],
            text=[show_time(value) for value in rows.values()], textposition="outside", cliponaxis=False,
            hovertemplate="%{y}: %{text} of CPU<extra></extra>",
        )
    )  # fmt: skip
    style.apply(figure, 76 + 34 * len(names), x_title="CPU time, compiling and building left out (s)", legend=False)
    low, high = values.min() / 2, values.max() * 3
    ticks = [tick for tick in style.log_ticks(low, high) if low <= tick <= high]
    figure.update_xaxes(type="log", range=[np.log10(low), np.log10(high)], tickvals=ticks, ticktext=[f"{tick:g}" for tick in ticks])
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return figure


def levels(table) -> go.Figure:
    """Mean error of completion times per controller and level, with the speed-up written beside each bar."""
    figure = go.Figure()
    controllers = table["controller"].unique().tolist()
    for level, part in table.groupby("level", sort=False):
        figure.add_trace(
            go.Bar(
                orientation="h", y=part["controller"], x=100 * part["mean_error"], name=f"level {level}", marker_color=palette.LEVELS.get(level, palette.MUTED),
                text=[f"{off(error)}, speed-up {times(gain)}" for error, gain in zip(part["mean_error"], part["speedup"], strict=True)],
                textposition="outside", cliponaxis=False, hovertemplate=f"%{{y}}, level {level}: %{{text}}<extra></extra>",
            )
        )  # fmt: skip
    style.apply(figure, 110 + 26 * len(table), x_title="mean error of completion times (%)")
    figure.update_layout(barmode="group", bargap=0.25, legend_traceorder="normal")
    largest = 100 * table["mean_error"].max()
    figure.update_xaxes(range=[0, TEXT_ROOM * largest if largest > 0 else 1])
    figure.update_yaxes(categoryorder="array", categoryarray=controllers, autorange="reversed", showgrid=False)
    return figure
