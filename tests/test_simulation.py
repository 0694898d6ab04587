"""A run from outside: its end, its limits, its progress, and totals that add up."""

import numpy as np
import pytest

from sim.case import case_of
from sim.scenario import Scenario
from sim.simulation import Simulation
from tests.packet.lab import US, delivered_ps, fct_ps, scenario, simulate

STAR = [(host, 3, 100, 1000) for host in range(3)]
T = 83_840
BASE = 4 * US + 2 * T + 2 * 4_800
CONTROLLERS = ("none", "dcqcn", "hpcc", "timely", "dctcp", "swift")
TELEMETRY = {"hpcc": (42, 28), "timely": (8, 0), "swift": (8, 0)}  # B on data, on ACKs


def started(given, **simulation):
    """A simulation that has not advanced yet."""
    return Simulation(given.replace_all({f"simulation.{key}": value for key, value in simulation.items()}))


def two_flows():
    return scenario(STAR, [(0, 2, 100_000), (1, 2, 50_000, 3.5)], hosts=3)


def test_a_start_time_is_honoured_to_the_picosecond():
    sim = simulate(STAR, [(0, 1, 1000, 7.654321), (2, 1, 1000)], hosts=3)
    assert sim.plan.node["started"][:2].tolist() == [0, 7_654_321]
    assert fct_ps(sim) == [BASE, BASE]
    flows = sim.result().flows
    assert flows["start_s"].tolist() == [0, 7.654321e-6]
    assert flows["src"].tolist() == [2, 0], "flows are sorted by start"
    assert flows["fct_s"].tolist() == pytest.approx([BASE / 1e12] * 2, rel=1e-12)
    assert sim.result().summary["iteration_s"] == pytest.approx((7_654_321 + BASE) / 1e12, rel=1e-12)


def test_a_time_limit_leaves_a_partial_result():
    # ten packets: their ACKs come at 4.17728 us + k x 83.84 ns; by 4.5 us four of them
    sim = simulate(
        STAR,
        [(0, 1, 10_000), (0, 1, 0), (2, 1, 1000, 9)],
        hosts=3,
        ends="time limit",
        simulation={"time_limit_s": 4.5e-6},
    )
    result = sim.result()
    assert (result.status, result.finished) == ("time limit", False)
    assert result.flows["bytes_left"].tolist() == [6000, 0, 1000]
    assert np.isnan(result.flows["fct_s"][0]) and result.flows["fct_s"][1] == pytest.approx(4e-6)
    assert result.flows["delivered_s"][0] == pytest.approx(2e-6 + 11 * T / 1e12), "all data had arrived"
    assert result.end_s == pytest.approx(4.5e-6)
    assert result.summary["iteration_s"] is None and result.summary["bytes_left"] == 7000
    assert "Partial result (time limit)" in " ".join(result.notices)


@pytest.mark.parametrize(("limit_ps", "finished"), [(BASE, False), (BASE + 1, True), (BASE - 1, False)])
def test_a_time_limit_is_the_first_instant_left_out(limit_ps, finished):
    sim = Simulation(scenario(STAR, [(0, 1, 1000)], hosts=3, simulation={"time_limit_s": limit_ps / 1e12}))
    sim.advance()
    assert (sim.status == "finished") == finished
    assert sim.end_ps <= limit_ps


def test_a_time_limit_before_anything_begins():
    sim = simulate(STAR, [(0, 1, 1000, 5)], hosts=3, ends="time limit", simulation={"time_limit_s": 1e-6})
    result = sim.result()
    assert result.flows["start_s"].isna().all() and result.flows["bytes_left"].tolist() == [1000]
    assert result.ports["tx_bytes"].sum() == 0


def test_a_cancelled_run_keeps_what_it_has():
    sim = started(scenario(STAR, [(0, 1, 10_000_000)], hosts=3))
    assert not sim.advance(5000)
    before = sim.progress()
    sim.cancel()
    assert sim.status == "cancelled" and sim.advance(10**9)
    result = sim.result()
    assert result.status == "cancelled" and not result.finished
    assert 0 < before.bytes_left == result.flows["bytes_left"][0] < 10_000_000
    assert result.raw.counters["packet_hops"] == before.packet_hops
    assert "Partial result (cancelled)" in " ".join(result.notices)


