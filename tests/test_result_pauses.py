"""Where PFC pauses come from: along stopped ports to the one that was not, on tiny networks and on the preset of a storm."""

import dataclasses

import numpy as np
import pytest

from sim.modes import make_simulation
from sim.preset import load_preset
from sim.result import Result
from sim.result_pauses import explain_pauses, longest_stopped, root_of
from tests import fabricate

LEAF_SPINE = {"topology": "leaf-spine", "gpus": 4, "gpus_per_node": 1, "nvlink_gbps": 0, "nic_gbps": 100, "hosts_per_leaf": 2, "spines": 1}


def stopped(paused_us: dict[str, float], queue_bytes: dict[str, int], **changes) -> Result:
    """Two leaves of two GPUs under one spine; ports by name, what is not named was never stopped and empty."""
    raw = fabricate.raw_run(fabricate.scenario(cluster=LEAF_SPINE, **changes))
    names = {raw.network.port_name(port): port for port in range(raw.network.n_ports)}
    paused_ps, queue = np.zeros(len(names), np.int64), np.zeros(len(names), np.int64)
    for name, us in paused_us.items():
        paused_ps[names[name]] = us * 1e6
    for name, size in queue_bytes.items():
        queue[names[name]] = size
    return Result(dataclasses.replace(raw, port_paused_ps=paused_ps, port_pauses=(paused_ps > 0).astype(np.int64), port_max_queue_bytes=queue))


def root_name(result):
    root = root_of(result.raw, longest_stopped(result.raw))
    return None if root is None else result.network.port_name(root)


CHAIN = {"gpu2->leaf1": 90, "leaf1->spine0": 80, "spine0->leaf0": 70}
FULL = {"leaf0->gpu0": 200_000, "leaf0->gpu1": 50_000, "leaf1->spine0": 900_000, "spine0->leaf0": 800_000}


def test_the_way_leads_along_stopped_ports_to_the_deepest_queue_that_was_free():
    assert root_name(stopped(CHAIN, FULL)) == "leaf0->gpu0"


def test_a_port_that_hardly_stood_still_is_not_the_reason():
    assert root_name(stopped({**CHAIN, "leaf1->spine0": 44}, FULL)) == "leaf1->spine0"


def test_a_circle_and_an_end_without_a_queue_have_no_root():
    assert root_name(stopped({"leaf0->spine0": 90, "spine0->leaf0": 90}, FULL)) is None
    assert root_name(stopped(CHAIN, {})) is None
    assert root_name(stopped({"leaf0->gpu0": 90}, FULL)) is None  # a GPU that stops its leaf: nothing lies beyond


def test_without_pauses_there_is_nothing_to_explain():
    assert longest_stopped(stopped({}, FULL).raw) is None and explain_pauses(stopped({}, FULL)) is None


def test_flows_are_the_reason_where_no_fault_is():
    told = explain_pauses(stopped(CHAIN, FULL))
    assert told.startswith("PFC stopped 3 ports. The longest stop, of gpu2->leaf1 (90.0 us in all), goes back to leaf0->gpu0")
    assert told.endswith("whose queue reached 200 kB: 3 flows in all went through its 100 Gb/s.")  # the incast of 3 to gpu0


@pytest.mark.parametrize(("later", "until"), [([], "on"), ([{"at_us": 2000.0, "rate_factor": 1.0}], "to 2.00 ms")])
def test_a_fault_that_slows_the_link_is_named(later, until):
    slow = {"kind": "degrade", "a": "gpu0", "b": "leaf0"}
    result = stopped(CHAIN, FULL, faults=[{**slow, "at_us": 5.0, "rate_factor": 0.01}, *({**slow, **one} for one in later)])
    assert explain_pauses(result).endswith(f"a fault slows this link to 1 Gb/s from 5.00 us {until}.")


def test_the_storm_of_the_preset_goes_back_to_the_faulty_nic():
    result = make_simulation(load_preset("pfc-storm"), "packet").run()
    (told,) = [notice for notice in result.notices if notice.startswith("PFC stopped")]
    assert "goes back to leaf0->gpu0" in told and told.endswith("a fault slows this link to 1 Gb/s from 0 s to 2.00 ms.")
