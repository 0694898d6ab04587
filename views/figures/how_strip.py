"""How the network's answer came about over time: of the partitions under way, which share was simulated, replayed or skipped."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from views.figures.lane_bars import intervals
from views.parts import palette
from views.parts.words import fine_share

STRETCHES = 240
LEAST = 0.25  # of the strip's height, where anything at all was simulated
LAST = 2000  # rank in the legend; others have 1000
ORDER = ("simulated", "replayed", "skipped")  # from below


def shares_of_time(episodes: pd.DataFrame, window_s: tuple[float, float]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """(edges of equal stretches of the window, for each how the share of the time that partitions spent in each stretch); 0 where none was under way."""
    edges = np.linspace(*window_s, STRETCHES + 1)
    found = intervals(episodes[(episodes["end_s"] >= window_s[0]) & (episodes["start_s"] <= window_s[1])])
    spent = {how: np.zeros(STRETCHES) for how in ORDER}
    for how, part in found.groupby("how"):
        spent[how] = np.clip(np.diff(_lived(part["start_s"].to_numpy(), edges) - _lived(part["end_s"].to_numpy(), edges)), 0, None)
    total = sum(spent.values())
    resolved = total > 1e-9 * (edges[1] - edges[0])
    return edges, {how: np.divide(some, total, out=np.zeros(STRETCHES), where=resolved) for how, some in spent.items()}


def _lived(since_s: np.ndarray, at_s: np.ndarray) -> np.ndarray:
    """Sum of the times since each of some instants, at each time; those to come count nothing."""
    since = np.sort(since_s)
    before = np.searchsorted(since, at_s)
    return before * at_s - np.concatenate([[0.0], np.cumsum(since)])[before]


def add_how_strip(figure: go.Figure, episodes: pd.DataFrame, window_s: tuple[float, float], row: float, half: float, scale: float) -> None:
    """Stacked bars around `row` of a chart whose rows go downwards; what was simulated is never too thin to be seen."""
    edges, shares = shares_of_time(episodes, window_s)
    under_way = sum(shares.values()) > 0
    simulated = np.where(shares["simulated"] > 0, np.maximum(shares["simulated"], LEAST), 0.0)
    others = np.where(under_way, (1 - simulated) / np.maximum(1e-12, 1 - shares["simulated"]), 0.0)
    heights = {"simulated": simulated, "replayed": shares["replayed"] * others, "skipped": shares["skipped"] * others}
    low = np.zeros(STRETCHES)
    for how in ORDER:
        here = np.flatnonzero(heights[how] > 0)
        figure.add_trace(
            go.Bar(
                orientation="h", y=row + half - 2 * half * (low + heights[how] / 2)[here], width=2 * half * heights[how][here],
                base=edges[here] / scale, x=np.diff(edges)[here] / scale, name=how, marker=dict(color=palette.HOW[how], line_width=0),
                hoverinfo="text", textposition="none", legendrank=LAST, customdata=np.full(len(here), -1).tolist(),
                hovertext=[f"<b>{how}</b>: {fine_share(share)} of what was under way in this stretch" for share in shares[how][here]],
            )
        )  # fmt: skip
        low = low + heights[how]
