"""Packet-hops by how they came about: simulated one by one, replayed from memory, skipped in steady state."""

import plotly.graph_objects as go

from sim.result_summary import simulated_hops
from views.figures import style
from views.parts import palette
from views.parts.words import fine_share, show_count

ROW_PX, LEAST_PX = 34, 104
INSIDE = 12  # per cent from which a part has room for its own figure


def hop_bars(rows: dict[str, dict[str, int]], alone: bool = False) -> go.Figure:
    """One stacked bar a row: {row: {"simulated": hops, "replayed": hops, "skipped": hops}}, as shares of its total.

    `alone`: a single bar that needs no name.
    """
    figure = go.Figure()
    for how, colour in palette.HOW.items():
        shares, texts, hovers = [], [], []
        for name, parts in rows.items():
            share = parts.get(how, 0) / max(1, sum(parts.values()))
            shares.append(100 * share)
            texts.append(f"{how} {fine_share(share)}" if 100 * share >= INSIDE else "")
            where = "" if alone else f" ({name})"
            hovers.append(f"{show_count(parts.get(how, 0))} packet-hops {how}{where}, {fine_share(share)}")
        figure.add_trace(
            go.Bar(
                orientation="h", y=["" if alone else name for name in rows], x=shares, name=how, width=0.66,
                marker=dict(color=colour, line=dict(color=colour, width=0.5)), text=texts, textposition="inside", insidetextanchor="middle", textangle=0,
                textfont_color="white" if how == "simulated" else palette.TEXT,
                hovertext=hovers, hoverinfo="text",
            )
        )  # fmt: skip
    style.apply(figure, LEAST_PX + ROW_PX * len(rows), x_title="share of the packet-hops (%)")
    figure.update_layout(barmode="stack", uniformtext=dict(minsize=9, mode="hide"), margin_r=20, legend_traceorder="normal")
    figure.update_xaxes(range=[0, 100], title_standoff=14)
    figure.update_yaxes(autorange="reversed", showgrid=False, showticklabels=not alone)
    return figure


def parts_of(packet_hops: dict) -> dict[str, int]:
    """The three parts of the `packet_hops` of a summary; they add up to the total."""
    return {"simulated": simulated_hops(packet_hops)[0], "replayed": packet_hops["replayed"], "skipped": packet_hops["skipped"]}
