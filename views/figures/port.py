"""One port over time: utilisation, queue against its ECN thresholds, marks and pauses, flows through it."""

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from views.figures import style
from views.parts import palette

HEIGHT = 620
UTILISATION, QUEUE, MARKS, FLOWS = "utilisation", "queue", "marks", "flows"
SHARES = {UTILISATION: 0.24, QUEUE: 0.34, MARKS: 0.2, FLOWS: 0.22}  # of the height, where all four are drawn


def port(result, port_id: int, at_s: float | None = None, moments: dict[float, str] | None = None) -> go.Figure:
    """Up to four charts on one time axis; `at_s` is marked by a vertical line, `moments` (in seconds) by one with a word each.
    What never happened has no chart: see `quiet`.
    """
    series = result.series
    if not series.n_bins:
        return style.empty("the run ended before anything was recorded")
    drawn = {UTILISATION, FLOWS, *seen(result, port_id)}
    rows = {name: index for index, name in enumerate((name for name in SHARES if name in drawn), start=1)}
    figure = make_subplots(rows=len(rows), cols=1, shared_xaxes=True, vertical_spacing=0.05, row_heights=[SHARES[name] for name in rows])
    scale, unit = style.time_unit(series.end_s)
    edges = series.edges_s / scale
    _steps(
        figure,
        edges,
        100 * series.utilisation_of(port_id),
        "utilisation",
        palette.UTILISATION,
        palette.UTILISATION_FILL,
        rows[UTILISATION],
        "%{y:.0f} %",
    )
    queue_unit = _queue(figure, result, port_id, edges, rows[QUEUE]) if QUEUE in rows else ""
    middles, widths = series.middles_s / scale, series.widths_s / scale
    if MARKS in rows:
        figure.add_trace(_bars(middles, series.ecn_marks[port_id], widths, "ECN marks", palette.MARKS, "%{y:,} marks"), row=rows[MARKS], col=1)
    paused = 100 * np.divide(
        series.paused_s[port_id], series.widths_s, out=np.zeros(series.n_bins), where=series.widths_s > 0
    )
    stays = result.stays_at(port_id)
    _steps(figure, edges, active_flows(result, stays), "active flows", palette.ACTIVE_FLOWS, None, rows[FLOWS], "%{y} flows")
    others = stays[result.flows["job"].to_numpy()[stays["flow_id"]] < 0]
    if len(others):
        colour = palette.kind_colour("background")
        _steps(figure, edges, active_flows(result, others), "of them background", colour, palette.BACKGROUND_FILL, rows[FLOWS], "%{y} of background")
    style.apply(figure, round(HEIGHT * (0.1 + 0.9 * sum(SHARES[name] for name in rows))))
    _shade_pauses(figure, edges, paused, rows.get(QUEUE, rows[UTILISATION]))
    titles = {UTILISATION: "utilisation (%)", QUEUE: f"queue ({queue_unit})", MARKS: "ECN marks<br>per bin", FLOWS: "flows"}
    for name, row in rows.items():
        figure.update_yaxes(title_text=titles[name], rangemode="tozero", row=row, col=1)
    figure.update_yaxes(range=[0, 105], row=1, col=1)
    figure.update_xaxes(title_text=f"time ({unit})", row=len(rows), col=1)
    if at_s is not None:
        figure.add_vline(x=at_s / scale, line=dict(color=palette.TEXT, width=1, dash="dot"))
    style.add_moments(figure, moments or {}, (0.0, series.end_s), scale)
    figure.update_layout(hovermode="x unified", uirevision=f"port {port_id}", bargap=0)
    return figure


def seen(result, port_id: int) -> list[str]:
    """Of queue and marks those that a port ever had."""
    series = result.series
    return [name for name, values in ((QUEUE, series.max_queue_bytes), (MARKS, series.ecn_marks)) if values[port_id].any()]


