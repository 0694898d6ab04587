"""Bytes per GPU and kind of parallelism: by hand for GPT-7B, and whatever the algorithm as they are built."""

import numpy as np
import pytest

from sim.scenario import Scenario
from sim.workload.blocks import FlowKind
from sim.workload.build import build_dag
from sim.workload.bytes import bytes_per_gpu, sent_bytes
from sim.workload.jobs import strategy_of
from sim.workload.placement import place
from sim.workload.strategy import Strategy
from sim.workload.transformer import Shape, stage_parameters

GPT_7B = Shape(36, 4096, 32, 16384, 51200, 2048)


def by(kind, stage, strategy):
    return next(row for row in sent_bytes(GPT_7B, strategy) if (row.kind, row.stage) == (kind, stage))


def test_gpt_7b_on_64_by_hand():
    strategy = Strategy(8, 2, 4, micro_batches=2)
    # 4 all-reduces x 18 layers x 2 micro-batches x 14/8 of 16.78 MB
    assert by("TP", 0, strategy).sent_bytes == 4 * 18 * 2 * 14 / 8 * 16_777_216
    # one neighbour, two micro-batches, an eighth of 16.78 MB
    assert by("PP", 0, strategy).sent_bytes == 2 * 2_097_152
    # 3/4 of 4 + 2 bytes for 479.7 M parameters
    assert by("DP", 0, strategy).sent_bytes == pytest.approx(0.75 * 6 * 479.7e6, rel=1e-4)
    # fp32 gradient of 51200 x 4096 / 8 parameters
    assert by("EMBEDDING", 1, strategy).sent_bytes == 104_857_600
    # bf16 as all gradients under ZeRO
    assert by("EMBEDDING", 1, Strategy(8, 2, 4, optimizer="zero-2")).sent_bytes == 52_428_800


def test_all_reduce_and_distributed_optimizer():
    p = stage_parameters(GPT_7B, 1, 1, 0)
    assert by("DP", 0, Strategy(1, 1, 8)).sent_bytes == 7 / 8 * 6 * p
    assert by("DP", 0, Strategy(1, 1, 8, optimizer="all-reduce")).sent_bytes == 14 / 8 * 4 * p


def test_middle_stages_have_two_neighbours_and_no_embedding():
    strategy = Strategy(8, 4, 1, micro_batches=4)
    assert by("PP", 1, strategy).sent_bytes == 2 * by("PP", 0, strategy).sent_bytes
    assert by("EMBEDDING", 1, strategy).sent_bytes == 0


def test_nothing_is_sent_without_parallelism():
    assert [row.sent_bytes for row in sent_bytes(GPT_7B, Strategy(1, 1, 1))] == [0, 0, 0, 0]


def test_only_tensor_parallelism_stays_on_nvlink():
    assert {row.over for row in sent_bytes(GPT_7B, Strategy(2, 2, 2)) if row.kind == "TP"} == {"NVLink"}
    assert {row.over for row in sent_bytes(GPT_7B, Strategy(2, 2, 2)) if row.kind != "TP"} == {"network"}

MIXTURE = {"layers": 4, "hidden": 256, "heads": 8, "vocabulary": 1000, "sequence": 256, "experts": 12, "top_k": 2, "expert_ffn": 512}
SAMPLE = [
    {"dp": 12, "optimizer": optimizer, "gradient_algorithm": algorithm, "pp": 2, "micro_batches": 3, "placement": placement}
    for optimizer, algorithm, placement in (
        ("all-reduce", "ring", "packed"), ("all-reduce", "double-binary-tree", "spread"), ("all-reduce", "hierarchical", "random"),
        ("all-reduce", "halving-doubling", "packed"), ("distributed", "halving-doubling", "spread"), ("distributed", "hierarchical", "packed"),
        ("zero-1", "ring", "random"), ("zero-2", "hierarchical", "spread"), ("zero-3", "halving-doubling", "packed"), ("zero-3", "ring", "packed"),
    )
] + [
    {"dp": 12, "tp": 2, "channels": 2}, {"dp": 12, "tp": 2, "channels": 1, "iterations": 3}, {"tp": 8, "dp": 3}, {"cp": 4, "dp": 3, "tp": 2},
    {"dp": 12, "tp": 2, "ep": 6, "capacity_factor": 0.7}, {"dp": 12, "tp": 2, "ep": 12, "expert_skew": 1.0},
    {"dp": 24, "ep": 12, "expert_skew": 1.0, "capacity_factor": 1.1, "expert_algorithm": "pxn"},
    {"dp": 12, "tp": 2, "ep": 12, "expert_skew": 2.0, "expert_algorithm": "hierarchical", "placement": "spread", "optimizer": "zero-2"},
    {"dp": 12, "pp": 2, "ep": 6, "expert_algorithm": "pxn", "placement": "random", "recompute": "full", "precision": "fp8"},
]  # fmt: skip


def made(**parallelism):
    cluster = {"topology": "rail-optimised", "gpus": 24, "gpus_per_node": 4}
    return Scenario.from_data({"cluster": cluster, "model": MIXTURE, "parallelism": parallelism})


@pytest.mark.parametrize("parallelism", SAMPLE)
def test_rows_are_the_means_of_what_is_built(parallelism):
    scenario = made(**parallelism)
    dag, strategy = build_dag(scenario), strategy_of(scenario.parallelism)
    rows = bytes_per_gpu(scenario)
    host = place(strategy, 24, 4, scenario.simulation.seed)
    for row in rows:
        mine = dag.flow_kind == FlowKind[row.kind]
        out = np.bincount(dag.flow_src[mine], dag.flow_bytes[mine], minlength=24)
        if row.kind == "TP" and row.over == "NVLink":
            out = np.bincount(dag.task_rank, dag.task_bytes, minlength=24)
        assert row.sent_bytes == pytest.approx(out[host[strategy.stage_ranks(row.stage)]].mean(), rel=1e-9), row
    assert {row.kind for row in rows if row.sent_bytes} >= {FlowKind(kind).name for kind in np.unique(dag.flow_kind)}


def formulas(**parallelism):
    return {row.kind: (row.sent_bytes, row.formula) for row in bytes_per_gpu(made(**parallelism))}


def test_a_formula_is_told_where_it_holds_and_else_that_it_was_counted():
    even = formulas(dp=24, ep=4)
    assert not any("counted" in formula for _, formula in even.values())
    skewed = formulas(dp=24, ep=4, expert_skew=0.5)["EP"]
    assert skewed == (pytest.approx(even["EP"][0], rel=1e-4), even["EP"][1]), "on average a skew changes nothing"
    half = formulas(dp=24, ep=4, capacity_factor=0.5)["EP"]
    assert half == (pytest.approx(even["EP"][0] / 2, rel=1e-4), "counted: capacity 0.5")
    wide, relayed = formulas(dp=24, ep=12)["EP"][0], formulas(dp=24, ep=12, expert_algorithm="pxn")["EP"]
    # 11 of 12 parts go away; by PXN 3 parts to each of 3 peers, then 4 to each of 2 servers
    assert relayed == (pytest.approx(wide * 17 / 11, rel=1e-4), "counted: pxn")
    assert formulas(dp=24, gradient_algorithm="halving-doubling")["DP"][1] == "counted: halving-doubling"


def test_jobs_of_others_are_not_counted():
    one = made(dp=8)
    two = one.replace("jobs", [{"model": MIXTURE, "parallelism": {"dp": 12, "gradient_algorithm": "halving-doubling"}}])
    assert bytes_per_gpu(two) == bytes_per_gpu(one.replace("cluster.gpus", 8))
