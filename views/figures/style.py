"""What every chart has in common: fonts, grid, legend, and axes in a unit that reads well."""

import math

import plotly.graph_objects as go

from views.parts import palette

_TIME_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_RATE_UNITS = ((1e12, "Tb/s"), (1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "bit/s"))
_BYTE_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
WORD_ROWS, WORD_PX = 5, 14  # of words of moments; if they need more rows, none is named
LETTER_PX, AROUND_PX = 5, 90  # along a moment's word; of a chart's height above and below its plot
PHONE_PX, SYMBOL_PX, NAME_PX, LEGEND_ROW_PX = 330, 40, 6.5, 20  # width of a plot there; of a legend's mark and of a letter beside it; height of its row
CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}


def time_unit(longest_s: float) -> tuple[float, str]:
    """(seconds per unit, unit) in which a time of this size is between 1 and 1000."""
    return _unit(longest_s, _TIME_UNITS)


def byte_unit(largest: float) -> tuple[float, str]:
    return _unit(largest, _BYTE_UNITS)


def rate_unit(largest_bps: float) -> tuple[float, str]:
    return _unit(largest_bps, _RATE_UNITS)


def _unit(largest: float, units) -> tuple[float, str]:
    return next((unit for unit in units if largest >= unit[0]), units[-1])


def log_ticks(smallest: float, largest: float) -> list[float]:
    """1, 2 and 5 times powers of ten that span a range; only powers of ten where that would be crowded."""
    powers = range(math.floor(math.log10(smallest)), math.ceil(math.log10(largest)) + 1)
    steps = (1, 2, 5) if len(powers) <= 4 else (1,)
    return [step * 10.0**power for power in powers for step in steps]


def legend_px(names) -> int:
    """Height of a legend's rows on a phone beyond the first, px: a low chart needs so much more, or they lie over it."""
    names = list(names)
    columns = max(1, int(PHONE_PX // (SYMBOL_PX + NAME_PX * max(map(len, names), default=0))))
    return LEGEND_ROW_PX * (-(-len(names) // columns) - 1) if names else 0


def apply(figure: go.Figure, height: int, x_title: str = "", y_title: str = "", legend: bool = True) -> go.Figure:
    """Give a figure the house look."""
    figure.update_layout(
        height=height,
        margin=dict(l=8, r=8, t=34 if legend else 12, b=8),
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font=dict(size=12, color=palette.TEXT),
        hoverlabel=dict(bgcolor="white", font=dict(color=palette.TEXT)),
        colorway=list(palette.KINDS.values()),
        showlegend=legend,
        # of the picture, not of the plot: when a window changes its width, rows that come or go would else lie over the plot
        legend=dict(orientation="h", x=0, y=1.0, yref="container", yanchor="top", xanchor="left", title_text=""),
        modebar=dict(bgcolor="rgba(255,255,255,0.75)", color=palette.MUTED, activecolor=palette.TEXT),  # else half black over this transparent paper
        bargap=0.35,
        title_text="",
    )
    figure.update_xaxes(title_text=x_title or None, gridcolor=palette.GRID, zeroline=False, automargin=True)
    figure.update_yaxes(title_text=y_title or None, gridcolor=palette.GRID, zeroline=False, automargin=True)
    return figure


def drawing(figure: go.Figure, height: int, legend: bool = True) -> go.Figure:
    """The house look of a drawing without axes."""
    apply(figure, height, legend=legend)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    figure.update_layout(hovermode="closest", dragmode="pan")
    return figure


def add_moments(figure: go.Figure, moments: dict[float, str], window_s: tuple[float, float], scale: float) -> None:
    """A dashed line at each of some moments (in seconds), with its word above what is drawn: a chart with a range of its first y axis grows for it."""
    inside = {at: word for at, word in moments.items() if window_s[0] <= at <= window_s[1]}
    for at in inside:
        figure.add_vline(x=at / scale, line=dict(color=palette.MUTED, width=1, dash="dash"))
    placed = _rows_of_words(inside, window_s)
    if not placed:
        return
    for at, (row, anchor) in placed.items():
        figure.add_annotation(
            x=at / scale, y=1, yref="paper", yanchor="top", yshift=-WORD_PX * row, xanchor=anchor, xshift=3 if anchor == "left" else -3,
            text=inside[at], showarrow=False, font=dict(size=10, color=palette.TEXT), bgcolor="rgba(255,255,255,0.75)", borderpad=0,
        )  # fmt: skip
    rows, axis = 1 + max(row for row, _ in placed.values()), figure.layout.yaxis
    bottom, top = axis.range
    first, last = axis.domain or (0, 1)
    figure.layout.height += WORD_PX * rows
    share = min(0.8, WORD_PX * rows / ((figure.layout.height - AROUND_PX) * (last - first)))
    axis.range = [bottom, bottom + (top - bottom) / (1 - share)]


def _rows_of_words(moments: dict[float, str], window_s: tuple[float, float]) -> dict[float, tuple[int, str]]:
    """(row, anchor) of the word of each moment so that none lies over another even on a phone; empty if that takes too many rows, or a word is too long."""
    span, ends, placed = max(window_s[1] - window_s[0], 1e-15), [], {}
    for at, word in sorted(moments.items()):
        x, length = PHONE_PX * (at - window_s[0]) / span, LETTER_PX * len(word) + 6
        anchor = "left" if x + length <= PHONE_PX or x < PHONE_PX / 2 else "right"
        start = x if anchor == "left" else x - length
        row = next((row for row, end in enumerate(ends) if end <= start), len(ends))
        ends[row:row + 1] = [start + length]
        placed[at] = row, anchor
        if len(ends) > WORD_ROWS or length > PHONE_PX:
            return {}
    return placed


def empty(message: str, height: int = 200) -> go.Figure:
    """A chart that says why there is nothing to draw."""
    figure = go.Figure()
    figure.add_annotation(
        text=message, showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper", font=dict(color=palette.MUTED)
    )
    return drawing(figure, height, legend=False)
