"""Bandwidths of collectives by hand: NVLink as NCCL counts it, payload of NICs, the NVSwitch's own sums, latency of a ring."""

import pytest

from sim.published_collectives import bandwidth
from sim.published_models import NotGiven
from tests.published_rows import row


def asked(gpu, metric, gpus=None, case="", unit="GB/s"):
    return bandwidth(row(kind="collective", gpu=gpu, metric=metric, gpus=gpus, unit=unit), case) / 1e9


def test_a_ring_over_nvlink_is_links_times_nccls_rate_of_one():
    assert asked("DGX H100", "busbw other collectives or NCCL_ALGO=Ring", 8) == pytest.approx(18 * 20.6, rel=2e-3)
    assert asked("DGX A100", "busbw cap in the tuner", 8) == pytest.approx(12 * 20.0, rel=2e-3)


def test_the_switch_adds_up():
    assert asked("DGX H100", "all-reduce busbw, NVLS, >= 8 GB", 8) == pytest.approx(480, rel=2e-3)
    assert asked("H800", "all-reduce busbw NVLS", 8) == pytest.approx(480 * 200 / 450, rel=2e-3)


def test_across_servers_their_nics_decide():
    assert asked("DGX A100 8x200G", "all-reduce busbw inter-node", 16) == pytest.approx(8 * 25 * 0.97, rel=0.01)
    assert asked("DGX A100", "all-reduce busbw", 16) == pytest.approx(8 * 25 * 0.97, rel=0.01)
    assert asked("CX-7 400G", "payload rate per NIC") == pytest.approx(48.5)
    assert asked("1 NIC 100G", "all-reduce busbw") == pytest.approx(12.5 * 0.97, rel=1e-3)
    assert asked("6 x H100, 8 x 400G RoCE", "all-to-all busbw", 48) == pytest.approx(6 / 5 * 48.5)


def test_size_and_latency_by_hand():
    """24 GPUs on 3 servers: 2 x 23/24 of 128 MB over 4 HDR NICs, and 46 steps, 6 of them across."""
    gpu, metric = "3 x 8 A100, 4 HDR per node", "all-reduce busbw, 128 MB: average / peak"
    moved = 2 * 23 / 24 * 0.128
    latency = 8.4e-6 + 40 * 3.4e-6 + 6 * 14e-6
    assert asked(gpu, metric, 24, "average") == pytest.approx(moved / (moved / 97 + latency))
    assert asked(gpu, metric, 24, "peak") == pytest.approx(97)
    assert asked("DGX A100", "all-reduce busbw 2/4 MiB", 16, "2 MiB") < asked("DGX A100", "all-reduce busbw 2/4 MiB", 16, "4 MiB")


def test_algorithm_bandwidth_is_bus_bandwidth_over_its_factor():
    assert asked("DGX H100", "all-reduce algbw", 8) == pytest.approx(asked("DGX H100", "all-reduce busbw", 8) * 8 / 14)


def test_dispatch_is_bound_by_nvlink_or_the_nic():
    assert asked("H800, CX7 400G", "EP dispatch fp8 / combine bf16 bottleneck bandwidth", 8) == pytest.approx(8 * 20.6)
    assert asked("H800, CX7 400G", "EP dispatch fp8 / combine bf16 bottleneck bandwidth", 16) == pytest.approx(48.5)


@pytest.mark.parametrize(
    ("gpu", "metric", "gpus", "unit", "words"),
    [
        ("2 nodes, 1 H100 each, 4 NIC, Tree", "all-reduce busbw", 2, "GB/s", "the rate of the NICs is not given"),
        ("H800", "low-latency dispatch", 8, "us", "is in us, not in GB/s"),
        ("H100", "latency", 8, "GB/s", "metric 'latency' is not a bus bandwidth"),
        ("V100", "EP dispatch", 1, "GB/s", "GPU 'V100' is not in the catalogue"),
        ("H100", "all-reduce busbw", 1, "GB/s", "a collective is among 2 GPUs or more"),
        ("0 x 400G", "all-reduce busbw", 2, "GB/s", "the rate of the NICs is not given"),
        ("0 nodes of 8 x 0G", "all-reduce busbw", 16, "GB/s", "the rate of the NICs is not given"),
        ("DGX H100", "all-reduce busbw", 12, "GB/s", "12 GPUs are not whole servers of 8"),
    ],
)
def test_what_is_missing_is_named(gpu, metric, gpus, unit, words):
    with pytest.raises(NotGiven, match=words):
        asked(gpu, metric, gpus, unit=unit)
