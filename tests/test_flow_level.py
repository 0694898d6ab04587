"""Mode flow: rates worked out by hand, the max-min property against random loads, and what it shares with packet mode."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from sim.case import case_of
from sim.errors import RunError
from sim.flow_level import FlowLevel
from sim.flow_level_rates import change, make_fluid, with_paths
from sim.packet.layout import NEVER
from sim.preset import load_preset
from sim.simulation import Simulation
from tests.packet.lab import US, scenario
from tests.player import graphs
from tests.walls.source import ROOT

STAR = [(host, 3, 100, 1000) for host in range(3)]
T = 83_840  # ps: a full packet at 100 Gb/s
BACK = 2 * US + 2 * 4_800  # an ACK over two links of the star
BEYOND = 2 * US + T + BACK  # what comes after a flow's last bit: two links, one store and forward, the way back
SLOWER_THAN_FLUID = 0.06  # gpt-7b-64 in packet mode; DCQCN leaves shared ports partly idle
GPT_7B_64_S = 0.10496557  # iteration of gpt-7b-64 in packet mode, as measured


def finished(given):
    """The run of a scenario or case, at its end."""
    sim = FlowLevel(given)
    while not sim.advance():
        pass
    assert sim.status == "finished", sim.result().notices
    return sim


def fct_ps(sim):
    """Completion time of each flow."""
    return [acked - start for acked, start in zip(sim.acked, sim.started[sim.case.dag.n_tasks :], strict=True)]


def packet_fct_ps(given):
    raw = Simulation(given).run().raw
    return raw.acked_ps - raw.start_ps[raw.dag.n_tasks :]


def test_two_flows_share_a_port_until_one_has_gone():
    # 50 packets at half the rate take 100 T; the other has 50 of its 100 left, alone
    assert fct_ps(finished(scenario(STAR, [(0, 2, 100_000), (1, 2, 50_000)], hosts=3))) == [150 * T + BEYOND, 100 * T + BEYOND]


def test_one_that_comes_later_takes_half_from_then_on():
    # alone for 3.5 us; then both at half: 50 packets take 100 T; the port is never idle, 150 T in all
    sim = finished(scenario(STAR, [(0, 2, 100_000), (1, 2, 50_000, 3.5)], hosts=3))
    assert fct_ps(sim) == [150 * T + BEYOND, 100 * T + BEYOND]


def test_three_flows_and_two_bottlenecks():
    # 1 and 2 share 40 Gb/s: 20 each; 0 shares 100 Gb/s with 1 and gets the other 80
    links = [(0, 6, 400, 1000), (1, 6, 400, 1000), (3, 7, 400, 1000), (2, 7, 400, 1000), (4, 8, 400, 1000), (5, 8, 400, 1000)]
    links += [(6, 7, 100, 1000), (7, 8, 40, 1000)]
    sim = FlowLevel(scenario(links, [(0, 3, 1_000_000), (1, 4, 50_000), (2, 5, 50_000)], hosts=6))
    sim.advance(1)
    assert sim.fluid.flow["rate"] / 1e9 == pytest.approx([80, 20, 20], rel=1e-12)
    sim.run()
    # 50 packets at 20 Gb/s: 250 T, in which 0 sends 200; its other 800 go at 100 Gb/s
    assert fct_ps(sim) == [
        1050 * T + T // 2 + 6 * US + 7_200,
        250 * T + T // 4 + T + T // 4 + 8 * US + 19_200,
        250 * T + T // 2 + 6 * US + 14_400,
    ]


def test_acks_load_the_way_back():
    # both ways at once: r + r 60/1048 = 100 Gb/s, 1108 B in the place of 1048
    sim = finished(scenario(STAR, [(0, 1, 1_000_000), (1, 0, 1_000_000)], hosts=3))
    assert fct_ps(sim) == [pytest.approx(1000 * T * 1108 / 1048 + BEYOND, abs=2)] * 2
    assert fct_ps(sim)[0] == pytest.approx(packet_fct_ps(sim.case)[0], rel=2e-3)


def test_a_flow_without_bytes_takes_the_delays():
    sim = finished(scenario(STAR, [(0, 1, 0)], hosts=3))
    assert (fct_ps(sim), sim.ended, sim.instants) == ([4 * US], [2 * US], 2)
    assert sim.result().ports["tx_bytes"].sum() == 0


@pytest.mark.parametrize("rates", [(100, 100, 100), (100, 25, 400), (25, 100, 100), (400, 100, 25)])
@pytest.mark.parametrize("size", [1, 1000, 1500, 33_333, 1_000_000])
def test_a_lone_flow_takes_as_long_as_its_packets(rates, size):
    given = scenario([(0, 2, rates[0], 1000), (2, 3, rates[1], 500), (3, 1, rates[2], 20)], [(0, 1, size)])
    sim = finished(given)
    assert fct_ps(sim) == pytest.approx(sim.ideal_fct_ps, abs=2)
    assert fct_ps(sim) == pytest.approx(packet_fct_ps(given), rel=0.01)


def test_tasks_and_flows_wait_for_each_other_as_in_packet_mode():
    other = graphs.simulation(
        tasks=[(0, 5 * US), (1, 3 * US), (1, 0), (2, 7 * US)],
        flows=[(0, 1, 1000), (1, 2, 50_000), (2, 3, 0), (3, 0, 1)],
        done=[("t0", "f0"), ("f0", "t1"), ("t1", "f1"), ("f1", "t2"), ("t2", "f3"), ("f2", "t3")],
        acked=[("f1", "f2")],
        starts={"f3": 30 * US},
    )
    sim = finished(other.case)
    raw = other.run().raw
    assert (sim.started, sim.ended, sim.acked) == (raw.start_ps.tolist(), raw.end_ps.tolist(), raw.acked_ps.tolist())
    assert sim.ended[4] == 5 * US + graphs.DELIVERED


def test_a_circle_is_told():
    sim = FlowLevel(graphs.simulation([(0, 1), (0, 1)], done=[("t0", "t1"), ("t1", "t0")]).case)
    assert sim.run().status == "deadlock" and "wait for each other" in sim.result().notices[-2]


@pytest.mark.parametrize("given", ["gpt-small-16", "incast-16-hpcc", "fat-tree-ring"])
def test_ports_carry_the_bytes_of_packet_mode(given):
    fluid, packets = FlowLevel(load_preset(given)).run().raw, Simulation(load_preset(given)).run().raw
    assert np.array_equal(fluid.port_tx_bytes, packets.port_tx_bytes)
    assert np.array_equal(fluid.port_tx_packets, packets.port_tx_packets)
    assert np.array_equal(fluid.series_tx_bytes.sum(axis=1), fluid.port_tx_bytes) and fluid.series_tx_bytes.min() >= 0
    assert fluid.counters["packet_hops"] == packets.counters["packet_hops"]


def test_acks_for_several_packets_are_counted_alike():
    given = scenario(STAR, [(0, 2, 100_001), (1, 2, 7_500), (2, 0, 999)], hosts=3, ack_every=4)
    fluid, packets = FlowLevel(given).run(), Simulation(given).run()
    columns = ["name", "tx_bytes", "tx_packets"]
    assert fluid.ports[columns].equals(packets.ports[columns])
    assert fluid.ports["max_utilisation"].max() == pytest.approx(1, abs=1e-3)
    assert (fluid.flows["slowdown"] > 1 - 1e-6).all()


def test_curves_are_what_the_rates_were():
    raw = finished(scenario(STAR, [(0, 2, 100_000), (1, 2, 50_000)], hosts=3)).result().raw
    sent = raw.series_tx_bytes[0][: 100 * T // raw.bin_ps]  # 0 -> switch, at half its rate
    assert np.abs(sent - 50e9 / 8 * raw.bin_ps / 1e12).max() <= 1


def test_training_takes_nearly_as_long_as_in_packet_mode():
    given = load_preset("gpt-small-16")
    fluid, packets = FlowLevel(given).run(), Simulation(given).run()
    assert fluid.summary["iteration_s"] == pytest.approx(packets.summary["iteration_s"], rel=1e-3)
    assert np.abs(fluid.flows["fct_s"] / packets.flows["fct_s"] - 1).max() < 0.01
    columns = ["task_id", "rank", "kind", "bytes"]
    assert fluid.tasks[columns].equals(packets.tasks[columns])


def test_gpt_7b_is_a_little_faster_than_its_packets():
    assert 1 - SLOWER_THAN_FLUID < FlowLevel(load_preset("gpt-7b-64")).run().summary["iteration_s"] / GPT_7B_64_S < 1


def test_forty_thousand_flows_take_no_time():
    sim = finished(load_preset("gpt-13b-128"))
    assert sim.case.dag.n_flows == 38_144 and sim.cpu_s["kernel"] < 3


@pytest.mark.parametrize("budget", [1, 7, 10**9])
def test_slices_and_repetitions_change_nothing(budget):
    given, other = load_preset("link-failure"), FlowLevel(load_preset("link-failure"))
    sim = FlowLevel(given)
    while not sim.advance(budget):
        other.advance(budget * 3)
        sim.progress(), sim.result()
    other.run()
    assert (sim.started, sim.ended, sim.acked) == (other.started, other.ended, other.acked)
    assert np.array_equal(sim.result().raw.series_tx_bytes, other.result().raw.series_tx_bytes)


def test_plain_python_gives_the_same_bits():
    command = [sys.executable, "-m", "sim", "run", "link-failure", "--mode", "flow", "--json", "-"]
    one, other = (
        json.loads(subprocess.run(command, cwd=ROOT, env={**os.environ, **plain}, capture_output=True, text=True).stdout)
        for plain in ({}, {"NUMBA_DISABLE_JIT": "1"})
    )
    same = one.keys() - {"cpu_s", "wall_s", "peak_rss_bytes"}
    assert {key: one[key] for key in same} == {key: other[key] for key in same}


def test_progress_grows_to_the_end():
    sim = FlowLevel(load_preset("gpt-small-16"))
    seen = [sim.progress()]
    while not sim.advance(1000):
        seen.append(sim.progress())
    seen.append(sim.progress())
    for name in ("fraction", "sim_time_s", "packet_hops", "flows_finished"):
        values = [getattr(progress, name) for progress in seen]
        assert len(values) > 10 and values == sorted(values), name
    assert seen[-1].packet_hops == seen[-1].packet_hops_expected and (seen[0].fraction, seen[-1].fraction) == (0, 1)
    assert seen[-1].bytes_left == 0 < seen[0].bytes_left


def test_a_time_limit_and_a_cancelled_run_leave_a_part():
    sim = FlowLevel(scenario(STAR, [(0, 1, 100_000), (2, 1, 1000, 9)], hosts=3, simulation={"time_limit_s": 50.5 * T / 1e12}))
    result = sim.run()
    assert (result.status, result.finished) == ("time limit", False)
    assert result.flows["bytes_left"].tolist() == [pytest.approx(49_500, abs=1), 1000]
    assert result.ports["tx_bytes"].max() == 50 * 1048 and result.raw.series_tx_bytes.sum() == result.ports["tx_bytes"].sum()
    assert any("Partial result (time limit)" in notice for notice in result.notices)
    sim = FlowLevel(load_preset("gpt-small-16"))
    sim.advance(1)
    sim.cancel()
    assert sim.advance() and sim.result().status == "cancelled" and sim.result().summary["flows_finished"] < 96


def test_a_degraded_link_slows_from_then_on():
    fault = {"kind": "degrade", "a": "0", "b": "3", "at_us": 50 * T / US, "rate_factor": 0.5}
    sim = finished(scenario(STAR, [(0, 1, 100_000)], hosts=3, faults=[fault]))
    assert fct_ps(sim) == [50 * T + 100 * T + BEYOND]


def test_a_link_that_is_down_for_a_time_keeps_its_flow_waiting():
    faults = [{"kind": kind, "a": "0", "b": "3", "at_us": at} for kind, at in (("link-down", 1), ("link-up", 5))]
    sim = finished(scenario(STAR, [(0, 1, 100_000)], hosts=3, faults=faults))
    assert fct_ps(sim) == [100 * T + 4 * US + BEYOND]
    assert any("lost their only path" in notice for notice in sim.result().notices)


def test_a_link_that_stays_down_is_told():
    down = {"kind": "link-down", "a": "0", "b": "3", "at_us": 1}
    result = FlowLevel(scenario(STAR, [(0, 1, 100_000), (2, 1, 1000)], hosts=3, faults=[down])).run()
    assert result.status == "deadlock" and any("flow 0 has no path" in notice for notice in result.notices)


def test_flows_take_another_way_around_a_failure():
    # two equal ways from switch 2 to switch 5; the one that is taken fails half-way
    links = [(0, 2, 100, 1000), (2, 3, 100, 1000), (2, 4, 100, 1000), (3, 5, 100, 1000), (4, 5, 100, 1000), (5, 1, 100, 1000)]
    way = FlowLevel(scenario(links, [(0, 1, 100_000)])).table.data_ports[1] // 2  # link 1 or 2
    down = {"kind": "link-down", "a": "2", "b": str(2 + way), "at_us": 50 * T / US}
    sim = finished(scenario(links, [(0, 1, 100_000)], faults=[down]))
    assert fct_ps(sim) == [100 * T + 3 * T + 8 * US + 4 * 4_800]
    assert sim.result().raw.port_tx_bytes[[2, 4]].tolist() == [50 * 1048] * 2


def test_losses_are_refused_in_one_line():
    with pytest.raises(RunError, match=r"^mode flow cannot lose packets, but the link 0->3 does: use mode packet"):
        FlowLevel(scenario(STAR, [(0, 1, 1)], hosts=3, faults=[{"kind": "loss", "a": "0", "b": "3", "probability": 0.1}]))
    with pytest.raises(RunError, match="link-down, link-up and degrade work"):
        FlowLevel(case_of(scenario([(*STAR[0], 0.1), *STAR[1:]], [(0, 1, 1)], hosts=3)))


def test_remarks_are_those_of_a_fluid():
    notices = FlowLevel(load_preset("incast-16")).run().notices
    assert any(notice.startswith("Mode flow") for notice in notices) and not any("0 ECN marks" in notice for notice in notices)


@pytest.mark.parametrize("seed", range(20))
def test_rates_are_max_min_fair_however_they_came_about(seed):
    """After any comings and goings each flow has a full port on which none is faster; ports carry no more than they can."""
    draw = np.random.default_rng(seed)
    flows, ports = 40, int(draw.integers(3, 25))
    paths, backs = ([draw.choice(ports, int(draw.integers(1, 4)), replace=False) for _ in range(flows)] for _ in range(2))
    csr = [(np.concatenate(([0], np.cumsum([len(way) for way in ways]))), np.concatenate(ways)) for ways in (paths, backs)]
    table = SimpleNamespace(data_ptr=csr[0][0], data_ports=csr[0][1], ack_ptr=csr[1][0], ack_ports=csr[1][1])
    capacity, share = draw.choice([25e9, 100e9, 400e9], ports), draw.choice([0.002, 0.01, 0.06], flows)
    fluid = with_paths(make_fluid(flows, capacity, 64, 10), table, share)
    fluid.flow["bits"] = 1e9
    active: set[int] = set()
    for now in range(0, 3000, 100):
        gone = np.array([f for f in sorted(active) if draw.random() < 0.3], np.int64)
        come = np.array([f for f in range(flows) if f not in active and draw.random() < 0.3], np.int64)
        change(fluid, gone, come, now)
        active = (active - set(gone.tolist())) | set(come.tolist())
        rate, load, fastest = fluid.flow["rate"], np.zeros(ports), np.zeros(ports)
        for f in active:
            np.add.at(load, paths[f], rate[f])
            np.add.at(load, backs[f], rate[f] * share[f])
            for p in (*paths[f], *backs[f]):
                fastest[p] = max(fastest[p], rate[f])
        assert (load <= capacity * (1 + 1e-6)).all() and fluid.port["rate"] == pytest.approx(load, rel=1e-6, abs=1)
        for f in active:
            crossed = np.concatenate((paths[f], backs[f]))
            full = load[crossed] >= capacity[crossed] * (1 - 1e-6)
            assert (full & (rate[f] >= fastest[crossed] * (1 - 1e-6))).any()
        due = fluid.finish[: len(active)]
        assert sorted(fluid.active[: len(active)].tolist()) == sorted(active) and (due < NEVER).all()
