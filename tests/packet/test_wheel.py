"""The calendar's earliest entry is found wherever it stands."""

import pytest

from sim.jit import called, entry
from sim.packet.layout import NEVER
from sim.packet.wheel import next_due
from sim.rows import bundle_of
from tests.packet.lab import simulate

STAR = [(host, 4, 100, 1000) for host in range(4)]


@called
def _due(s):
    return next_due(s)


@entry
def due(s):
    return _due(bundle_of(s))


@pytest.mark.parametrize("transport", [{}, {"retransmit_timeout_us": 5000.0, "pfc": "off", "buffer_mb": 0.01}, {"congestion_control": "timely"}])
def test_next_due_is_the_least_of_all_that_is_scheduled(transport):
    flows = [(0, 3, 100_000), (1, 3, 100_000), (2, 3, 20_000, 40.0)]
    sim = simulate(STAR, flows, hosts=4, ends=None, **transport)
    seen = set()
    while not sim.advance(50):
        entries = sim.state.due[: 2 * sim.state.port.size]
        scheduled = entries["at"][entries["bucket"] >= 0]
        assert due(sim.state) == (scheduled.min() if len(scheduled) else NEVER)
        seen.add(len(scheduled) > 0)
    assert seen >= {True}
    assert due(sim.state) == NEVER or sim.state.g[0]["in_wheel"] + sim.state.g[0]["in_far"] > 0
