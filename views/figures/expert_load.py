"""How unevenly tokens go to experts: the load of every expert-parallel GPU over the mean."""

import numpy as np
import plotly.graph_objects as go

from views.figures import style
from views.parts import palette

MOST_BARS = 64


def expert_load(loads: np.ndarray) -> go.Figure:
    """`loads` float[layers, GPUs], 1 is the mean: a bar for each GPU in the layer with the busiest one, a line from its least to its most."""
    worst = int(loads.max(axis=1).argmax())
    order = np.argsort(-loads[worst], kind="stable")[:MOST_BARS]
    bar, low, high = loads[worst][order], loads.min(axis=0)[order], loads.max(axis=0)[order]
    names = [f"{member}" for member in order]
    figure = go.Figure(
        go.Bar(
            x=names, y=bar, marker_color=palette.KINDS["EP"], width=0.6,
            error_y=dict(type="data", symmetric=False, array=high - bar, arrayminus=bar - low, color=palette.MUTED, thickness=1.2, width=3),
            hovertext=[f"expert-parallel rank {name}: {load:.2f} × the mean, {a:.2f} to {b:.2f} in all layers"
                       for name, load, a, b in zip(names, bar, low, high, strict=True)],
            hoverinfo="text",
        )
    )  # fmt: skip
    style.apply(figure, 230, x_title="expert-parallel rank, busiest first", y_title="load / mean", legend=False)
    figure.add_hline(y=1, line=dict(color=palette.TEXT, width=1, dash="dash"))
    figure.update_xaxes(type="category", showgrid=False)
    figure.update_yaxes(rangemode="tozero")
    return figure
