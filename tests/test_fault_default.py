"""A new fault is on a link that traffic crosses, leaves every message a way, and happens while the run goes on."""

import pytest

from sim import fault_default
from sim.case import case_of
from sim.preset import load_preset
from sim.topology.build import build_network


def new(scenario, run_s=None):
    return fault_default.new(scenario, build_network(scenario.cluster), run_s)


@pytest.mark.parametrize("name", ["gpt-7b-64", "two-tenants", "link-failure", "incast-16"])
def test_the_link_is_the_busiest_of_its_kind_and_the_run_is_still_legal(name):
    scenario = load_preset(name).replace_all({"faults": []})
    fault, case = new(scenario), case_of(scenario)
    port = next(p for p in case.network.ports_between(fault["a"], fault["b"]).tolist())
    crossing = ((case.table.data_ports >> 1) == port >> 1).sum()
    assert crossing > 0 and fault["at_us"] > 0
    case_of(scenario.replace_all({"faults": [fault]}))


def test_what_nothing_leads_around_slows_down_at_a_third_of_the_time_that_its_bytes_take():
    scenario = load_preset("incast-16")  # 16 MB into one NIC of 100 Gb/s: 1.28 ms
    assert new(scenario) == {"kind": "degrade", "a": "gpu16", "b": "switch0", "at_us": 430.0, "rate_factor": 0.5}


def test_a_link_between_switches_fails_at_a_third_of_a_run_that_is_known():
    fault = new(load_preset("link-failure"), run_s=6e-3)
    assert (fault["kind"], fault["a"][:4], fault["b"][:5], fault["at_us"]) == ("link-down", "leaf", "spine", 2000.0)
    assert "rate_factor" not in fault


def on_one_server(dp):
    return load_preset("gpt-small-16").replace_all({"cluster.gpus": 4 * dp, "cluster.gpus_per_node": 4 * dp, "parallelism": {"tp": 4, "pp": 1, "dp": dp}})


def test_inside_one_server_it_is_an_nvlink_and_where_nothing_is_sent_there_is_none():
    fault = new(on_one_server(2))
    assert (fault["kind"], fault["b"][:3]) == ("degrade", "nvs") and fault["at_us"] > 0
    assert new(on_one_server(1)) is None
