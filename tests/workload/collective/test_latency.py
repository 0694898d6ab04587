"""NCCL's latency terms by hand."""

import pytest

from sim.workload.collective.latency import latency_ps, steps
from sim.workload.collective.registry import LANES


@pytest.mark.parametrize(
    ("collective", "algorithm", "n", "local", "us"),
    [
        ("all-reduce", "ring", 8, 8, 8.4 + 14 * 3.4),
        ("all-reduce", "ring", 64, 8, 8.4 + (126 - 16) * 3.4 + 16 * 14),
        ("all-reduce", "ring", 8, 1, 8.4 + 14 * 14),
        ("all-gather", "ring", 64, 8, 8.4 + (63 - 7) * 3.4 + 7 * 14),
        ("reduce-scatter", "ring", 64, 8, 8.4 + (63 - 7) * 3.4 + 7 * 14),
        ("all-gather", "ring", 8, 1, 8.4 + 7 * 14),
        ("all-reduce", "ring", 16, 8, 8.4 + (30 - 4) * 3.4 + 4 * 14),
        ("broadcast", "ring", 64, 8, 8.4 + 56 * 3.4 + 7 * 14),
        ("all-reduce", "double-binary-tree", 64, 8, 8.4 + 2 * (7 * 4 + 3 * 14)),
        ("all-reduce", "double-binary-tree", 64, 1, 8.4 + 2 * 6 * 14),
        ("all-reduce", "double-binary-tree", 24, 8, 8.4 + 2 * (7 * 4 + 1 * 14)),
        ("all-reduce", "double-binary-tree", 56, 8, 8.4 + 2 * (7 * 4 + 2 * 14)),
        ("all-reduce", "nvls", 8, 8, 25),
        ("all-reduce", "nvls", 64, 8, 25 + 18),
        ("all-reduce", "hierarchical", 64, 8, 8.4 + 14 * 3.4 + 14 * 14),
        ("reduce-scatter", "hierarchical", 64, 8, 8.4 + 7 * 3.4 + 7 * 14),
        ("all-reduce", "halving-doubling", 64, 8, 8.4 + 2 * (3 * 3.4 + 3 * 14)),
        ("all-gather", "halving-doubling", 12, 4, 8.4 + 3 * 3.4 + 2 * 14),
        ("all-to-all", "direct", 64, 8, 8.4 + 14),
        ("all-reduce", "direct", 8, 8, 8.4 + 2 * 3.4),
        ("all-to-all", "pxn", 64, 8, 8.4 + 3.4 + 14),
    ],
)  # fmt: skip
def test_latency_by_hand(collective, algorithm, n, local, us):
    assert latency_ps(collective, algorithm, n, local) == pytest.approx(us * 1e6)


@pytest.mark.parametrize(("collective", "algorithm"), LANES)
def test_every_algorithm_has_its_latency(collective, algorithm):
    assert latency_ps(collective, algorithm, 8, 4) >= 11e6


def test_twelve_members_sit_in_eight_seats():
    """Pairs hand over in their server, before and after; seats 0 and 1 (members 1 and 3) share one, seats 0 and 2 (1 and 5) do not."""
    assert steps("all-gather", "halving-doubling", 12, 4) == (2 + 1, 2)
