"""Where PFC is on, nothing is ever dropped, not even with the smallest buffer that is accepted."""

import re

import numpy as np
import pytest

from sim.errors import ScenarioError
from sim.simulation import Simulation
from tests.packet.lab import ENOUGH, counter, scenario

RATES_GBPS, DELAYS_NS = (10, 25, 100, 400, 3600), (0, 10, 250, 1000, 20_000)
PFC = ({"pfc": "dynamic"}, {"pfc": "fixed", "pfc_xoff_kb": 5.0}, {"pfc": "fixed", "pfc_xoff_kb": 1.0})
CONTROLLERS = ("none", "dcqcn", "hpcc", "timely", "dctcp", "swift")


def smallest_buffer(**given):
    """The nearest buffer_mb that a far too small one is answered with."""
    with pytest.raises(ScenarioError) as refused:
        Simulation(scenario(**given, buffer_mb=0.006))
    return float(re.search(r"nearest buffer_mb is ([\d.]+)", str(refused.value))[1])


@pytest.mark.parametrize("seed", range(40))
def test_nine_hosts_and_three_switches_of_any_speeds(seed):
    draw = np.random.default_rng(seed)

    def any_of(values):
        return values[draw.integers(len(values))]

    ends = [*((host, 9 + host % 2) for host in range(9)), (9, 10), (9, 11), (11, 10)]
    payload = any_of((100, 1000, 4096, 65_536))
    incast = [(host, 8, 60 * payload) for host in range(8)]
    back = [(8, host, 20 * payload) for host in range(3)]
    across = [(host, (host + 3) % 8, 33 * payload) for host in range(8)]
    given = {
        "links": [(a, b, any_of(RATES_GBPS), any_of(DELAYS_NS)) for a, b in ends],
        "flows": incast + back + across, "hosts": 9, "congestion_control": any_of(CONTROLLERS),
        "payload_bytes": payload, "ack_priority": any_of(("shared", "strict")), **any_of(PFC),
    }  # fmt: skip
    sim = Simulation(scenario(**given, buffer_mb=smallest_buffer(**given)))
    while not sim.advance(ENOUGH):
        pass
    assert sim.status == "finished"
    assert counter(sim, "drops") == counter(sim, "losses") == counter(sim, "retransmits") == 0
    assert not sim.state.port["paused"].any() and not sim.state.node["used_bytes"].any()
