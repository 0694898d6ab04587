"""How a run is cut into slices, and what else runs beside it, changes no bit of it."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.walls.runs import EVERY_CONTROLLER, arrays, differences, fabric, finish, incast, run, simulation, training
from tests.walls.runs import with_faults as faulty

DOWN = {"kind": "link-down", "a": "leaf0", "b": "spine0", "at_us": 2}
UP = {"kind": "link-up", "a": "leaf0", "b": "spine0", "at_us": 9}
LOSS = {"kind": "loss", "a": "leaf1", "b": "spine1", "at_us": 1, "probability": 0.02}
SPECIAL = {
    "training": training(),
    "training, all-reduce on the 1 ns clock": {**training(optimizer="all-reduce"), "simulation": {"resolution": "1ns"}},
    "failing and lossy links": faulty(fabric(), DOWN, UP, LOSS, retransmit_timeout_us=50),
    "paused": fabric(pfc="fixed", pfc_xoff_kb=8),
    "more flows and packets than at first there is room for": fabric(flow_bytes=9_000, hosts=24),
    "stopped by a time limit": {**fabric(), "simulation": {"time_limit_s": 7e-6}},
    "few bins, made coarser": {**fabric(), "simulation": {"sample_bins": 2}},
}
MARKS = {"flow_marks", "port_marks", "series_marks", "ecn_marks"}
EVERY = {control: fabric(control, ecn_kmin_kb=5, ecn_kmax_kb=40) for control in EVERY_CONTROLLER} | SPECIAL


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("budget", [1, 97])
def test_slicing_changes_nothing(name, budget):
    assert differences(run(EVERY[name]), run(EVERY[name], budget)) == {}


@pytest.mark.parametrize("name", EVERY)
def test_the_same_scenario_gives_the_same_bits(name):
    assert differences(run(EVERY[name]), run(EVERY[name])) == {}


def marking(seed, control="dcqcn"):
    return {**incast(control, 8, 200_000, ecn_kmin_kb=5, ecn_kmax_kb=200), "simulation": {"seed": seed}}


def test_another_seed_marks_other_packets():
    first, second = run(marking(1)), run(marking(2))
    assert first["ecn_marks"] > 0 and second["ecn_marks"] > 0
    assert {"acked_ps", "flow_marks"} <= differences(first, second).keys()


def test_a_seed_is_not_used_where_nothing_is_random():
    assert differences(run(marking(1, "hpcc")), run(marking(2, "hpcc"))).keys() <= MARKS


def test_interleaved_simulations_equal_each_alone():
    data = list(EVERY.values())
    together = [simulation(one) for one in data]
    left = set(range(len(together)))
    while left:
        left -= {i for i in left if together[i].advance(50 + 7 * i)}
    for sim, one in zip(together, data, strict=True):
        assert differences(arrays(sim), run(one)) == {}


def test_simulations_in_threads_equal_each_alone():
    data = [one for one in EVERY.values() for _ in range(2)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda one: arrays(finish(simulation(one), 300)), data))
    for found, one in zip(together, data, strict=True):
        assert differences(found, run(one)) == {}


def test_looking_at_a_run_changes_nothing():
    watched = simulation(SPECIAL["training"])
    while not watched.advance(200):
        assert watched.progress().fraction <= 1 and watched.result().summary["status"] == "running"
    assert differences(arrays(watched), run(SPECIAL["training"])) == {}
