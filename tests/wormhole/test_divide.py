"""After a fault: packet by packet for a moment, then along the graph again, to the bit what packet mode gives."""

import pytest

from sim.case import case_of
from sim.scenario import Scenario
from sim.wormhole_simulation import WormholeSimulation
from tests.walls import runs
from tests.wormhole.test_exact import NO_GUARD, compare

DETOURED = {"a": "leaf0", "b": "spine0"}
SLOW = {**DETOURED, "kind": "degrade", "rate_factor": 0.5}
LOSSY = {**DETOURED, "kind": "loss", "probability": 0.01}
DOWN = {**DETOURED, "kind": "link-down"}
UP = {**DETOURED, "kind": "link-up"}


def training(*faults, **transport):
    data = runs.training()
    return runs.with_faults({**data, "transport": {"congestion_control": "dcqcn"}}, *faults, **transport)


def at(fault, at_us):
    return {**fault, "at_us": at_us}


FAULTS = [
    [at(SLOW, 20.0)],
    [at(SLOW, 0.0)],
    [at(SLOW, 20.0), at({**SLOW, "rate_factor": 1.0}, 40.0)],
    [at(LOSSY, 20.0), at({**LOSSY, "probability": 0.0}, 60.0)],
    [at(DOWN, 20.0)],
    [at(DOWN, 20.0), at(UP, 60.0)],
    [at(DOWN, 30.0), at({**SLOW, "a": "leaf1"}, 30.0), at(UP, 30.5)],
]


@pytest.mark.parametrize("faults", FAULTS)
@pytest.mark.parametrize("controller", ["dcqcn", "hpcc", "timely"])
def test_runs_with_faults_equal_packet_mode_and_are_divided_again(faults, controller):
    different, found = compare(training(*faults, congestion_control=controller))
    assert different == {}
    assert not found.in_packets
    assert found.undivided()[:, 2].sum() < found.packet_hops() / 2


def test_what_repeats_after_a_fault_is_replayed():
    quiet, faulty = (
        runs.finish(WormholeSimulation(case_of(Scenario.from_data(training(*faults))), guard=NO_GUARD)).kernel_counters()["packet_hops"]
        for faults in ([], [at(SLOW, 1.0)])
    )
    assert faulty["total"] == quiet["total"]
    assert faulty["replayed"] > quiet["replayed"] / 2


def test_slices_do_not_move_a_return():
    found = []
    for budget in (1, 37, runs.ENOUGH):
        sim = runs.finish(WormholeSimulation(case_of(Scenario.from_data(training(at(DOWN, 20.0), at(UP, 60.0)))), guard=NO_GUARD), budget)
        found.append((sim.kernel_counters(), sim.undivided().tolist()))
    assert found[0] == found[1] == found[2]


def flows(*rows):
    return {"pattern": "flows", "flows": [{"src": src, "dst": dst, "bytes": size, "start_us": start} for src, dst, size, start in rows]}


def graph(hosts, switches, *links):
    """A network in the HPCC simulator's format; links are (a, b, Gb/s, ns)."""
    rows = [f"{a} {b} {rate}Gbps {delay}ns 0" for a, b, rate, delay in links]
    numbers = " ".join(str(hosts + j) for j in range(switches))
    return {"topology": "file", "graph": "\n".join([f"{hosts + switches} {switches} {len(links)}", numbers, *rows]) + "\n"}