def quiet(result, port_id: int) -> str | None:
    """The line in place of the charts of what a port never had; None if it had a queue and marks."""
    if result.summary["mode"] == "flow":
        return "Mode flow shares out rates: it knows no queues and no marks."
    had = seen(result, port_id)
    if QUEUE in had:
        return None if MARKS in had else "No packet was marked at this port."
    return "No packet ever waited at this port" + ("." if MARKS in had else ", and none was marked.")


def _steps(figure, edges, values, name, colour, fill, row, hover) -> None:
    """A stepped line over bins, closed at the last edge."""
    figure.add_trace(
        go.Scatter(
            x=edges,
            y=np.append(values, values[-1]),
            name=name,
            mode="lines",
            line=dict(color=colour, width=1.6, shape="hv"),
            fill="tozeroy" if fill else None,
            fillcolor=fill,
            hovertemplate=hover,
        ),
        row=row,
        col=1,
    )


def _bars(middles, values, widths, name, colour, hover) -> go.Bar:
    return go.Bar(
        x=middles, y=values, width=widths, name=name, marker=dict(color=colour, line_width=0), hovertemplate=hover
    )


def _queue(figure, result, port_id: int, edges, row: int) -> str:
    """The deepest queue per bin and the ECN thresholds; returns the unit used."""
    queue = result.series.max_queue_bytes[port_id]
    thresholds = ecn_thresholds(result, port_id)
    largest = max([queue.max(), *(value for value in thresholds.values() if value <= 4 * max(queue.max(), 1))])
    scale, unit = style.byte_unit(largest)
    _steps(figure, edges, queue / scale, "deepest queue", palette.QUEUE, palette.QUEUE_FILL, row, "%{y:.3g} " + unit)
    for side, (name, value) in zip(("left", "right"), thresholds.items(), strict=False):
        if value <= largest:
            figure.add_hline(
                y=value / scale,
                row=row,
                col=1,
                line=dict(color=palette.THRESHOLD, width=1, dash="dash"),
                annotation=dict(text=name, font=dict(size=10, color=palette.TEXT), bgcolor="rgba(255,255,255,0.6)"),
                annotation_position=f"top {side}",
            )
    return unit


def ecn_thresholds(result, port_id: int) -> dict[str, int]:
    """Queue lengths in bytes from which packets may be, and always are, marked; empty if nothing marks here."""
    kmin, kmax = (int(threshold[port_id]) for threshold in result.ecn_thresholds_bytes)
    return {"marking begins (kmin)": kmin, "all marked (kmax)": kmax} if kmax else {}


def _shade_pauses(figure: go.Figure, edges, paused_percent, row: int) -> None:
    """A band over the queue (over the utilisation, where no packet waited) for every stretch of bins in which PFC stopped the port."""
    stopped = np.concatenate([[False], paused_percent > 0, [False]])
    turns = np.flatnonzero(stopped[1:] != stopped[:-1])
    for first, last in turns.reshape(-1, 2):
        figure.add_vrect(
            x0=edges[first], x1=edges[last], row=row, col=1, fillcolor=palette.PAUSED, opacity=0.18, line_width=0
        )
    if len(turns):
        figure.add_trace(
            go.Scatter(
                x=[None],
                y=[None],
                mode="markers",
                name="paused by PFC",
                marker=dict(color=palette.PAUSED, symbol="square", opacity=0.4),
            ),
            row=row,
            col=1,
        )


def active_flows(result, stays) -> np.ndarray:
    """How many flows take a port at some time of each bin, int64[B]; `stays` as those of `Result.stays_at`."""
    stays = stays[stays["since_s"].notna()]
    edges = result.series.edges_s
    begun = np.searchsorted(np.sort(stays["since_s"].to_numpy()), edges[1:], side="left")
    over = np.searchsorted(np.sort(stays["until_s"].fillna(np.inf).to_numpy()), edges[:-1], side="right")
    return begun - over
