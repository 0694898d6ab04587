"""The Gantt chart: bars at their times in their colours, the critical path marked, never too many shapes."""

import numpy as np
import pytest

from sim.preset import load_preset
from tests import fabricate
from views.figures import style
from views.figures.gantt import gantt
from views.figures.gantt_lanes import Lanes
from views.parts import palette

MOST_SHAPES = 20_000
EXPERTS = {"name": "gpt-125m", "layers": 2, "experts": 4, "top_k": 2}


def shapes(figure):
    return sum(len(trace.x) for trace in figure.data if trace.type == "bar")


def test_one_flow_zoomed_in_is_one_bar_at_its_times(gpt):
    flow = gpt.flows[gpt.flows["kind"] == "PP"].iloc[3]
    window = (flow["start_s"], flow["start_s"] + flow["fct_s"])
    figure = gantt(gpt, [int(flow["src"]), int(flow["dst"])], window)
    (bars,) = [trace for trace in figure.data if trace.name == "PP"]
    at = [index for index, id in enumerate(bars.customdata) if id == flow["flow_id"]]
    assert len(at) == 1
    scale = 1e-3  # the run takes 6 ms, so its chart is in ms at every zoom
    np.testing.assert_allclose([bars.base[at[0]], bars.x[at[0]]], [flow["start_s"] / scale, flow["fct_s"] / scale])
    assert bars.marker.color == palette.KINDS["PP"]


def test_only_bars_of_one_flow_name_a_flow(gpt):
    figure = gantt(gpt, [0, 8], (0.0, gpt.end_s))
    for trace in figure.data:
        if trace.type == "bar" and trace.name:
            flows = trace.name in ("PP", "DP", "embedding")
            assert (min(trace.customdata) >= 0) if flows else (max(trace.customdata) == -1)


def test_the_chosen_flow_gets_a_halo_if_its_sender_is_shown(gpt):
    flow = int(gpt.flows.index[gpt.flows["src"] == 0][0])
    assert any(trace.name == "flow below" for trace in gantt(gpt, [0], (0.0, gpt.end_s), chosen=flow).data)
    assert not any(trace.name == "flow below" for trace in gantt(gpt, [1], (0.0, gpt.end_s), chosen=flow).data)


def test_rows_are_named_after_ranks_below_the_critical_path(gpt):
    figure = gantt(gpt, [0, 8], (0.0, gpt.end_s), {0: "rank 0 (stage 0)"})
    assert list(figure.layout.yaxis.ticktext) == ["critical path", "rank 0 (stage 0)", "rank 8"]
    assert figure.layout.xaxis.title.text == "time (ms)"


def test_long_names_take_two_lines(gpt):
    figure = gantt(gpt, [0], (0.0, gpt.end_s), {0: "rank 0 (mixture, stage 0)"})
    assert list(figure.layout.yaxis.ticktext)[1] == "rank 0<br>(mixture, stage 0)"


def test_the_strip_shows_the_whole_path_and_outlines_only_ranks_on_show(gpt):
    figure = gantt(gpt, [0], (0.0, gpt.end_s))
    (strip,) = [trace for trace in figure.data if trace.type == "bar" and set(trace.y) == {-1.0}]
    assert np.sum(strip.x) * 1e-3 == pytest.approx((gpt.critical_path["end_s"] - gpt.critical_path["start_s"]).sum())
    (outline,) = [trace for trace in figure.data if trace.name == "on the critical path"]
    on_rank_0 = (gpt.critical_path["rank"] == 0).any()
    assert bool(len(outline.x)) == on_rank_0


def test_steps_in_a_row_share_one_outline(gpt):
    ranks = sorted(set(gpt.critical_path["rank"].tolist()))
    (outline,) = [trace for trace in gantt(gpt, ranks, (0.0, gpt.end_s)).data if trace.name == "on the critical path"]
    boxes = sum(x is None for x in outline.x)
    assert 1 <= boxes < len(gpt.critical_path) / 2


