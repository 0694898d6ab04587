"""The stream of tasks of a pipeline stage, by hand."""

import numpy as np

from sim.workload import stage as stage_module
from sim.workload.blocks import FlowKind, TaskKind
from sim.workload.passes import Maker
from sim.workload.schedule.order import Op
from sim.workload.stage import stream, tasks_of
from sim.workload.strategy import Strategy
from sim.workload.timing import Durations
from sim.workload.transformer import Shape

SHAPE = Shape(layers=4, hidden=8, heads=2, ffn_hidden=32, vocabulary=1000, sequence=16)
TIMES = Durations(projections_ps=4, core_ps=2, mlp_ps=4, experts_ps=7, head_ps=3, tensor_ps=2.5, tensor_bytes=256)
LETTER = {TaskKind.FORWARD: "F", TaskKind.BACKWARD: "B", TaskKind.TP: "t", TaskKind.OPTIMIZER: "O", TaskKind.WEIGHT: "W", TaskKind.WAIT: "w",
          TaskKind.RECOMPUTE: "R"}  # fmt: skip


def text(line):
    return " ".join(f"{LETTER[TaskKind(k)]}{layer}.{m}" for k, layer, m in zip(line.kind, line.layer, line.microbatch))


def made(strategy, stage=0, merge=False, shape=SHAPE, start=False, meet=False, on_network=False):
    return stream(Maker(shape, strategy, TIMES, on_network), stage, 7, merge, start, meet)


def test_first_of_two_stages_by_hand():
    line = made(Strategy(1, 2, 1, micro_batches=2))
    assert text(line) == "F0.0 F1.0 F0.1 F1.1 B1.0 B0.0 B1.1 B0.1 O-1.-1"
    assert line.duration_ps.tolist() == [10, 10, 10, 10, 20, 20, 20, 20, 7]
    assert line.first[Op.FORWARD, 0].tolist() == [0, 2]
    assert line.last[Op.FORWARD, 0].tolist() == [1, 3]
    assert line.first[Op.BACKWARD, 0].tolist() == [4, 6]
    assert line.last[Op.BACKWARD, 0].tolist() == [5, 7]
    assert [line.gradients_ready(layer) for layer in (1, 0)] == [6, 7]
    assert [line.gradients_ready(layer, 0) for layer in (1, 0)] == [4, 5]


def test_last_stage_has_the_head_and_tensor_parallelism_its_all_reduces():
    line = made(Strategy(2, 2, 1, micro_batches=1), stage=1)
    assert text(line) == "F2.0 t2.0 F3.0 t3.0 F4.0 B4.0 B3.0 t3.0 B2.0 t2.0 O-1.-1"
    assert line.duration_ps.tolist() == [10, 5, 10, 5, 3, 6, 20, 5, 20, 5, 7]
    assert [line.gradients_ready(layer) for layer in (4, 3, 2)] == [5, 6, 8]
    assert line.backward_ends(0) == 9
    assert line.n_bytes[line.kind == TaskKind.TP].tolist() == [512] * 4


def test_merged_layers_take_the_same_time_but_keep_the_last_backward_apart():
    strategy = Strategy(2, 2, 1, micro_batches=3)
    fine, merged = (made(strategy, 1, merge) for merge in (False, True))
    assert text(merged) == (
        "F2.0 t2.0 F4.0 B4.0 B3.0 t3.0 F2.1 t2.1 F4.1 B4.1 B3.1 t3.1 F2.2 t2.2 F4.2 B4.2 B3.2 t3.2 B2.2 t2.2 O-1.-1"
    )
    assert merged.duration_ps.sum() == fine.duration_ps.sum()
    assert merged.n_bytes.sum() == fine.n_bytes.sum()
    ends = [np.cumsum(line.duration_ps) for line in (fine, merged)]
    for positions in ([line.last[Op.FORWARD, 0] for line in (fine, merged)], [line.last[Op.BACKWARD, 0] for line in (fine, merged)]):
        assert ends[0][positions[0]].tolist() == ends[1][positions[1]].tolist()
    for layer in (4, 3, 2):
        assert ends[0][fine.gradients_ready(layer)] == ends[1][merged.gradients_ready(layer)]


def test_long_accumulation_is_merged(monkeypatch):
    strategy = Strategy(2, 2, 1, micro_batches=3)
    assert not stage_module.merges_layers(SHAPE, strategy)
    monkeypatch.setattr(stage_module, "TASKS_BY_LAYER_MAX", 2 * 3 * 2 * 2 * 4 - 1)
    assert stage_module.merges_layers(SHAPE, strategy)


