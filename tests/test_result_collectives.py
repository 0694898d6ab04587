"""Times and bandwidths of simulated collectives against formulas worked out by hand, on networks without contention."""

import json

import pytest

from sim.command.report import collective_lines
from sim.result_collectives import expectation, overall
from sim.scenario import Scenario
from sim.simulation import Simulation
from sim.topology.build import build_network
from tests import fabricate

ONE_SWITCH = {"topology": "one-switch", "gpus_per_node": 1, "nvlink_gbps": 0, "nic_gbps": 100, "nic_delay_ns": 1000}
RAILS = {"topology": "rail-optimised", "gpus_per_node": 4, "nic_gbps": 400, "nic_delay_ns": 1000, "nvlink_gbps": 3600, "nvlink_delay_ns": 250}
DATA, ACK = 1.048, 0.06  # bytes on the wire for a byte of payload, there and back


def scenario(cluster, gpus, **traffic):
    return Scenario.from_data(
        {"name": "together", "cluster": {**cluster, "gpus": gpus}, "traffic": {"pattern": "collective", **traffic}, "simulation": {"mode": "packet"},
         "transport": {"congestion_control": "none", "pfc": "off"}}
    )  # fmt: skip


def simulated(cluster, gpus, **traffic):
    return Simulation(scenario(cluster, gpus, **traffic)).run()


def us(result):
    (found,) = result.summary["collectives"]
    return found["time_s"] * 1e6


def line_us(size, gbps, ack=ACK):
    return size * (DATA + ack) * 8 / gbps / 1e3


def test_a_ring_on_one_switch():
    """14 steps of 1 MB: 2 us of wire and one packet's second hop, then 1000 packets, each with an ACK for another in the same line."""
    step = 2 + line_us(1000, 100, ack=0) + line_us(1_000_000, 100)
    assert us(simulated(ONE_SWITCH, 8, collective_bytes=8_000_000)) == pytest.approx(14 * step, rel=0.01)


def test_a_ring_over_servers_is_bound_by_its_nics():
    """Snaking through servers of 4, a NIC only sends or only receives: 10 MB a step in 209.6 us, and at most 2 us of wire."""
    found, send = us(simulated(RAILS, 16, collective_bytes=160_000_000)), line_us(10_000_000, 400, ack=0)
    assert 30 * send < found < 30 * (send + 2.1)
    assert found == pytest.approx(30 * send, rel=0.015)


def test_a_hierarchical_all_reduce_stage_by_stage():
    inside, rail = 0.5 + line_us(1000, 3600, 0) + line_us(4_000_000, 3600), 2 + line_us(1000, 400, 0) + line_us(1_000_000, 400)
    found = simulated(RAILS, 16, collective_bytes=16_000_000, algorithm="hierarchical")
    assert us(found) == pytest.approx(2 * 3 * inside + 6 * rail, rel=0.015)


def test_halving_and_doubling_on_one_switch():
    steps = sum(2 + line_us(1000, 100, 0) + line_us(size, 100) for size in (4_000_000, 2_000_000, 1_000_000))
    assert us(simulated(ONE_SWITCH, 8, collective_bytes=8_000_000, algorithm="halving-doubling")) == pytest.approx(2 * steps, rel=0.01)


def test_a_tree_in_chunks_sends_at_line_rate():
    """Each of 8 sends and receives up to 2 S; 63 chunks leave little time to fill the tree."""
    found = us(simulated(ONE_SWITCH, 8, collective_bytes=8_000_000, algorithm="double-binary-tree", chunks=32))
    assert line_us(15_000_000, 100, ack=0) < found < 1.3 * line_us(16_000_000, 100)


def test_a_chain_in_chunks_is_hardly_longer_than_one_message():
    whole = us(simulated(ONE_SWITCH, 8, collective_bytes=8_000_000, collective="broadcast"))
    assert whole == pytest.approx(7 * (2 + line_us(1000, 100, 0) + line_us(8_000_000, 100, ack=0)), rel=0.01)
    cut = us(simulated(ONE_SWITCH, 8, collective_bytes=8_000_000, collective="broadcast", chunks=32))
    assert line_us(8_000_000, 100, ack=0) < cut < 0.25 * whole


def test_nvls_is_a_time():
    found = simulated(RAILS, 4, collective_bytes=16_000_000, algorithm="nvls")
    assert us(found) == pytest.approx(25 + 16 * 1.25 / (0.685714 * 0.45), rel=1e-4)
    assert found.path_shares_s["in switch"] == pytest.approx(found.end_s)
    assert any("never leaves its server" in said for said in found.notices) and len(found.flows) == 0


def test_headline_of_a_run_and_of_repeats():
    one = simulated(ONE_SWITCH, 4, collective_bytes=4_000_000).summary["collectives"]
    many = simulated(ONE_SWITCH, 4, collective_bytes=4_000_000, repeat=3)
    found = many.summary["collectives"]
    assert [entry["name"] for entry in found] == [f"all-reduce, ring, number {number}" for number in (1, 2, 3)]
    assert json.loads(json.dumps(found)) == found
    first = found[0]
    assert first["algbw_bytes_per_s"] == pytest.approx(4_000_000 / first["time_s"])
    assert first["busbw_bytes_per_s"] == pytest.approx(1.5 * first["algbw_bytes_per_s"])
    assert "2(n-1)/n = 2(4-1)/4" in first["formula"] and first["formula"].endswith("is no wire rate")
    mean = overall(found)
    assert mean["finished"] == 3 and mean["time_s"] * 3 == pytest.approx(max(entry["start_s"] + entry["time_s"] for entry in found))
    assert mean["time_s"] == pytest.approx(overall(one)["time_s"], rel=0.01)
    told, formula = collective_lines(many.summary)
    assert "all-reduce, ring, 4 GPUs" in told and "3 in turn" in told and "bus bandwidth" in formula


def test_a_run_that_stopped_has_no_bandwidth():
    half = fabricate.result(scenario(ONE_SWITCH, 4, repeat=2), stop_after=0.6).summary["collectives"]
    assert half[0]["time_s"] is not None and half[1]["time_s"] is half[1]["busbw_bytes_per_s"] is half[1]["formula"] is None
    assert overall(half)["finished"] == 1
    none = fabricate.result(scenario(ONE_SWITCH, 4), stop_after=0.5).summary
    assert overall(none["collectives"]) is None and collective_lines(none) == []
    assert fabricate.result(fabricate.scenario()).summary["collectives"] == []


def test_what_to_expect_counts_headers_and_acks():
    found = scenario(ONE_SWITCH, 8, collective_bytes=8_000_000)
    expected = expectation(found, build_network(found.cluster))
    assert expected.transfer_s * 1e6 == pytest.approx(14 * line_us(1_000_000, 100)) and expected.latency_s == pytest.approx((8.4 + 14 * 14) * 1e-6)
    graph = {"topology": "file", "graph": "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0"}
    wired = Scenario.from_data({"cluster": graph, "traffic": {"pattern": "collective"}})
    assert expectation(wired, build_network(wired.cluster)) is None
