"""Pipeline schedules drawn: the bubble of the drawing is that of the formula, nothing runs before what it needs, and it stays drawable."""

import numpy as np
import pytest

from sim.workload.schedule.order import Op
from views.figures.pipeline_times import bubble_of, durations, play
from views.figures.schedule import MOST_PASSES, drawn_micro_batches, schedule
from views.parts import palette


@pytest.mark.parametrize("recompute", ["none", "full"])
@pytest.mark.parametrize(
    ("name", "stages", "micro_batches", "chunks", "share"),
    [
        ("1f1b", 4, 8, 1, 3 / 8),
        ("1f1b", 4, 2, 1, 3 / 2),
        ("gpipe", 4, 8, 1, 3 / 8),
        ("interleaved", 4, 8, 2, 3 / 16),
        ("interleaved", 4, 4, 3, 3 / 12),
        ("zb-h1", 4, 8, 1, 3 / 24),
        ("1f1b", 1, 5, 1, 0),
    ],
)
def test_the_bubble_that_is_drawn_is_that_of_the_formula(name, stages, micro_batches, chunks, share, recompute):
    wanted = 3 * 2 / (4 * 8) if (name, recompute) == ("zb-h1", "full") else share  # F + B - W = 2 of F + B + W = 4
    assert bubble_of(name, stages, micro_batches, chunks, recompute).share == pytest.approx(wanted)
    assert play(name, stages, micro_batches, chunks, recompute).bubble(micro_batches) == pytest.approx(wanted)


def test_two_stages_of_1f1b_by_hand():
    found = play("1f1b", 2, 2)
    times = {(s, Op(o).name[0], m): (a, b) for s, o, m, a, b in zip(found.stage, found.op, found.micro_batch, found.start, found.end, strict=True)}
    assert times == {
        (0, "F", 0): (0, 1), (0, "F", 1): (1, 2), (0, "B", 0): (4, 6), (0, "B", 1): (7, 9),
        (1, "F", 0): (1, 2), (1, "B", 0): (2, 4), (1, "F", 1): (4, 5), (1, "B", 1): (5, 7),
    }  # fmt: skip


@pytest.mark.parametrize(("name", "chunks"), [("1f1b", 1), ("gpipe", 1), ("interleaved", 3), ("zb-h1", 1)])
def test_passes_wait_for_what_they_need_and_a_stage_does_one_at_a_time(name, chunks):
    stages, micro_batches = 4, 8
    found = play(name, stages, micro_batches, chunks)
    part = found.chunk * stages + found.stage
    at = {key: (a, b) for *key, a, b in zip(found.op, found.micro_batch, part, found.start, found.end, strict=True) for key in [tuple(key)]}
    last = stages * chunks - 1
    for (op, m, own), (start, _) in at.items():
        before = {Op.FORWARD: (Op.FORWARD, m, own - 1), Op.BACKWARD: (Op.BACKWARD, m, own + 1), Op.WEIGHT: (Op.BACKWARD, m, own)}[Op(op)]
        if (op, own) not in ((Op.FORWARD, 0), (Op.BACKWARD, last)):
            assert start >= at[before][1]
        if op == Op.BACKWARD:
            assert start >= at[Op.FORWARD, m, own][1]
    for stage in range(stages):
        mine = np.flatnonzero(found.stage == stage)
        mine = mine[np.argsort(found.start[mine])]
        assert (found.start[mine][1:] >= found.end[mine][:-1] - 1e-9).all()
        assert len(mine) == micro_batches * chunks * (3 if name == "zb-h1" else 2)
        forward, backward, weight = durations(name, "none")
        assert (found.end - found.start)[mine].sum() == pytest.approx(micro_batches * (forward + backward + weight))


def test_passes_have_their_colours_and_carry_their_micro_batch():
    figure = schedule("zb-h1", 4, 4)
    assert [trace.name for trace in figure.data] == ["forward pass", "backward pass", "gradients of weights"]
    assert [trace.marker.color for trace in figure.data] == [palette.KINDS[kind] for kind in ("forward", "backward", "weight")]
    assert set(figure.data[0].text) == {"1", "2", "3", "4"}
    assert list(figure.layout.yaxis.ticktext) == ["stage 0", "stage 1", "stage 2", "stage 3"]


def test_virtual_stages_are_told_apart_by_their_lightness():
    (forward, _) = schedule("interleaved", 2, 4, 2).data
    assert sorted(set(forward.marker.opacity)) == pytest.approx([0.45, 1.0])
    assert any("virtual stage 1" in text for text in forward.hovertext)


@pytest.mark.parametrize(("name", "stages", "micro_batches", "chunks"), [("1f1b", 16, 2000, 1), ("interleaved", 32, 1024, 4), ("zb-h1", 64, 4000, 1)])
def test_long_schedules_are_drawn_in_part(name, stages, micro_batches, chunks):
    shown = drawn_micro_batches(name, stages, micro_batches, chunks)
    assert shown < micro_batches and shown % stages == 0
    figure = schedule(name, stages, micro_batches, chunks)
    assert sum(len(trace.x) for trace in figure.data) <= max(MOST_PASSES, 3 * stages * stages * chunks)