def test_zero_bubble_keeps_gradients_of_weights_apart():
    line = made(Strategy(1, 2, 1, micro_batches=2, schedule="zb-h1"), stage=1)
    assert text(line) == (
        "F2.0 F3.0 F4.0 B4.0 B3.0 B2.0 F2.1 F3.1 F4.1 B4.1 B3.1 B2.1 W4.0 W3.0 W2.0 W4.1 W3.1 W2.1 O-1.-1"
    )
    plain = made(Strategy(1, 2, 1, micro_batches=2), stage=1)
    assert line.duration_ps.sum() == plain.duration_ps.sum()
    assert line.duration_ps[3:6].tolist() == [3, 12, 12], "inputs: the products of a forward pass, the core twice"
    assert line.gradients_ready(3) == 16


def test_interleaved_stage_has_layers_of_every_virtual_stage():
    line = made(Strategy(1, 2, 1, micro_batches=2, chunks=2, schedule="interleaved"), stage=1)
    assert line.layers == [1, 3]
    assert text(line) == "F1.0 F1.1 F3.0 F4.0 F3.1 F4.1 B4.0 B3.0 B4.1 B3.1 B1.0 B1.1 O-1.-1"
    assert line.gradients_ready(1) == 11 and line.gradients_ready(3) == 9


def test_recomputation():
    full = made(Strategy(2, 2, 1, recompute="full"))
    assert text(full) == "F0.0 t0.0 F1.0 t1.0 R1.0 t1.0 B1.0 t1.0 R0.0 t0.0 B0.0 t0.0 O-1.-1"
    selective = made(Strategy(1, 2, 1, recompute="selective"))
    assert selective.duration_ps.tolist() == [10, 10, 22, 22, 7], "the core once more"


def test_experts_cut_a_layer_where_tokens_cross():
    mixture = Shape(2, 8, 2, 32, 1000, 16, experts=4, top_k=2, expert_ffn=32, dense_layers=1)
    line = made(Strategy(1, 1, 2, ep=2), shape=mixture)
    assert text(line) == "F0.0 F1.0 F1.0 F2.0 B2.0 B1.0 B1.0 B0.0 O-1.-1"
    assert line.duration_ps.tolist() == [10, 6, 7, 3, 6, 14, 12, 20, 7]
    tokens = line.crossings(FlowKind.EP)
    assert tokens.role == ("dispatch", "combine", "combine backward", "dispatch backward")
    assert tokens.after[:, 0].tolist() == [1, 2, 4, 5]
    assert tokens.before[:, 0].tolist() == [2, 3, 5, 6]
    assert line.by_experts.tolist() == [False, False, True, False, False, True, False, False, False]
    assert line.gradients_ready(1) == 6 and line.gradients_ready(1, experts=True) == 5


def test_a_pass_that_ends_on_the_network_has_a_point_to_wait_at():
    mixture = Shape(2, 8, 2, 32, 1000, 16, experts=4, top_k=2, expert_ffn=32)
    line = made(Strategy(1, 2, 2, ep=2), shape=mixture)
    assert text(line) == "F0.0 F0.0 w0.0 w0.0 B0.0 B0.0 O-1.-1", "after the last combine, and before the first way back"


def test_context_parallelism_cuts_before_the_core():
    gather = made(Strategy(1, 4, 1, cp=2))
    assert text(gather) == "F0.0 F0.0 F0.0 B0.0 B0.0 B0.0 O-1.-1", "projections, core and output, MLP; back again"
    keys = gather.crossings(FlowKind.CP, ("gather",))
    assert gather.duration_ps[:6].sum() == 10 + 20
    assert keys.after[0].tolist() == [0] and keys.before[0].tolist() == [1]
    ring = made(Strategy(1, 4, 1, cp=4, context_form="ring"))
    passed = ring.crossings(FlowKind.CP, ("pass",))
    assert passed.before.shape == (1, 3), "three pieces come from others"


def test_every_rank_gets_the_stream():
    line = made(Strategy(1, 1, 2))
    tasks = tasks_of(line, np.array([4, 5]))
    assert tasks.rank.tolist() == [4] * len(line) + [5] * len(line)
    assert tasks.layer.tolist() == line.layer.tolist() * 2
