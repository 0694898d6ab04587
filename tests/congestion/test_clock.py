"""How long bytes take, exactly and on the 1 ns clock."""

import pytest

from sim.congestion.clock import exact_ps, truncated_ps
from sim.jit import entry


@entry
def exact(size_bytes, rate_bps):
    return exact_ps(size_bytes, rate_bps)


@entry
def truncated(size_bytes, rate_bps):
    return truncated_ps(size_bytes, rate_bps)


@pytest.mark.parametrize(
    ("size_bytes", "gbps", "ps"),
    [
        (1048, 25, 335_360),  # 8384 bits / 25
        (1048, 100, 83_840),
        (1048, 400, 20_960),
        (1048, 800, 10_480),
        (1048, 3600, 2_328),  # 2328.88...
        (60, 100, 4_800),
        (1, 3600, 2),  # 2.22...
        (65_536 + 1024, 1, 532_480_000),
    ],
)
def test_exact(size_bytes, gbps, ps):
    assert exact(size_bytes, gbps * 10**9) == ps


@pytest.mark.parametrize(
    ("size_bytes", "gbps", "ps"),
    [
        (1048, 100, 83_000),  # 83.84 ns, cut
        (1090, 100, 87_000),  # 87.2 ns
        (60, 100, 4_000),  # 4.8 ns
        (1000, 100, 79_000),  # exactly 80 ns: the binary fraction falls short
        (1048, 400, 20_000),
    ],
)
def test_whole_nanoseconds(size_bytes, gbps, ps):
    assert truncated(size_bytes, gbps * 10**9) == ps


def test_large_packets_and_slow_links_do_not_overflow():
    assert exact(66_560, 1_000) == 66_560 * 8 * 10**9  # 1 kb/s
    assert truncated(66_560, 1_000) == 66_560 * 8 * 10**9 - 1000
