"""Paths of flows over time on networks small enough to know them, and alike in every mode."""

import numpy as np
import pytest

from sim.modes import make_simulation
from sim.preset import load_preset
from sim.result_partitions import incidence
from sim.result_paths import NEVER, stays
from sim.result_writers import paths_table
from tests.packet.lab import US, scenario

# hosts 0 and 1; leaves 2 and 3 joined by a link, and over switch 4
DETOUR = [(0, 2, 100, 1000), (1, 3, 100, 1000), (2, 3, 100, 1000), (2, 4, 100, 1000), (4, 3, 100, 1000)]
SHORT, LONG = ["0-2", "2-3", "3-1"], ["0-2", "2-4", "4-3", "3-1"]
FAILS = [{"kind": kind, "a": "2", "b": "3", "at_us": at_us} for kind, at_us in (("link-down", 10), ("link-up", 60))]
# one that ends before the link fails, one that meets both changes, one that starts as it fails and meets the second, one that starts after both
FLOWS = [(0, 1, 1000), (0, 1, 2_000_000), (0, 1, 1_000_000, 10.0), (0, 1, 1000, 70.0), (0, 1, 0, 80.0)]
MODES = ("packet", "wormhole", "flow")


def of(mode, flows=FLOWS, faults=FAILS):
    return make_simulation(scenario(DETOUR, flows, faults=faults), mode).run()


def named(result, ports):
    ends = zip(result.network.port_src[ports], result.network.port_dst[ports], strict=True)
    return ["-".join(result.network.node_name[node].lstrip("gpuswitch") for node in end) for end in ends]


def told(result, flow):
    return [(round(at_s * 1e6, 6), named(result, ports)) for at_s, ports in result.flow_paths(flow)]


@pytest.mark.parametrize("mode", MODES)
def test_each_flow_has_the_paths_that_it_took(mode):
    result = of(mode)
    assert told(result, 0) == [(0, SHORT)]
    assert told(result, 1) == [(0, SHORT), (10, LONG), (60, SHORT)]
    assert told(result, 2) == [(10, LONG), (60, SHORT)]
    assert told(result, 3) == [(70, SHORT)]
    assert told(result, 4) == [(80, SHORT)]
    assert result.flow_path(2) == result.flow_paths(2)[0][1]
    assert result.summary["reroutes"] == [{"at_s": 1e-5, "flows": 1}, {"at_s": 6e-5, "flows": 2}]


def test_what_changes_twice_in_an_instant_has_changed_once():
    both = [*FAILS, {"kind": "link-up", "a": "2", "b": "3", "at_us": 10}]
    assert told(of("packet", faults=both), 1) == [(0, SHORT)]


def test_a_run_that_stopped_before_a_fault_knows_nothing_of_it():
    sim = make_simulation(scenario(DETOUR, FLOWS, faults=FAILS, simulation={"time_limit_s": 20e-6}), "packet")
    assert told(sim.run(), 1) == [(0, SHORT), (10, LONG)]


def test_paths_of_a_time_and_of_a_time_each():
    raw, flows = of("packet").raw, np.array([1, 2, 1])
    begun, now, each = (incidence(raw, flows, at_ps) for at_ps in (None, 30 * US, np.array([5, 30, 60]) * US))
    hops = [len(path) for path in (SHORT, LONG, SHORT)]
    assert np.bincount(begun[0]).tolist() == [6, 8, 6] and np.bincount(now[0]).tolist() == [8, 8, 8]
    assert np.bincount(each[0]).tolist() == [2 * n for n in hops]


def test_a_port_knows_who_took_it_when():
    result = of("packet")
    over = result.network.ports_between(2, 4)[0]
    flow, since, until = stays(result.raw, over)
    assert (flow.tolist(), since.tolist(), until.tolist()) == ([1, 2], [10 * US, 10 * US], [60 * US, 60 * US])
    assert result.flows_through(over).tolist() == [1, 2]
    flow, since, until = stays(result.raw, result.network.ports_between(2, 3)[0])
    assert flow.tolist() == [0, 1, 1, 2, 3, 4] and until.tolist() == [NEVER, 10 * US, NEVER, NEVER, NEVER, NEVER]
    table = result.stays_at(over)
    assert table["until_s"].tolist() == [6e-5, 6e-5]


def test_the_table_has_every_path_hop_by_hop():
    result = of("packet")
    table = paths_table(result)
    assert table["flow_id"].is_monotonic_increasing
    own = table[table["flow_id"] == 1]
    assert own["hop"].tolist() == [0, 1, 2, 0, 1, 2, 3, 0, 1, 2]
    assert own["since_s"].tolist() == [0.0] * 3 + [1e-5] * 4 + [6e-5] * 3
    assert named(result, own["port_id"].to_numpy()) == SHORT + LONG + SHORT


@pytest.mark.parametrize("changes", [{}, {"transport.congestion_control": "hpcc", "cluster.ecmp_seed": 3}])
def test_packet_and_wormhole_mode_give_the_same_paths(changes):
    one, other = (make_simulation(load_preset("link-failure").replace_all(changes), mode).run().raw for mode in ("packet", "wormhole"))
    assert len(one.reroutes.flow) >= 2
    for name in ("data_ptr", "data_ports", "ack_ptr", "ack_ports"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    for name, values in vars(one.reroutes).items():
        assert np.array_equal(values, getattr(other.reroutes, name)), name
