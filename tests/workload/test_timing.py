"""Durations of compute and tensor-parallel collectives, by hand."""

import pytest

from sim.catalogue.gpus import GPUS
from sim.workload.strategy import Strategy
from sim.workload.timing import durations, optimizer_ps, tensor_all_reduce_latency_ps, tensor_bytes_per_pass
from sim.workload.transformer import Shape

GPT_7B = Shape(36, 4096, 32, 16384, 51200, 2048)


def test_compute_time_by_hand():
    # 24 s h^2 + 4 s^2 h = 893.4 GFLOP over 8 GPUs of 989.4 x 0.5 TFLOP/s
    times = durations(GPT_7B, Strategy(8, 2, 4), GPUS["H100-SXM"], 3600 * 10**9)
    flops = 24 * 2048 * 4096**2 + 4 * 2048**2 * 4096
    assert times.forward_ps == round(flops / 8 / (989.4e12 * 0.5) * 1e12)
    assert times.forward_ps / 1e6 == pytest.approx(225.7, rel=1e-3)
    assert times.backward_ps == pytest.approx(2 * times.forward_ps, abs=1)
    assert times.head_backward_ps == pytest.approx(2 * times.head_forward_ps, abs=1)


def test_tensor_all_reduce_by_hand():
    """Two all-reduces of 16.8 MB, 14/8 of it over 450 GB/s, 25 us of latency each: about the 104 us that H100s need."""
    times = durations(GPT_7B, Strategy(8, 2, 4), GPUS["H100-SXM"], 3600 * 10**9)
    assert tensor_bytes_per_pass(GPT_7B, Strategy(8, 2, 4)) == 2 * 7 * 16_777_216 // 4
    assert times.tp_ps / 1e6 == pytest.approx(2 * (16.777216 * 14 / 8 / 0.45 + 25), rel=1e-6)


def test_latency_is_the_better_of_ring_and_switch():
    assert tensor_all_reduce_latency_ps(2, nvls=True) == 8_400_000 + 2 * 3_400_000
    assert tensor_all_reduce_latency_ps(8, nvls=True) == 25_000_000
    assert tensor_all_reduce_latency_ps(8, nvls=False) == 8_400_000 + 14 * 3_400_000


def test_no_tensor_parallelism_no_all_reduce():
    assert durations(GPT_7B, Strategy(1, 2, 4), GPUS["H100-SXM"], 0).tp_ps == 0


def test_optimizer_moves_30_bytes_per_parameter():
    gpu = GPUS["H100-SXM"]
    assert optimizer_ps(1_000_000, Strategy(1, 1, 4, distributed_optimizer=False), gpu) == round(30e6 / 3.35e12 * 1e12)
    assert optimizer_ps(1_000_000, Strategy(1, 1, 4), gpu) == round(7.5e6 / 3.35e12 * 1e12)
