"""How theta and l of the published test decide what is skipped and how wrong that is: a cell for each pair."""

import plotly.graph_objects as go

from views.figures import style
from views.parts import palette
from views.parts.words import fine_share, off

ROW_PX, LEAST_PX = 52, 150
LEAST_TOP = 0.1  # %: below, all errors are pale


def sensitivity(table) -> go.Figure:
    """Mean error of completion times as colour, written into the cell with the share of packet-hops that was skipped.

    `table`: columns theta, samples, mean_error, executed, replayed, skipped, as shares.
    """
    if not len(table):
        return style.empty("no run of the grid has finished")
    thetas, windows = sorted(table["theta"].unique()), sorted(table["samples"].unique())
    cell = {(row.theta, row.samples): row for row in table.itertuples()}
    rows = [[cell.get((theta, samples)) for samples in windows] for theta in thetas]

    def each(say, nothing):
        return [[nothing if one is None else say(one) for one in row] for row in rows]

    figure = go.Figure(
        go.Heatmap(
            x=[f"{samples:g}" for samples in windows], y=[f"{100 * theta:g}" for theta in thetas],
            z=each(lambda one: 100 * one.mean_error, None), zmin=0, zmax=max(LEAST_TOP, 100 * table["mean_error"].max()),
            text=each(lambda one: f"{off(one.mean_error)} off<br>{fine_share(one.skipped)} skipped", "–"), texttemplate="%{text}",
            customdata=each(lambda one: [fine_share(one.executed), fine_share(one.replayed)], ["", ""]),
            hovertemplate="θ %{y} %, l %{x} samples: %{text}<br>simulated %{customdata[0]}, replayed %{customdata[1]}<extra></extra>",
            colorscale=[[0, palette.GRID], [1, palette.ERRORS["far"]]], xgap=2, ygap=2,
            colorbar=dict(
                title=dict(text="mean error of completion times (%)", side="top"), orientation="h", thickness=10, len=0.6, x=0.5, y=1.02, yanchor="bottom",
            ),
        )
    )  # fmt: skip
    style.apply(figure, LEAST_PX + ROW_PX * len(thetas), x_title="window l (samples of 1 µs)", y_title="range allowed θ (% of the mean)", legend=False)
    figure.update_xaxes(type="category", showgrid=False)
    figure.update_yaxes(type="category", showgrid=False)
    return figure
