"""How long flows took: the cumulative distribution of completion times or slowdowns, per kind."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from views.figures import style
from views.parts import palette
from views.parts.words import plural

POINTS = 400  # per curve; the extremes are always kept
HEIGHT = 310
LOG_FROM = 20.0  # ratio of largest to smallest value from which the axis is logarithmic


def completion(flows: pd.DataFrame, column: str = "fct_s") -> go.Figure:
    """One curve per kind of flow: the share of its finished flows that took at most x."""
    done = flows[flows[column].notna()]
    if not len(done):
        return style.empty("no flow has finished")
    values = done[column].to_numpy()
    scale, unit = style.time_unit(values.max()) if column == "fct_s" else (1.0, "")
    figure = go.Figure()
    for kind, part in done.groupby("kind", observed=True):
        x, share = decimated_distribution(part[column].to_numpy() / scale)
        figure.add_trace(
            go.Scatter(
                x=x,
                y=100 * share,
                name=f"{kind} ({plural(len(part), 'flow')})",
                mode="lines",
                line=dict(color=palette.kind_colour(kind), width=2.2, shape="hv"),
                hovertemplate=f"%{{y:.0f}} % of {kind} flows took at most %{{x:.4g}} {unit}<extra></extra>",
            )
        )
    title = f"flow completion time ({unit})" if column == "fct_s" else "slowdown (times as long as alone)"
    style.apply(figure, HEIGHT + style.legend_px(trace.name for trace in figure.data), x_title=title, y_title="share of flows (%)")
    figure.update_yaxes(range=[0, 102])
    smallest = values[values > 0].min() if (values > 0).any() else 1.0
    if values.max() / smallest > LOG_FROM:
        ticks = style.log_ticks(smallest / scale, values.max() / scale)
        figure.update_xaxes(type="log", tickvals=ticks, ticktext=[f"{tick:g}" for tick in ticks])
    elif column == "fct_s":
        figure.update_xaxes(range=[0, 1.04 * values.max() / scale])
    return figure


def decimated_distribution(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sorted values and the share of all that are at most each, thinned evenly to `POINTS`, ends kept."""
    values = np.sort(values)
    picks = np.unique(np.linspace(0, len(values) - 1, min(POINTS, len(values))).round().astype(int))
    share = (picks + 1) / len(values)
    return np.concatenate([values[:1], values[picks]]), np.concatenate([[0.0], share])
