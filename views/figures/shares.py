"""Where bytes and memory go: bytes sent per GPU, memory per GPU, and what the critical path consists of."""

import plotly.graph_objects as go

from views.figures import style
from views.parts import palette
from views.parts.words import show_bytes, show_time

OTHERS = "work of others"  # in place of a bubble


def bytes_per_gpu(rows, over: dict[str, str]) -> go.Figure:
    """Bytes that a GPU of the busiest stage sends per iteration, one bar for each kind of parallelism.

    `rows` have kind, stage and sent_bytes, as `sim.workload.bytes` makes them; `over` says what a kind crosses.
    """
    busiest = {}
    for row in sorted(rows, key=lambda row: row.sent_bytes):
        if row.sent_bytes > 0:
            busiest[row.kind] = row
    if not busiest:
        return style.empty("no GPU sends anything: one GPU holds the whole model", 120)
    order = [row for kind in palette.KINDS for row in busiest.values() if kind_word(row.kind) == kind]
    scale, unit = style.byte_unit(max(row.sent_bytes for row in order))
    figure = go.Figure(
        go.Bar(
            orientation="h",
            y=[f"{kind_word(row.kind)} ({over.get(row.kind, row.over)})" for row in order],
            x=[row.sent_bytes / scale for row in order],
            marker_color=[palette.kind_colour(kind_word(row.kind)) for row in order],
            text=[show_bytes(row.sent_bytes) for row in order],
            textposition="outside",
            cliponaxis=False,
            width=0.6,
            customdata=[[row.stage, row.formula] for row in order],
            hovertemplate="%{y}: %{text}<br>busiest stage: %{customdata[0]}<br>%{customdata[1]}<extra></extra>",
        )
    )
    style.apply(figure, 96 + 34 * len(order), x_title=f"sent per GPU and iteration ({unit})", legend=False)
    figure.update_xaxes(title_standoff=10, range=[0, 1.3 * max(row.sent_bytes for row in order) / scale])
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return figure


def kind_word(kind: str) -> str:
    """TP, PP and DP stay, TRAFFIC becomes traffic, IN_SWITCH in switch."""
    return kind if len(kind) <= 2 else kind.lower().replace("_", " ")


def memory_per_gpu(rows, capacity_bytes: float) -> go.Figure:
    """Stacked bars of memory by kind, one per pipeline stage, against the GPU's capacity.

    `rows` have stage, total and by_kind(), as `sim.workload.memory` makes them.
    """
    scale, unit = style.byte_unit(capacity_bytes)
    stages = [f"stage {row.stage}" for row in rows]
    figure = go.Figure()
    for kind in rows[0].by_kind():
        sizes = [row.by_kind()[kind] for row in rows]
        figure.add_trace(
            go.Bar(
                orientation="h",
                y=stages,
                x=[size / scale for size in sizes],
                name=kind,
                marker_color=palette.MEMORY.get(kind, palette.OTHER_KIND),
                text=[show_bytes(size) for size in sizes],
                textposition="none",
                hovertemplate=f"{kind}: %{{text}}<extra>%{{y}}</extra>",
                width=0.65,
            )
        )
    room = style.legend_px(trace.name for trace in figure.data)
    style.apply(figure, 110 + 26 * min(max(len(stages), 2), 16) + room, x_title=f"memory per GPU ({unit})")
    figure.add_vline(x=capacity_bytes / scale, line=dict(color=palette.CAPACITY, width=2, dash="dash"))
    figure.add_annotation(
        x=capacity_bytes / scale,
        y=0,
        yref="paper",
        yanchor="bottom",
        xanchor="right",
        showarrow=False,
        text=f"capacity {show_bytes(capacity_bytes)} ",
        font=dict(size=11),
        bgcolor="rgba(255,255,255,0.75)",
    )
    figure.update_layout(barmode="stack", legend_traceorder="normal")
    figure.update_xaxes(range=[0, 1.06 * max(capacity_bytes, *(row.total for row in rows)) / scale])
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return figure


def parts_of_path(result) -> dict[str, float]:
    """What the critical path went into, s; what is a bubble of pipelines is, where there is no pipeline, work of others that it waits for."""
    strategies = [result.scenario.parallelism, *(job.parallelism for job in result.scenario.jobs)]
    if any(one is not None and one.pp > 1 for one in strategies):
        return result.path_shares_s
    return {OTHERS if name == "bubble" else name: seconds for name, seconds in result.path_shares_s.items()}


def path_shares(parts_s: dict[str, float]) -> go.Figure:
    """One stacked bar: the critical path's seconds by what they went into, as shares of its length."""
    total = sum(parts_s.values())
    parts_s = {kind_word(name): seconds for name, seconds in parts_s.items() if seconds > 0}
    if not parts_s:
        return style.empty("nothing was computed or sent", 120)
    figure = go.Figure()
    for name, seconds in parts_s.items():
        share = 100 * seconds / total
        figure.add_trace(
            go.Bar(
                orientation="h",
                y=[""],
                x=[share],
                width=0.7,
                name=name,
                marker_color=palette.kind_colour("bubble" if name == OTHERS else name),
                text=f"{name}<br>{share:.0f} %" if share >= 7 else "",
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                hovertemplate=f"{name}: {show_time(seconds)} ({share:.1f} %)<extra></extra>",
            )
        )
    style.apply(figure, 140 + style.legend_px(parts_s), x_title="share of the critical path (%)")
    figure.update_layout(barmode="stack", uniformtext=dict(minsize=9, mode="hide"), margin_r=20, legend_traceorder="normal")  # 100 has room
    figure.update_xaxes(range=[0, 100], title_standoff=10)
    figure.update_yaxes(showticklabels=False)
    return figure
