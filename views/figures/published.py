"""Predictions against what was published: one against the other, and errors by the software that was measured."""

from html import escape

import numpy as np
import plotly.graph_objects as go

from views.figures import style
from views.parts import palette

BAND = 0.10
SYMBOLS = {"near": "circle", "far": "diamond"}
NAMES = {"near": f"within {100 * BAND:.0f} %", "far": "further off"}


def scatter(rows) -> go.Figure:
    """Predicted over published on logarithmic axes, with the band of ±10 % around equality; of iterations seconds of a step.

    `rows` have id, published, predicted, unit, error, stack, gpu and published_s, predicted_s, as `sim.published.Compared`.
    """
    if not rows:
        return style.empty("no row of this kind could be compared")
    timed = all(row.predicted_s is not None for row in rows)
    x = np.array([row.published_s if timed else row.published for row in rows])
    y = np.array([row.predicted_s if timed else row.predicted for row in rows])
    low, high = min(x.min(), y.min()) / 1.3, max(x.max(), y.max()) * 1.3
    ends = [low, high]
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=[*ends, *ends[::-1]], y=[low * (1 - BAND), high * (1 - BAND), high * (1 + BAND), low * (1 + BAND)], fill="toself", mode="none",
            fillcolor=palette.BAND, name="±10 %", hoverinfo="skip",
        )
    )  # fmt: skip
    figure.add_trace(go.Scatter(x=ends, y=ends, mode="lines", name="equal", hoverinfo="skip", line=dict(color=palette.MUTED, width=1, dash="dot")))
    for kind, chosen in _near_and_far(rows).items():
        figure.add_trace(
            go.Scatter(
                x=x[chosen], y=y[chosen], mode="markers", name=NAMES[kind], hoverinfo="text",
                marker=dict(color=palette.ERRORS[kind], size=8, symbol=SYMBOLS[kind], opacity=0.85, line=dict(color="white", width=0.8)),
                hovertext=[_hover(rows[index]) for index in chosen],
            )
        )  # fmt: skip
    unit = "s per step" if timed else rows[0].unit if len({row.unit for row in rows}) == 1 else "its unit"
    style.apply(figure, 430, x_title=f"published ({unit})", y_title=f"predicted ({unit})")
    ticks = [tick for tick in style.log_ticks(low, high) if low <= tick <= high]
    for update in (figure.update_xaxes, figure.update_yaxes):
        update(type="log", range=[np.log10(low), np.log10(high)], tickvals=ticks, ticktext=[f"{tick:g}" for tick in ticks])
    figure.update_layout(legend_traceorder="normal")
    return figure


def by_software(groups) -> go.Figure:
    """Every row's error in its own line for each software, that with the largest mean error on top.

    `groups` maps software to rows, as `sim.published.Validation.by_source` does.
    """
    if not groups:
        return style.empty("no training step could be compared", 120)
    names = {stack: f"{escape(stack)} ({len(rows)})" for stack, rows in groups.items()}
    figure = go.Figure()
    for kind in SYMBOLS:
        shown = [(names[stack], row) for stack, rows in groups.items() for row in rows if (abs(row.error) <= BAND) == (kind == "near")]
        if shown:
            figure.add_trace(
                go.Scatter(
                    x=[100 * row.error for _, row in shown], y=[name for name, _ in shown], mode="markers", name=NAMES[kind], hoverinfo="text",
                    marker=dict(color=palette.ERRORS[kind], size=9, symbol=SYMBOLS[kind], opacity=0.75, line=dict(color="white", width=0.8)),
                    hovertext=[_hover(row) for _, row in shown],
                )
            )  # fmt: skip
    style.apply(figure, 110 + 28 * len(groups), x_title="error of the prediction (%)")
    figure.add_vrect(x0=-100 * BAND, x1=100 * BAND, fillcolor=palette.BAND, line_width=0, layer="below")
    figure.add_vline(x=0, line=dict(color=palette.MUTED, width=1, dash="dot"))
    figure.update_yaxes(categoryorder="array", categoryarray=list(names.values())[::-1], showgrid=True)
    return figure


def _near_and_far(rows) -> dict[str, list[int]]:
    near = [index for index, row in enumerate(rows) if abs(row.error) <= BAND]
    far = [index for index, row in enumerate(rows) if abs(row.error) > BAND]
    return {kind: chosen for kind, chosen in (("near", near), ("far", far)) if chosen}


def _hover(row) -> str:
    lines = [
        escape(row.id),
        f"published {row.published:.6g} {escape(row.unit)}, predicted {row.predicted:.6g} ({100 * row.error:+.1f} %)",
        escape(row.gpu) + (f", {escape(row.stack)}" if row.stack else ""),
    ]
    if row.parts_s:
        total = sum(row.parts_s.values())
        largest = sorted(row.parts_s.items(), key=lambda part: -part[1])[:4]
        lines.append(", ".join(f"{name} {100 * seconds / total:.0f} %" for name, seconds in largest))
    return "<br>".join(lines)
