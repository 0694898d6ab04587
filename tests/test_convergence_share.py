"""Max-min fair rates: textbook cases by hand, and the property that defines them on random ones."""

import numpy as np
import pytest

from sim.convergence_share import fair_bps


def shares(capacity, *crossings):
    """Rates where flow j crosses the ports `crossings[j]`, each with weight 1 or as (port, weight)."""
    rows = [(j, *(port if isinstance(port, tuple) else (port, 1.0))) for j, ports in enumerate(crossings) for port in ports]
    member, port, weight = (np.array(column) for column in zip(*rows, strict=True))
    return fair_bps(np.array(capacity, float), member, port, weight)


def test_flows_into_one_port_share_it_evenly():
    assert shares([90.0], [0], [0], [0]).tolist() == [30.0] * 3


def test_what_one_cannot_use_is_left_to_others():
    """Flows 0 and 1 meet at the first port, 1 and 2 at the second: 5 each there, so that 15 are left for 2."""
    assert shares([10.0, 20.0], [0], [0, 1], [1]).tolist() == [5.0, 5.0, 15.0]


def test_headers_and_acks_take_their_part():
    """Every payload bit is 1.25 bits of data on the one port and a quarter of a bit of ACKs on the other, where another sends."""
    assert shares([100.0, 100.0], [(0, 1.25), (1, 0.25)], [(1, 1.25)]) == pytest.approx([200 / 3, 200 / 3])
    assert shares([50.0, 100.0], [(0, 1.25), (1, 0.25)], [(1, 1.25)]) == pytest.approx([40.0, (100 - 10) / 1.25])


@pytest.mark.parametrize("seed", range(5))
def test_nobody_could_have_more_without_taking_it_from_one_that_has_no_more(seed):
    draw = np.random.default_rng(seed)
    capacity = draw.integers(1, 20, 12).astype(float)
    paths = [draw.choice(12, draw.integers(1, 4), replace=False) for _ in range(40)]
    rates = shares(capacity, *(path.tolist() for path in paths))
    load = np.zeros(12)
    for path, rate in zip(paths, rates, strict=True):
        load[path] += rate
    assert (load <= capacity * (1 + 1e-9)).all()
    for path, rate in zip(paths, rates, strict=True):
        full = [port for port in path if load[port] > capacity[port] * (1 - 1e-9)]
        assert any(rate >= max(other for way, other in zip(paths, rates, strict=True) if port in way) * (1 - 1e-9) for port in full)
