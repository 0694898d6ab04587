"""A conflict graph drawn: flows as dots, larger the faster they send; a line where two share ports, thicker the more."""

import numpy as np
import plotly.graph_objects as go

from views.figures import style
from views.parts import palette
from views.parts.words import plural, show_rate

SMALL_PX, LARGE_PX = 150, 420
MOST_EDGES = {False: 1000, True: 2500}  # drawn small and large; a full mesh of 128 flows has 8128
FAINT_FROM, FAINT = 400, 0.35  # edges, and how strongly so many are drawn
WIDTHS = 5  # classes of edge width
NAMED = 40  # nodes with a number in them


def pattern(
    positions: np.ndarray,
    edges: np.ndarray,
    shared: np.ndarray,
    rates_bps: np.ndarray,
    names: list[str],
    large: bool = False,
    chosen: bool = False,
) -> go.Figure:
    """float64[n, 2] places, int[m, 2] pairs of flows, int[m] ports that they share, float64[n] rates (nan: not known)."""
    figure = go.Figure()
    _add_edges(figure, positions, edges, shared, names, large)
    known = np.nan_to_num(rates_bps, nan=0.0)
    fastest = known.max(initial=0.0)
    relative = np.sqrt(known / fastest) if fastest > 0 else np.ones(len(known))
    most = (26 if large else 15) if len(names) <= NAMED else max(4 if large else 2, (14 if large else 8) * (NAMED / len(names)) ** 0.5)
    texts = [name + (f"<br>{show_rate(rate)}" if rate == rate else "") for name, rate in zip(names, rates_bps, strict=True)]
    numbered = large and len(names) <= NAMED
    figure.add_trace(
        go.Scatter(
            x=positions[:, 0], y=positions[:, 1], mode="markers+text" if numbered else "markers", showlegend=False,
            text=[str(i) for i in range(len(names))] if numbered else None, textfont=dict(size=10, color="white"),
            hovertext=texts, hoverinfo="text" if large else "skip",
            marker=dict(opacity=1, size=most * (0.55 + 0.45 * relative), color=palette.ACTIVE_FLOWS, line=dict(color="white", width=1 if most > 6 else 0)),
        )
    )  # fmt: skip
    style.drawing(figure, LARGE_PX if large else SMALL_PX, legend=large and len(np.unique(shared)) > 1)
    figure.update_layout(margin=dict(l=4, r=4, t=30 if figure.layout.showlegend else 4, b=4))
    if not large:
        figure.update_layout(dragmode=False, hovermode=False)
    figure.update_xaxes(range=[-1.18, 1.18], constrain="domain")
    figure.update_yaxes(range=[-1.18, 1.18], constrain="domain", scaleanchor="x")
    if chosen:
        figure.update_layout(plot_bgcolor="rgba(103, 232, 249, 0.25)")
    return figure


def _add_edges(figure: go.Figure, positions, edges, shared, names, large: bool) -> None:
    """One trace for each number of shared ports; few lines of a crowd, evenly taken."""
    if len(edges) > MOST_EDGES[large]:
        picks = np.linspace(0, len(edges) - 1, MOST_EDGES[large]).astype(int)
        edges, shared = edges[picks], shared[picks]
    classes = np.unique(shared)
    if len(classes) > WIDTHS:
        shared = np.quantile(shared, np.linspace(0, 1, WIDTHS))[np.searchsorted(np.quantile(shared, np.linspace(0, 1, WIDTHS)[1:]), shared)]
        shared = np.ceil(shared).astype(int)
        classes = np.unique(shared)
    crowded = len(edges) > FAINT_FROM
    thin = 0.5 if crowded else 1.0
    for rank, count in enumerate(classes):
        here = edges[shared == count]
        gap = np.full(len(here), np.nan)
        x = np.stack([positions[here[:, 0], 0], positions[here[:, 1], 0], gap], axis=1).ravel()
        y = np.stack([positions[here[:, 0], 1], positions[here[:, 1], 1], gap], axis=1).ravel()
        figure.add_trace(
            go.Scatter(
                x=x, y=y, mode="lines", hoverinfo="skip", opacity=FAINT if crowded else 1.0, name=f"{plural(int(count), 'port')} shared",
                line=dict(color=palette.LINK, width=thin + rank * (1.2 if large else 0.7)),
            )
        )  # fmt: skip
    if large and not crowded:
        middle = positions[edges].mean(axis=1)
        figure.add_trace(
            go.Scatter(
                x=middle[:, 0], y=middle[:, 1], mode="markers", showlegend=False, marker=dict(size=9, opacity=0), hoverinfo="text",
                hovertext=[f"{names[a]} and {names[b]}<br>share {plural(int(n), 'port')}" for (a, b), n in zip(edges, shared, strict=True)],
            )
        )  # fmt: skip


def circle(count: int) -> np.ndarray:
    """Places on a circle, the first at the top; one flow stands in the middle."""
    if count == 1:
        return np.zeros((1, 2))
    angle = np.pi / 2 - 2 * np.pi * np.arange(count) / count
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)
