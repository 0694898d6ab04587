"""Times of the runs of a session as bars, the newest on top."""

import plotly.graph_objects as go

from views.figures import style
from views.parts import palette
from views.parts.words import show_time

ROW_PX, LEAST_PX = 26, 70
ROOM = 1.45  # of the longest bar: what stands beside it needs some


def earlier_runs(rows: list[tuple[str, float, str, bool]]) -> go.Figure:
    """One bar a row of (name, seconds, what stands beside its time, whether it went to its end); the first is dark."""
    longest = max(seconds for _, seconds, _, _ in rows)
    scale, unit = style.time_unit(longest)
    figure = go.Figure(
        go.Bar(
            orientation="h", y=[name for name, *_ in rows], x=[seconds / scale for _, seconds, _, _ in rows], width=0.66,
            marker=dict(
                color=[palette.MODES["wormhole"], *[palette.LEVELS["paper"]] * (len(rows) - 1)],
                pattern=dict(shape=["" if whole else "/" for *_, whole in rows], fgcolor=palette.MUTED, fillmode="overlay"),
            ),
            text=[f"{show_time(seconds)}{beside and ' '}{beside}" for _, seconds, beside, _ in rows], textposition="outside", cliponaxis=False,
            hovertemplate="%{y}: %{text}<extra></extra>",
        )
    )  # fmt: skip
    style.apply(figure, LEAST_PX + ROW_PX * len(rows), x_title=f"time ({unit})", legend=False)
    figure.update_xaxes(range=[0, ROOM * longest / scale or 1])
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")
    return figure
