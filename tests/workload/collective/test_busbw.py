"""Bus bandwidths by hand, against published ones, and in words."""

from fractions import Fraction

import pytest

from sim.workload.collective.busbw import FORMULAS, bus_bandwidth, factor


@pytest.mark.parametrize(
    ("collective", "share"),
    [("all-reduce", Fraction(7, 4)), ("reduce-scatter", Fraction(7, 8)), ("all-gather", Fraction(7, 8)), ("all-to-all", Fraction(7, 8)),
     ("broadcast", 1), ("send", 1)],
)  # fmt: skip
def test_factors_of_eight(collective, share):
    assert factor(collective, 8) == share and set(FORMULAS) >= {collective}


def test_published_runs():
    """32 MiB in 812.3 us between two GPUs are 41.3 GB/s (NVIDIA/nccl#1357); 275 GB/s of algorithm bandwidth on 8 H100 are 480."""
    assert bus_bandwidth("all-reduce", 2, 32 * 2**20, 812.3e-6).busbw_bytes_per_s / 1e9 == pytest.approx(41.3, abs=0.05)
    assert bus_bandwidth("all-reduce", 8, 275 * 10**9, 1.0).busbw_bytes_per_s / 1e9 == pytest.approx(480, rel=0.01)


def test_the_formula_is_said_with_its_numbers():
    found = bus_bandwidth("all-reduce", 64, 256_000_000, 0.01)
    assert (found.algbw_bytes_per_s, found.busbw_bytes_per_s) == pytest.approx((25.6e9, 50.4e9))
    assert found.formula == (
        "algorithm bandwidth 256 MB / 10.0 ms = 25.6 GB/s, times 2(n-1)/n = 2(64-1)/64, is a bus bandwidth of 50.4 GB/s; "
        "it compares algorithms and sizes and is no wire rate"
    )
    assert "times 1, is a bus bandwidth of 25.6 GB/s" in bus_bandwidth("broadcast", 64, 256_000_000, 0.01).formula
