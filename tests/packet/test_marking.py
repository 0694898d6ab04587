"""Marking at dequeue on the bytes left behind: none below kmin, all above kmax, in between by chance."""

import numpy as np
import pytest

from tests.packet.lab import WIRE, counter, simulate

STAR = [(host, 3, 100, 1000) for host in range(3)]


def marks(kmin_packets, kmax_packets, pmax=1.0, seed=1, **options):
    """(marked data packets, the simulation) of two senders with 100 packets each; thresholds in packets of 1048 B.

    The m-th packet to leave (from 0) leaves m + 1 behind for 1 <= m < 100, then 199 - m: two come while one goes.
    """
    sim = simulate(
        STAR, [(0, 2, 100_000), (1, 2, 100_000)], hosts=3, simulation={"seed": seed},
        ecn_kmin_kb=kmin_packets * WIRE / 1000, ecn_kmax_kb=kmax_packets * WIRE / 1000, ecn_pmax=pmax, **options,
    )  # fmt: skip
    return int(sim.plan.flow["marks"].sum()), sim


def test_sharp_threshold():
    # 11 or more left: m = 10..99 and m = 100..188
    assert marks(10, 10)[0] == 90 + 89


def test_every_place_counts_the_same_marks():
    total, sim = marks(10, 10)
    egress = sim.case.network.ports_between(3, 2)[0]
    assert counter(sim, "marks") == sim.state.port["marks"][egress] == sim.state.bins["marks"].sum() == total
    assert sim.state.port["marks"].sum() == total


def test_nothing_is_marked_below_kmin_and_everything_above_kmax():
    # above 20 left: m = 20..99 and 100..178; with pmax 0 nothing else
    assert marks(10, 20, pmax=0.0)[0] == 80 + 79
    # 100 packets are the most that is ever left
    assert marks(100, 200)[0] == 0
    assert marks(99, 200, pmax=1.0)[0] <= 1


def test_in_between_by_a_chance_that_grows_with_the_queue():
    # 11..20 left, twice each: chances 0.1, 0.2 .. 1, mean 2 x 5.5 on top of the 159 sure ones
    found = np.array([marks(10, 20, seed=seed)[0] for seed in range(30)])
    assert found.min() >= 159 + 2 and found.max() <= 159 + 20
    assert found.mean() == pytest.approx(159 + 11, abs=4 * np.sqrt(3.3 / 30))  # variance 2 x sum of p (1 - p) = 3.3
    assert len(set(found.tolist())) > 2


def test_pmax_bounds_the_chance():
    found = np.array([marks(0, 100, pmax=0.2, seed=seed)[0] for seed in range(30)])
    # 0.2 x q/100 over q = 2..100 and q = 99..1: 0.002 x (5049 + 4950) = 20.0
    assert found.mean() == pytest.approx(20.0, abs=4 * np.sqrt(20.0 / 30))


def test_the_seed_decides():
    first, again = marks(10, 20, seed=7)[1], marks(10, 20, seed=7)[1]
    assert np.array_equal(first.plan.flow["marks"], again.plan.flow["marks"])
    other = [marks(0, 100, pmax=0.5, seed=seed)[1].plan.flow["marks"].tolist() for seed in (7, 8, 9)]
    assert other[0] != other[1] or other[1] != other[2]


def test_a_nic_never_marks_its_own_queue():
    # four flows wait at one NIC of 100 Gb/s; the switch's port is as fast
    sim = simulate(STAR, [(0, 1, 50_000)] * 4, hosts=3, ecn_kmin_kb=0, ecn_kmax_kb=0)
    assert counter(sim, "marks") == 0


def test_acks_in_the_queue_are_counted_as_bytes_and_marked_but_echo_what_they_echo():
    # 0 receives from 1 and 2; its own flow to 1 is acknowledged through the marked queue, without a mark of its own data
    sim = simulate(STAR, [(1, 0, 100_000), (2, 0, 100_000), (0, 1, 20_000)], hosts=3, ecn_kmin_kb=10, ecn_kmax_kb=10)
    of_flows = sim.plan.flow["marks"].tolist()
    assert of_flows[2] == 0
    toward_0 = sim.case.network.ports_between(3, 0)[0]
    assert sim.state.port["marks"][toward_0] > sum(of_flows)