def test_a_host_with_two_nics_takes_what_arrives_over_both_in_order_of_time():
    """Flow 5's packets go over host 1's second link while its first one is down, and meet at host 1 when it is up again."""
    data = {
        "cluster": graph(2, 2, (0, 3, 10, 50), (1, 3, 10, 50), (2, 3, 10, 50), (2, 1, 10, 50)),
        "traffic": flows(
            (1, 0, 60_000, 1e-6), (1, 0, 20_000, 1.0), (0, 1, 60_000, 4.2), (0, 1, 999, 0.0), (0, 1, 20_000, 0.0), (0, 1, 1_000, 4.2),
            (1, 0, 60_000, 0.0), (0, 1, 999, 33.3),
        ),
        "transport": {
            "congestion_control": "timely", "ack_every": 16, "ack_priority": "strict", "window": "bdp", "ecn_kmin_kb": 0.0, "ecn_kmax_kb": 10.0,
            "ecn_pmax": 0.5, "pfc": "off", "retransmit_timeout_us": 400.0,
        },
        "simulation": {"seed": 0},
        "faults": [
            {"a": "2", "b": "1", "kind": "loss", "at_us": 1.5, "probability": 0.01},
            {"a": "1", "b": "3", "kind": "link-down", "at_us": 0.0},
            {"a": "1", "b": "3", "kind": "link-up", "at_us": 100.0},
        ],
    }  # fmt: skip
    different, _ = compare(data, replay=False)
    assert different == {}


def test_packets_of_one_flow_that_meet_at_one_instant_over_two_ways():
    """After a change of path and back packets sent one after the other arrive together: the one sent first comes first."""
    data = {
        "cluster": {
            "topology": "leaf-spine", "gpus": 16, "gpus_per_node": 1, "nvlink_gbps": 0, "nic_gbps": 100, "nic_delay_ns": 500, "fabric_gbps": 100,
            "fabric_delay_ns": 777, "hosts_per_leaf": 4, "spines": 2,
        },
        "traffic": {"pattern": "incast", "flow_bytes": 3_000_001, "receiver": 10},
        "transport": {"congestion_control": "dcqcn", "ack_priority": "strict", "header_bytes": 0},
        "simulation": {"seed": 781},
        "faults": [{"kind": "loss", "a": "gpu14", "b": "leaf3", "at_us": 10.0, "probability": 0.01}, at(DOWN, 100.0), at(UP, 500.0)],
    }  # fmt: skip
    different, _ = compare(data, guard=None)
    assert different == {}


def test_flows_that_can_never_end():
    """Host 2's only link is down for good."""
    data = {
        "cluster": graph(3, 2, (0, 3, 10, 50), (1, 3, 1, 3333), (2, 4, 100, 3333), (3, 4, 400, 0)),
        "traffic": flows((2, 0, 4096, 33.3), (0, 1, 60_000, 4.2), (0, 2, 1001, 4.2), (1, 2, 999, 1.0), (1, 2, 1001, 0.0)),
        "transport": {"congestion_control": "none", "payload_bytes": 4096, "header_bytes": 0, "retransmit_timeout_us": 400.0},
        "faults": [{"a": "2", "b": "4", "kind": "link-down", "at_us": 0.0}, {"a": "0", "b": "3", "kind": "link-down", "at_us": 1.5}],
    }
    different, found = compare(data)
    assert different == {}
    assert found.status == "deadlock"


def test_a_fault_after_the_time_limit():
    different, found = compare({**training(at(SLOW, 500.0)), "simulation": {"time_limit_s": 20e-6}})
    assert different == {}
    assert found.status == "time limit"


def test_a_run_that_gave_up_comes_back_to_what_repeats():
    """Forty flows of which none is like another, then three hundred alike, one after the other."""
    odd = [(j % 7, 7, 20_000 + 1_037 * j, 0.37 * j) for j in range(40)]
    alike = [(0, 7, 50_000, 500.0 + 20 * j) for j in range(300)]
    data = {
        "cluster": {"topology": "one-switch", "gpus": 8, "gpus_per_node": 1, "nvlink_gbps": 0, "nic_gbps": 100},
        "traffic": flows(*odd, *alike),
        "transport": {"congestion_control": "dcqcn"},
    }
    different, found = compare(data, guard=1_000)
    assert different == {}
    assert not found.in_packets and len(found.undivided()) > 0
    hops = found.kernel_counters()["packet_hops"]
    assert hops["replayed"] > 0.8 * 300 * 50 * 4
    noted = found.records()
    assert noted.episodes["packet_hops"].sum() + noted.undivided[:, 2].sum() == hops["total"] == found.packet_hops()
    assert (noted.undivided[:, 1] > noted.undivided[:, 0]).all()
    assert any("the network not divided" in notice for notice in found.result().notices)