def test_cancel_after_the_end_changes_nothing():
    sim = simulate(STAR, [(0, 1, 1000)], hosts=3)
    sim.cancel()
    assert sim.status == "finished" and sim.advance()


def test_cancel_before_the_first_step():
    sim = started(two_flows())
    sim.cancel()
    result = sim.result()
    assert result.summary["flows_finished"] == 0 and result.summary["bytes_left"] == 150_000
    assert len(result.ports) and len(result.critical_path) == 0


def test_progress_only_ever_grows():
    sim = started(two_flows())
    seen = [sim.progress()]
    while not sim.advance(40):
        seen.append(sim.progress())
    seen.append(sim.progress())
    assert len(seen) > 10
    for name in ("fraction", "sim_time_s", "packet_hops", "flows_finished"):
        values = [getattr(progress, name) for progress in seen]
        assert values == sorted(values), name
    left = [progress.bytes_left for progress in seen]
    assert left == sorted(left, reverse=True) and left[0] == 150_000 and left[-1] == 0
    assert seen[0].fraction == 0 and seen[-2].fraction < 1 == seen[-1].fraction
    assert seen[-1].packet_hops == seen[-1].packet_hops_expected == 150 * 4
    assert {progress.flows_total for progress in seen} == {2}


@pytest.mark.parametrize("budget", [1, 7, 100, 10**9])
def test_slices_change_nothing(budget):
    sim = started(two_flows())
    while not sim.advance(budget):
        pass
    assert fct_ps(sim) == fct_ps(simulate(STAR, [(0, 2, 100_000), (1, 2, 50_000, 3.5)], hosts=3))


def test_two_flows_into_one_port_by_hand():
    # 0 alone from 0 on; 1 joins at 3.5 us and is at the switch from 4.58384 us on. Each packet of 1 then finds one more in the queue.
    sim = simulate(STAR, [(0, 2, 100_000), (1, 2, 50_000, 3.5)], hosts=3)
    # the port sends without a gap from 1.08384 us on: 150 packets in all
    assert max(delivered_ps(sim)) == 2 * US + T + 150 * T


