"""A pipeline schedule drawn: a row for each stage, a block for each pass of a micro-batch."""

import numpy as np
import plotly.graph_objects as go

from sim.workload.schedule.order import Op
from views.figures import style
from views.figures.pipeline_times import Passes, play
from views.parts import palette

MOST_PASSES = 2400  # blocks that are drawn
NUMBERED = 400  # up to so many blocks carry their micro-batch
NAMES = {Op.FORWARD: "forward", Op.BACKWARD: "backward", Op.WEIGHT: "weight"}
SAID = {Op.FORWARD: "forward pass", Op.BACKWARD: "backward pass", Op.WEIGHT: "gradients of weights"}
LEAST_PX, MOST_PX = 120, 460
FAINTEST = 0.45  # opacity of the last virtual stage


def drawn_micro_batches(schedule: str, stages: int, micro_batches: int, chunks: int) -> int:
    """As many as there is room for: all, or a few rounds of the pipeline."""
    passes = stages * chunks * (3 if schedule == "zb-h1" else 2)
    if passes * micro_batches <= MOST_PASSES:
        return micro_batches
    return min(micro_batches, max(stages, MOST_PASSES // passes // stages * stages))


def schedule(name: str, stages: int, micro_batches: int, chunks: int = 1, recompute: str = "none") -> go.Figure:
    """Stages from top to bottom; the time is counted in forward passes of a stage."""
    passes = play(name, stages, drawn_micro_batches(name, stages, micro_batches, chunks), chunks, recompute)
    figure = go.Figure()
    for op in Op:
        _add(figure, passes, op, chunks)
    height = min(max(90 + 28 * stages, LEAST_PX), MOST_PX)
    style.apply(figure, height, x_title="time (forward passes of a stage)")
    figure.update_layout(barmode="overlay", bargap=0, plot_bgcolor=palette.KINDS["idle"], uniformtext=dict(minsize=7, mode="hide"))
    figure.update_yaxes(
        tickvals=list(range(stages)), ticktext=[f"stage {stage}" for stage in range(stages)] if stages <= 20 else None,
        range=[stages - 0.5, -0.5], showgrid=False,
    )  # fmt: skip
    figure.update_xaxes(range=[0, passes.end.max()], showgrid=False)
    return figure


def _add(figure: go.Figure, passes: Passes, op: Op, chunks: int) -> None:
    here = np.flatnonzero(passes.op == op)
    if not len(here):
        return
    micro_batch, chunk, stage = passes.micro_batch[here], passes.chunk[here], passes.stage[here]
    part = [f", virtual stage {c}" if chunks > 1 else "" for c in chunk]
    faint = 1 - (1 - FAINTEST) * chunk / max(1, chunks - 1)
    many = len(passes.op) > NUMBERED
    figure.add_trace(
        go.Bar(
            orientation="h", y=stage, base=passes.start[here], x=(passes.end - passes.start)[here], width=0.8, name=SAID[op],
            marker=dict(color=palette.KINDS[NAMES[op]], opacity=faint, line=dict(color="white", width=0.2 if many else 0.8)),
            text=[] if many else [str(number + 1) for number in micro_batch], textposition="inside", insidetextanchor="middle", textangle=0,
            textfont=dict(color=palette.TEXT if op == Op.FORWARD else "white", size=10), constraintext="none" if many else "inside",
            hovertext=[f"<b>{SAID[op]}</b> of micro-batch {m + 1} on stage {s}{p}" for m, s, p in zip(micro_batch, stage, part, strict=True)],
            hoverinfo="text",
        )
    )  # fmt: skip
