"""Corners in which a run could stop for no reason or lose something from its books, each by a case small enough to follow."""

import numpy as np
import pytest

from sim.packet import layout
from sim.player import tables
from tests.walls.runs import EVERY_CONTROLLER, arrays, differences, fabric, finish, incast, run, simulation


@pytest.mark.parametrize("module", [layout, tables])
def test_no_column_hides_behind_an_attribute_of_numpy_records(module):
    kinds = {name: kind for name, kind in vars(module).items() if isinstance(kind, np.dtype)}
    hidden = {(name, column) for name, kind in kinds.items() for column in kind.names if hasattr(np.record, column)}
    assert hidden == set(), "uncompiled, record.column would read numpy's attribute"


def slow_uplink(**fault):
    """gpu0 sends 100 kB to another leaf over uplinks ten times slower than its NIC, so that its leaf pauses it."""
    return {
        "cluster": {
            "topology": "leaf-spine", "gpus": 4, "gpus_per_node": 1, "nvlink_gbps": 0, "nic_gbps": 100, "fabric_gbps": 10,
            "hosts_per_leaf": 2, "spines": 2,
        },
        "traffic": {"pattern": "flows", "flows": [{"src": 0, "dst": 2, "bytes": 100_000}]},
        "transport": {"congestion_control": "none", "pfc": "fixed", "pfc_xoff_kb": 10},
        "faults": [fault] if fault else [],
    }  # fmt: skip


@pytest.mark.parametrize("spine", ["spine0", "spine1"])
def test_a_pause_ends_with_the_queue_that_caused_it(spine):
    assert run(slow_uplink())["pfc_pauses"] > 0
    sim = finish(simulation(slow_uplink(kind="link-down", a="leaf0", b=spine, at_us=20)))
    assert sim.status == "finished", sim.result().notices
    assert not sim.state.port["ingress_bytes"].any() and not sim.state.port["headroom_used"].any()


def test_what_an_outage_leaves_in_the_headroom_is_accounted_alike_with_and_without_care():
    outage = [{"a": "1", "b": "2", "kind": kind, "at_us": at} for kind, at in (("link-down", 1.5), ("link-up", 2.0))]
    data = {
        "cluster": {"topology": "file", "graph": "3 1 2\n2\n0 2 7Gbps 0ns 0\n1 2 25Gbps 0ns 0\n"},
        "traffic": {"pattern": "flows", "flows": [{"src": 1, "dst": 0, "bytes": 4096}]},
        "transport": {"congestion_control": "none", "pfc": "fixed", "pfc_xoff_kb": 1, "retransmit_timeout_us": 400},
        "faults": outage,
    }
    assert differences(run(data), run(data, careful=True)) == {}


@pytest.mark.parametrize("control", EVERY_CONTROLLER)
@pytest.mark.parametrize("ack_every", [2, 16])
def test_a_window_smaller_than_what_is_acknowledged_at_once_does_not_stop_a_flow(control, ack_every):
    data = incast(control, ack_every=ack_every, window="bdp")
    data["cluster"] |= {"nic_gbps": 1, "nic_delay_ns": 0}
    sim = finish(simulation(data))
    assert sim.status == "finished", sim.result().notices


@pytest.mark.parametrize("bins", [1, 2, 3, 5, 7, 255])
def test_curves_lose_nothing_when_bins_become_coarser(bins):
    found = run({**fabric(flow_bytes=200_000), "simulation": {"sample_bins": bins}})
    assert np.array_equal(found["series_tx_bytes"].sum(axis=1), found["port_tx_bytes"])
    assert np.array_equal(found["series_max_queue_bytes"].max(axis=1), found["port_max_queue_bytes"])


def test_pause_frames_stand_in_the_curve_of_their_own_port():
    graph = "4 1 4\n3\n0 3 100Gbps 1us 0\n1 3 10Gbps 1us 0\n2 3 100Gbps 1us 0\n3 0 100Gbps 1us 0\n"
    for seed in range(4):
        found = run(
            {
                "cluster": {"topology": "file", "graph": graph, "ecmp_seed": seed},
                "traffic": {"pattern": "flows", "flows": [{"src": 0, "dst": 1, "bytes": 60_000}]},
                "transport": {"congestion_control": "none", "pfc": "fixed", "pfc_xoff_kb": 10},
            }
        )
        assert found["pfc_pauses"] > 0
        assert np.array_equal(found["series_tx_bytes"].sum(axis=1), found["port_tx_bytes"])


def test_a_run_that_cannot_go_on_says_how_far_it_got():
    data = slow_uplink(kind="link-down", a="gpu2", b="leaf1", at_us=20)
    sim = finish(simulation(data))
    found = arrays(sim)
    assert sim.status == "deadlock"
    assert found["end_ps_last"] >= 20_000_000
    assert found["series_tx_bytes"].sum() == found["port_tx_bytes"].sum()


def test_of_ports_that_end_a_packet_together_the_one_that_began_first_goes_on_first():
    flows = [(0, 1, 4096), (0, 2, 4096), (2, 0, 20_000)]
    data = {
        "cluster": {"topology": "file", "graph": "4 1 3\n3\n0 3 1Gbps 0ns 0\n1 3 1Gbps 0ns 0\n2 3 1Gbps 0ns 0\n"},
        "traffic": {
            "pattern": "flows",
            "flows": [dict(zip(("src", "dst", "bytes"), flow, strict=True)) for flow in flows],
        },
        "transport": {"congestion_control": "none"},
    }
    fast, careful = run(data), run(data, careful=True)
    assert np.array_equal(fast["series_max_queue_bytes"], careful["series_max_queue_bytes"])


@pytest.mark.parametrize("header_bytes", [0, 48])
def test_the_packet_pool_follows_what_is_in_flight(header_bytes):
    graph = "3 1 2\n2\n0 2 3600Gbps 3333ns 0\n1 2 3600Gbps 3333ns 0\n"
    data = {
        "cluster": {"topology": "file", "graph": graph},
        "traffic": {"pattern": "flows", "flows": [{"src": 0, "dst": 1, "bytes": 1000}]},
        "transport": {"congestion_control": "none", "pfc": "fixed", "pfc_xoff_kb": 1, "header_bytes": header_bytes},
    }
    assert finish(simulation(data)).state.packet.size <= 16_384