@pytest.mark.parametrize("controller", CONTROLLERS)
@pytest.mark.parametrize("ack_every", [1, 3])
def test_bytes_on_all_ports_are_packets_times_hops(controller, ack_every):
    sizes = (100_000, 1001, 50_999, 1)
    flows = [(0, 2, sizes[0]), (1, 2, sizes[1]), (0, 1, sizes[2], 1.0), (2, 0, sizes[3])]
    sim = simulate(STAR, flows, hosts=3, congestion_control=controller, ack_every=ack_every)
    data, ack = TELEMETRY.get(controller, (0, 0))
    packets = [-(-size // 1000) for size in sizes]
    acks = sum(-(-n // ack_every) for n in packets)
    on_wire = 2 * (sum(sizes) + sum(packets) * (48 + data)) + 2 * acks * (60 + ack)
    result = sim.result()
    assert result.ports["tx_bytes"].sum() == on_wire
    assert result.ports["tx_packets"].sum() == 2 * (sum(packets) + acks) == result.summary["packet_hops"]["total"]
    assert result.raw.series_tx_bytes.sum() == on_wire
    assert result.summary["drops"] == result.summary["retransmits"] == 0


def test_series_and_totals_agree():
    sim = simulate(
        STAR, [(0, 2, 400_000), (1, 2, 400_000)], hosts=3, congestion_control="dcqcn", ecn_kmin_kb=20, ecn_kmax_kb=80
    )
    raw = sim.result().raw
    assert np.array_equal(raw.series_tx_bytes.sum(axis=1), raw.port_tx_bytes)
    assert np.array_equal(raw.series_marks.sum(axis=1), raw.port_marks) and raw.port_marks.sum() > 0
    assert np.array_equal(raw.series_max_queue_bytes.max(axis=1), raw.port_max_queue_bytes)
    assert (
        raw.series_tx_bytes.shape[1] * raw.bin_ps > raw.end_ps_last >= (raw.series_tx_bytes.shape[1] - 1) * raw.bin_ps
    )


@pytest.mark.parametrize("bins", [1, 2, 3, 4, 5, 255, 256])
def test_bins_become_coarser_without_losing_a_byte(bins):
    flows = [(0, 2, 200_000), (1, 2, 200_000, 30)]
    sim = simulate(STAR, flows, hosts=3, simulation={"sample_bins": bins})
    raw = sim.result().raw
    assert np.array_equal(raw.series_tx_bytes.sum(axis=1), raw.port_tx_bytes)
    assert fct_ps(sim) == fct_ps(simulate(STAR, flows, hosts=3))


@pytest.mark.parametrize("controller", ["none", "dcqcn", "dctcp", "swift", "timely", "hpcc"])
@pytest.mark.parametrize("size", [1, 1000, 20_000, 33_333])
@pytest.mark.parametrize("rates", [(100, 100, 100), (100, 25, 400), (25, 100, 100), (400, 100, 25)])
def test_no_lone_flow_is_faster_than_its_ideal(controller, size, rates):
    links = [(0, 2, rates[0], 1000), (2, 3, rates[1], 500), (3, 1, rates[2], 20)]
    sim = simulate(links, [(0, 1, size)], congestion_control=controller)
    ideal, fct = sim.ideal_fct_ps()[0], fct_ps(sim)[0]
    assert ideal <= fct + 1  # both are rounded to picoseconds
    if len(set(rates)) == 1 and (size % 1000 == 0 or size < 1000) and controller != "hpcc":
        assert ideal == fct


@pytest.mark.parametrize("size", [1500, 10_001, 33_333])
def test_a_lone_flow_with_a_short_last_packet_has_a_slowdown_of_one(size):
    sim = simulate([(0, 2, 100, 10), (2, 3, 100, 10), (3, 1, 100, 10)], [(0, 1, size)])
    assert sim.result().flows["slowdown"][0] == pytest.approx(1, abs=5e-3)


def test_a_case_runs_like_its_scenario():
    given = two_flows()
    assert fct_ps(Simulation(given)) == [0, 0]
    first, second = Simulation(given), Simulation(case_of(given))
    first.advance(10**9), second.advance(10**9)
    assert fct_ps(first) == fct_ps(second)


def test_a_result_can_be_taken_again_and_again():
    sim = simulate(STAR, [(0, 2, 100_000), (1, 2, 100_000)], hosts=3)
    first, second = sim.result(), sim.result()
    assert first.flows.equals(second.flows) and first.ports.equals(second.ports)


def test_a_pause_that_lasts_to_the_limit_is_counted_to_the_limit():
    # the fixed-threshold pause of a lone flow from 100 to 25 Gb/s begins at 3.09336 us and would last 8.7 us
    links = [(0, 2, 100, 1000), (2, 1, 25, 1000)]
    sim = simulate(
        links, [(0, 1, 47_000)], ends="time limit", simulation={"time_limit_s": 5e-6}, pfc="fixed", pfc_xoff_kb=10.48
    )
    ports = sim.result().ports.set_index("name")
    assert ports["pauses"]["0->2"] == 1
    assert ports["paused_s"]["0->2"] == pytest.approx(5e-6 - 3.09336e-6, abs=2e-12)
    assert sim.result().raw.series_paused_ps.sum() == pytest.approx(5e6 - 3_093_360, abs=2)


def test_a_limit_that_holds_a_stuck_run_is_a_time_limit():
    down = [{"kind": "link-down", "a": "2", "b": "3", "at_us": 0}]
    sim = simulate(STAR, [(0, 2, 1000)], hosts=3, faults=down, ends="time limit", simulation={"time_limit_s": 1.0})
    assert sim.result().end_s == pytest.approx(1.0)


def test_a_model_runs_and_its_tasks_and_flows_all_end():
    given = Scenario.from_data(
        {
            "cluster": {"topology": "rail-optimised", "gpus": 8, "gpus_per_node": 2, "spines": 2},
            "model": {"layers": 4, "hidden": 64, "heads": 4, "vocabulary": 512, "sequence": 64},
            "parallelism": {"tp": 2, "pp": 2, "dp": 2},
        }
    )
    sim = Simulation(given)
    while not sim.advance(1000):
        pass
    result = sim.result()
    assert result.finished and result.tasks["end_s"].notna().all() and result.flows["fct_s"].notna().all()
    assert (result.tasks["end_s"] >= result.tasks["start_s"]).all()
    assert result.summary["iteration_s"] == pytest.approx(
        max(result.tasks["end_s"].max(), (result.flows["start_s"] + result.flows["fct_s"]).max())
    )
    assert (result.flows["slowdown"] >= 1 - 1e-9).all()
