"""Durations of compute and tensor-parallel collectives, by hand."""

import pytest

from sim.catalogue.gpus import GPUS
from sim.errors import ScenarioError
from sim.workload.strategy import Strategy
from sim.workload.timing import durations, optimizer_ps, tensor_all_reduce_latency_ps, tensor_bytes
from sim.workload.transformer import Shape

GPT_7B = Shape(36, 4096, 32, 16384, 51200, 2048)


def test_compute_time_by_hand():
    # 24 s h^2 + 4 s^2 h = 893.4 GFLOP over 8 GPUs of 989.4 x 0.5 TFLOP/s
    times = durations(GPT_7B, Strategy(8, 2, 4), GPUS["H100-SXM"], 3600 * 10**9)
    flops = 24 * 2048 * 4096**2 + 4 * 2048**2 * 4096
    assert times.weights_ps(False) + times.core_ps == pytest.approx(flops / 8 / (989.4e12 * 0.5) * 1e12)
    assert (times.weights_ps(False) + times.core_ps) / 1e6 == pytest.approx(225.7, rel=1e-3)
    assert times.head_ps == pytest.approx(2 * 2048 * 4096 * 51200 / 8 / (989.4e12 * 0.5) * 1e12)


def test_fp8_is_faster_where_there_is_any():
    fast, slow = (durations(GPT_7B, Strategy(8, 2, 4, precision=word), GPUS["H100-SXM"], 10**12) for word in ("fp8", "bf16"))
    assert slow.mlp_ps == pytest.approx(2 * fast.mlp_ps, rel=1e-3)
    with pytest.raises(ScenarioError, match='A100-SXM-80 has no fp8 arithmetic; use precision = "bf16"'):
        durations(GPT_7B, Strategy(1, 1, 1, precision="fp8"), GPUS["A100-SXM-80"], 0)


def test_context_parallel_ranks_share_a_layer():
    whole, shared = (durations(GPT_7B, Strategy(1, 1, 4, cp=c), GPUS["H100-SXM"], 0) for c in (1, 4))
    assert whole.core_ps == pytest.approx(4 * shared.core_ps)


def test_tensor_all_reduce_by_hand():
    """An all-reduce of 16.8 MB, 14/8 of it over 450 GB/s, 25 us of latency: twice that is the 180 us of a layer's pass."""
    times = durations(GPT_7B, Strategy(8, 2, 4), GPUS["H100-SXM"], 3600 * 10**9)
    assert tensor_bytes(GPT_7B, Strategy(8, 2, 4)) == times.tensor_bytes == 7 * 16_777_216 // 4
    assert times.tensor_ps / 1e6 == pytest.approx(16.777216 * 14 / 8 / 0.45 * 1e-3 * 1e3 + 25, rel=1e-6)


def test_latency_is_the_better_of_ring_and_switch():
    assert tensor_all_reduce_latency_ps(2, nvls=True) == 8_400_000 + 2 * 3_400_000
    assert tensor_all_reduce_latency_ps(8, nvls=True) == 25_000_000
    assert tensor_all_reduce_latency_ps(8, nvls=False) == 8_400_000 + 14 * 3_400_000


def test_no_tensor_parallelism_no_all_reduce():
    assert durations(GPT_7B, Strategy(1, 2, 4), GPUS["H100-SXM"], 0).tensor_ps == 0


def test_groups_wider_than_a_node_reduce_over_the_network():
    times = durations(GPT_7B, Strategy(16, 1, 1), GPUS["H100-SXM"], 3600 * 10**9, gpus_per_node=8)
    assert (times.tensor_ps, times.tensor_bytes) == (0, 0)


def test_optimizer_moves_30_bytes_per_parameter():
    gpu = GPUS["H100-SXM"]
    assert optimizer_ps(1_000_000, 0, Strategy(1, 1, 4, optimizer="all-reduce"), gpu) == round(30e6 / 3.35e12 * 1e12)
    assert optimizer_ps(1_000_000, 0, Strategy(1, 1, 4), gpu) == round(7.5e6 / 3.35e12 * 1e12)
    assert optimizer_ps(0, 1_000_000, Strategy(1, 1, 4, ep=2), gpu) == round(15e6 / 3.35e12 * 1e12), "two replicas of an expert"
