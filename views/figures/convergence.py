"""How rates and queues settle: payload rate of each flow above, queue of each shared port below, on one time axis."""

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from views.figures import style
from views.parts import palette
from views.parts.words import plural, show_rate, show_time

HEIGHT = 480
MOST_FLOWS, MOST_PORTS, MOST_SHARES = 16, 8, 4  # drawn one by one
NAMED = 4  # with their names in the legend
POINTS = 400  # of a line
UNSEEN = "rgba(0,0,0,0)"
SAME_SHARE = 0.01  # fair shares that differ by less are one line


def convergence(curves, flow_names: list[str], port_names: list[str]) -> go.Figure:
    """The figure of a `sim.convergence_curves.Curves`; names of its flows and ports, in its order."""
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06, row_heights=[0.58, 0.42])
    scale, unit = style.time_unit(curves.times_ps[-1] / 1e12)
    scale *= 1e12
    middles_ps, rates = curves.rates()
    picks = np.unique(np.linspace(0, len(middles_ps) - 1, POINTS).astype(int))
    known = rates[picks]
    largest = max(float(np.nanmax(known, initial=0.0)), float(curves.fair_bps.max(initial=0.0)), 1.0)
    rate_scale, rate_unit = style.rate_unit(largest)
    _flows(figure, middles_ps[picks] / scale, known / rate_scale, flow_names, rate_unit)
    _shares(figure, curves.fair_bps, rate_scale)
    queue_unit = _queues(figure, curves, port_names, scale)
    style.apply(figure, HEIGHT)
    figure.update_yaxes(title_text=f"rate ({rate_unit})", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(title_text=f"queue ({queue_unit})", rangemode="tozero", row=2, col=1)
    figure.update_xaxes(range=[0, curves.times_ps[-1] / scale])
    figure.update_xaxes(title_text=f"time since the set of flows changed ({unit})", row=2, col=1)
    _converged(figure, curves, scale)
    return figure.update_layout(hovermode="closest", legend_traceorder="normal", uirevision="convergence")


def _flows(figure: go.Figure, times, rates: np.ndarray, names: list[str], unit: str) -> None:
    count = rates.shape[1]
    chosen = np.unique(np.linspace(0, count - 1, MOST_FLOWS).astype(int))
    rest = np.setdiff1d(np.arange(count), chosen)
    if len(rest):
        _band(figure, times, rates[:, rest], f"{plural(len(rest), 'other flow')}, least to most")
    for rank, j in enumerate(chosen.tolist()):
        each = count <= NAMED
        _line(
            figure, times, rates[:, j], 1, palette.mixed(palette.SEQUENCE, rank / max(1, len(chosen) - 1)), names[j], unit,
            legend=names[j] if each else None,
        )  # fmt: skip
    if count > NAMED:
        _ramp(figure, 1, palette.SEQUENCE, plural(len(chosen), "flow") + ", a line each")


def _band(figure: go.Figure, times, rates: np.ndarray, name: str) -> None:
    there = ~np.isnan(rates).all(axis=1)
    low, high = (np.full(len(rates), np.nan) for _ in range(2))
    low[there], high[there] = np.nanmin(rates[there], axis=1), np.nanmax(rates[there], axis=1)
    for edge, fill, legend in ((low[there], None, False), (high[there], "tonexty", True)):
        figure.add_trace(
            go.Scatter(
                x=times[there], y=edge, mode="lines", line_width=0, fill=fill, fillcolor=palette.REST_FILL, name=name, showlegend=legend, hoverinfo="skip"
            ),
            row=1, col=1,
        )  # fmt: skip


def _line(figure: go.Figure, x, y, row: int, colour: str, name: str, unit: str, legend: str | None) -> None:
    figure.add_trace(
        go.Scatter(
            x=x, y=y, mode="lines", line=dict(color=colour, width=1.4), name=legend or name, showlegend=legend is not None,
            hovertemplate=f"{name}: %{{y:.3g}} {unit}<extra></extra>",
        ),
        row=row, col=1,
    )  # fmt: skip


def _shares(figure: go.Figure, fair_bps: np.ndarray, scale: float) -> None:
    """A dotted line at every fair share, if they are few."""
    ordered = np.sort(fair_bps)
    levels = ordered[np.append(True, np.diff(ordered) > SAME_SHARE * ordered[1:])]
    if len(levels) > MOST_SHARES:
        levels = levels[[0, -1]]
    for level in levels.tolist():
        figure.add_hline(
            y=level / scale, row=1, col=1, line=dict(color=palette.TEXT, width=1.2, dash="dot"),
            annotation=dict(text=f"fair share {show_rate(level)}", font_size=10, bgcolor="rgba(255,255,255,0.7)"), annotation_position="top right",
        )  # fmt: skip


def _queues(figure: go.Figure, curves, names: list[str], scale: float) -> str:
    """The deepest queue of every stretch of samples at the busiest ports, and of all others together; returns the unit."""
    cuts = np.unique(np.linspace(0, len(curves.times_ps) - 1, POINTS).astype(int))
    deepest = np.maximum.reduceat(curves.queue_bytes, cuts, axis=0)
    unit_bytes, unit = style.byte_unit(max(1.0, float(deepest.max(initial=0))))
    order = np.argsort(-deepest.max(axis=0), kind="stable")
    shown, rest = order[:MOST_PORTS], order[MOST_PORTS:]
    times = curves.times_ps[cuts] / scale
    if len(rest):
        name = f"deepest of {plural(len(rest), 'other port')}"
        _line(figure, times, deepest[:, rest].max(axis=1) / unit_bytes, 2, palette.MUTED, name, unit, name)
    for rank, q in enumerate(shown.tolist()):
        legend = f"queue at {names[q]}" if len(shown) <= NAMED else None
        _line(figure, times, deepest[:, q] / unit_bytes, 2, palette.mixed(palette.QUEUES, rank / max(1, len(shown) - 1)), names[q], unit, legend)
    if len(shown) > NAMED:
        _ramp(figure, 2, palette.QUEUES, f"queues at {plural(len(shown), 'port')}, deepest first")
    return unit


def _ramp(figure: go.Figure, row: int, colours: tuple[str, ...], name: str) -> None:
    """One entry of the legend for lines in many colours: it shows all of them."""
    squares = "".join(f'<span style="color:{colour}">■</span>' for colour in colours)
    figure.add_trace(go.Scatter(x=[None], y=[None], mode="lines", line_color=UNSEEN, name=f"{squares} {name}", hoverinfo="skip"), row=row, col=1)


def _converged(figure: go.Figure, curves, scale: float) -> None:
    at_ps = curves.converged_ps()
    if at_ps is None:
        return
    late = at_ps > 0.5 * curves.times_ps[-1]
    figure.add_vline(x=at_ps / scale, line=dict(color=palette.CRITICAL, width=1.2, dash="dash"))
    figure.add_annotation(
        x=at_ps / scale, y=0.03, xref="x", yref="y domain", showarrow=False, xanchor="right" if late else "left", xshift=-4 if late else 4, yanchor="bottom",
        text=f"settled after {show_time(at_ps / 1e12)}", font=dict(size=11, color=palette.TEXT), bgcolor="rgba(255,255,255,0.7)",
    )  # fmt: skip
