"""Bytes per GPU and kind of parallelism, by hand for GPT-7B."""

import pytest

from sim.workload.bytes import sent_bytes
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
