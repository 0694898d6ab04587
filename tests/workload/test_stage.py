"""The stream of tasks of a pipeline stage, by hand."""

import numpy as np

from sim.workload import stage as stage_module
from sim.workload.blocks import TaskKind
from sim.workload.stage import stream, tasks_of
from sim.workload.strategy import Strategy
from sim.workload.timing import Durations
from sim.workload.transformer import Shape

SHAPE = Shape(layers=4, hidden=8, heads=2, ffn_hidden=32, vocabulary=1000, sequence=16)
TIMES = Durations(forward_ps=10, backward_ps=20, head_forward_ps=3, head_backward_ps=6, tp_ps=5)
LETTER = {TaskKind.FORWARD: "F", TaskKind.BACKWARD: "B", TaskKind.TP: "t", TaskKind.OPTIMIZER: "O"}


def text(line):
    return " ".join(f"{LETTER[TaskKind(k)]}{layer}.{m}" for k, layer, m in zip(line.kind, line.layer, line.microbatch))


def test_first_of_two_stages_by_hand():
    line = stream(SHAPE, Strategy(1, 2, 1, micro_batches=2), 0, TIMES, 7, merge=False)
    assert text(line) == "F0.0 F1.0 F0.1 F1.1 B1.0 B0.0 B1.1 B0.1 O-1.-1"
    assert line.duration_ps.tolist() == [10, 10, 10, 10, 20, 20, 20, 20, 7]
    assert line.forward_first.tolist() == [0, 2]
    assert line.forward_last.tolist() == [1, 3]
    assert line.backward_first.tolist() == [4, 6]
    assert line.backward_last.tolist() == [5, 7]
    assert line.gradients_ready[1:].tolist() == [6, 7, 7]


def test_last_stage_has_the_head_and_tensor_parallelism_its_all_reduces():
    line = stream(SHAPE, Strategy(2, 2, 1, micro_batches=1), 1, TIMES, 7, merge=False)
    assert text(line) == "F2.0 t2.0 F3.0 t3.0 F4.0 B4.0 B3.0 t3.0 B2.0 t2.0 O-1.-1"
    assert line.duration_ps.tolist() == [10, 5, 10, 5, 3, 6, 20, 5, 20, 5, 7]
    assert line.gradients_ready.tolist() == [5, 6, 8, 9]
    # two all-reduces of 2sbh = 256 bytes, each 2(t-1)/t = 1 of it
    assert line.n_bytes[line.kind == TaskKind.TP].tolist() == [512] * 4


def test_merged_layers_take_the_same_time_but_keep_the_last_backward_apart():
    strategy = Strategy(2, 2, 1, micro_batches=3)
    fine, merged = (stream(SHAPE, strategy, 1, TIMES, 7, merge) for merge in (False, True))
    assert text(merged) == (
        "F2.0 t2.0 F4.0 B4.0 B3.0 t3.0 F2.1 t2.1 F4.1 B4.1 B3.1 t3.1 F2.2 t2.2 F4.2 B4.2 B3.2 t3.2 B2.2 t2.2 O-1.-1"
    )
    assert merged.duration_ps.sum() == fine.duration_ps.sum()
    assert merged.n_bytes.sum() == fine.n_bytes.sum()
    ends = [np.cumsum(line.duration_ps) for line in (fine, merged)]
    for name in ("forward_last", "backward_last", "gradients_ready"):
        positions = [getattr(line, name) for line in (fine, merged)]
        assert ends[0][positions[0]].tolist() == ends[1][positions[1]].tolist(), name


def test_long_accumulation_is_merged(monkeypatch):
    strategy = Strategy(2, 2, 1, micro_batches=3)
    assert not stage_module.merges_layers(SHAPE, strategy)
    monkeypatch.setattr(stage_module, "TASKS_BY_LAYER_MAX", 2 * 3 * 2 * 2 * 4 - 1)
    assert stage_module.merges_layers(SHAPE, strategy)


def test_every_rank_gets_the_stream():
    line = stream(SHAPE, Strategy(1, 1, 2), 0, TIMES, 7, merge=False)
    tasks = tasks_of(line, np.array([4, 5]))
    assert tasks.rank.tolist() == [4] * len(line) + [5] * len(line)
    assert tasks.layer.tolist() == line.layer.tolist() * 2
