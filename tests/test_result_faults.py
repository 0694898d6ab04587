"""Faults that no traffic meets are told, those that it meets or was kept from meeting are not."""

import pytest

from sim.preset import load_preset
from sim.result_faults import unused_faults
from sim.simulation import Simulation

FLOWS = [{"src": 0, "dst": 1, "bytes": 10_000}]


def run(*faults, flows=FLOWS):
    base = load_preset("link-failure")
    return Simulation(base.replace_all({"traffic": {"pattern": "flows", "flows": flows}, "faults": list(faults), "simulation.mode": "packet"})).run()


def down(a, b="spine0", at_us=0.0):
    return {"kind": "link-down", "a": a, "b": b, "at_us": at_us}


def test_links_that_no_flow_crosses_are_named_once():
    slow = {"kind": "degrade", "a": "leaf3", "b": "spine1", "rate_factor": 0.5}
    told = unused_faults(run(down("leaf2"), {**down("leaf2", at_us=5.0), "kind": "link-up"}, slow))
    assert told == "Without effect: leaf2–spine0, leaf3–spine1: no flow's path crosses them, so that the faults change nothing in this run."


def test_a_switch_beside_the_traffic_is_named():
    assert unused_faults(run({"kind": "switch-down", "a": "spine3", "at_us": 0.0})).startswith("Without effect: spine3: no flow's path crosses it")


@pytest.mark.parametrize("at_us", [0.0, 1.0])
def test_a_link_that_flows_had_to_leave_had_an_effect(at_us):
    across = [{"src": gpu, "dst": gpu + 4, "bytes": 100_000} for gpu in range(4)]
    clean = run(flows=across)
    port = int(clean.raw.data_ports[1])
    names = [clean.network.node_name[ends[port]] for ends in (clean.network.port_src, clean.network.port_dst)]
    assert unused_faults(run(down(*names, at_us=at_us), flows=across)) is None


def test_without_faults_nothing_is_told():
    assert unused_faults(run()) is None
