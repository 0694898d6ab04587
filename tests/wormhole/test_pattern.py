"""Patterns read from kept states: every word accounted for, whatever the transport; paths and classes as they are."""

import numpy as np
import pytest

from sim.scenario import Scenario
from sim.wormhole.pattern import NOT_READ, Pattern, pattern_of, read_patterns
from sim.wormhole_simulation import WormholeSimulation
from tests.walls import runs
from tests.wormhole.twins import finished, lone, twin_incasts

TRANSPORTS = {
    **{name: {} for name in runs.EVERY_CONTROLLER},
    "strict ACKs": {"ack_priority": "strict", "ack_every": 4},
    "pauses": {"pfc": "fixed", "pfc_xoff_kb": 4.0},
    "losses": {"pfc": "off", "buffer_mb": 0.01},
    "losses under HPCC": {"pfc": "off", "buffer_mb": 0.01, "congestion_control": "hpcc"},
}


def read_all(sim):
    known = int(sim.hole.p[0]["states"])
    return read_patterns(sim.hole, sim.state, sim.classes, np.arange(known)), known


@pytest.mark.parametrize("name", TRANSPORTS)
def test_every_word_of_every_state_is_accounted_for(name):
    given = {"congestion_control": name if name in runs.EVERY_CONTROLLER else "dcqcn", **TRANSPORTS[name]}
    data = runs.fabric(flow_bytes=30_000, **{"controller": given.pop("congestion_control"), **given})
    sim = runs.finish(WormholeSimulation(Scenario.from_data(data), large=1000), 20_000)
    (numbers, words, left), known = read_all(sim)
    assert known > 5 and (numbers != NOT_READ).all() and len(words) == len(set(map(bytes, words))) == numbers.max() + 1
    flows = sim.hole.state["flows"][:known]
    assert [len(some) for some in left] == flows.tolist()
    assert [pattern_of(words[i]).flows for i in numbers.tolist()] == flows.tolist()
    for pattern in map(pattern_of, words):
        paths = [*pattern.data, *pattern.acks]
        assert set().union(*paths) == set(range(pattern.ports)) and all(len(path) >= 2 for path in paths)


def test_a_lone_flow_has_four_ports_of_two_kinds():
    sim = lone()
    (numbers, words, left), _ = read_all(sim)
    pattern = pattern_of(words[numbers[0]])
    nic, switch = pattern.classes[:2]
    assert pattern == Pattern(data=((0, 1),), acks=((2, 3),), classes=(nic, switch, nic, switch)) and nic != switch
    assert left[0].tolist() == [1_000_000]


def test_twins_have_the_same_pattern_and_another_rate_has_not():
    sim = twin_incasts(start_us=500.0)
    (numbers, words, _), _ = read_all(sim)
    both = pattern_of(words[numbers[0]])
    assert both.data == ((0, 1), (4, 1)) and both.acks == ((2, 3), (2, 5))
    fast, slow = [(0, 4, 100, 1000), (1, 4, 100, 1000)], [(2, 5, 50, 1000), (3, 5, 50, 1000)]
    unequal = finished([*fast, *slow, (4, 5, 100, 1000)], [(0, 1, 5000), (2, 3, 5000)], 4)
    assert len(read_all(unequal)[0][1]) == 2, "the classes of the ports differ, nothing else"