@pytest.mark.parametrize("preset, ranks", [("gpt-13b-128", 32), ("gpt-7b-64", 16)])
def test_large_runs_stay_drawable(preset, ranks):
    result = fabricate.result(load_preset(preset))
    world = result.scenario.cluster.gpus
    figure = gantt(result, list(range(0, world, world // ranks)), (0.0, result.end_s))
    assert 200 < shapes(figure) < MOST_SHAPES


def test_crowded_compute_is_drawn_as_shares_within_the_lane(gpt, monkeypatch):
    monkeypatch.setattr("sim.result_lanes.TASKS_PER_RANK", 1)
    figure = gantt(gpt, [0], (0.0, gpt.end_s))
    forward = next(trace for trace in figure.data if trace.name == "forward")
    assert max(forward.width) <= 0.36 + 1e-9 and min(forward.width) > 0
    assert "% of this stretch" in forward.text[0]


def test_a_run_stopped_early_is_drawn_up_to_its_end(stopped):
    figure = gantt(stopped, [0, 8], (0.0, stopped.end_s))
    bars = [trace for trace in figure.data if trace.type == "bar"]
    assert max(np.max(np.asarray(trace.base) + np.asarray(trace.x)) for trace in bars) <= stopped.end_s * 1e3 * (
        1 + 1e-6
    )


def test_an_empty_window_is_an_empty_chart_not_an_error(gpt):
    assert gantt(gpt, [0], (10.0, 11.0)).layout.xaxis.title.text == "time (ms)"


@pytest.fixture(scope="module")
def everything():
    """Experts, context and ZeRO, weights' gradients apart, all recomputed, and somebody else's traffic."""
    return fabricate.result(
        fabricate.training(
            model=EXPERTS,
            parallelism={"tp": 2, "pp": 2, "dp": 2, "cp": 2, "ep": 2, "schedule": "zb-h1", "recompute": "full", "iterations": 2},
            background=[{"pattern": "ring", "flow_bytes": 1000, "times": 3}],
        )
    )


def test_every_kind_has_its_colour_and_waiting_is_not_drawn(everything):
    figure = gantt(everything, list(range(16)), (0.0, everything.end_s))
    drawn = {trace.name: trace.marker.color for trace in figure.data if trace.type == "bar" and trace.name}
    kinds = ("forward", "backward", "weight", "recompute", "TP", "optimizer", "CP", "EP", "PP", "DP", "embedding", "background")
    assert drawn == {kind: palette.KINDS[kind] for kind in kinds}
    assert (everything.tasks["kind"] == "wait").any()


def test_sorts_of_messages_have_lanes_of_their_own_below_the_computing(everything):
    lanes = Lanes(everything.dag)
    spots = [lanes.of("compute", "forward")] + [lanes.of("network", kind) for kind in ("EP", "PP", "DP", "background")]
    assert lanes.of("network", "CP") == lanes.of("network", "TP") == spots[1]
    assert all(above[1] < below[0] for above, below in zip(spots, spots[1:], strict=False)) and spots[-1][1] < 0.5
    assert lanes.row_px > Lanes(fabricate.result(fabricate.training()).dag).row_px


def test_plain_traffic_has_the_whole_row_and_shares_it_with_that_of_others():
    alone = Lanes(fabricate.result(fabricate.scenario()).dag)
    assert alone.of("network", "traffic") == pytest.approx((-0.28, 0.28))
    shared = Lanes(fabricate.result(fabricate.scenario(background=[{"times": 2}])).dag)
    assert shared.of("network", "traffic")[1] < shared.of("network", "background")[0]


def test_moments_are_marked_with_their_words(everything):
    figure = gantt(everything, [0], (0.0, everything.end_s), marks={1e-3: "iteration 1 ends", 2 * everything.end_s: "never"})
    assert [note.text for note in figure.layout.annotations] == ["iteration 1 ends"]
    assert figure.layout.xaxis.title.text == "time (ms)" and [line.x0 for line in figure.layout.shapes] == [1.0]


def test_words_stand_above_all_rows_and_beside_each_other_none_over_another(everything):
    end, plain = everything.end_s, gantt(everything, [0], (0.0, everything.end_s))
    figure = gantt(everything, [0], (0.0, end), marks={0.0: "leaf0–spine0 fails", 0.1 * end: "leaf0–spine0 works again", 0.9 * end: "gpu0–leaf0 fails"})
    notes = {note.text: note for note in figure.layout.annotations}
    assert [(note.yshift, note.xanchor) for note in notes.values()] == [(0, "left"), (-style.WORD_PX, "left"), (0, "right")]
    assert figure.layout.height == plain.layout.height + 2 * style.WORD_PX and figure.layout.yaxis.range[1] < plain.layout.yaxis.range[1]
    assert figure.layout.yaxis.range[0] == plain.layout.yaxis.range[0]


@pytest.mark.parametrize("marks", [{1e-3: "leaf0–spine0 works again" * 3}, {1e-3 + 1e-6 * at: "leaf0–spine0 works again" for at in range(20)}])
def test_words_too_long_or_too_many_are_left_out_their_lines_are_not(everything, marks):
    figure = gantt(everything, [0], (0.0, everything.end_s), marks=marks)
    assert not figure.layout.annotations and len(figure.layout.shapes) == len(marks)
