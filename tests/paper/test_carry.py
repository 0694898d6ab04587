"""What flows carry from one episode to the next: every controller's memory but its packet numbers, times relative."""

import numpy as np
import pytest

from sim.case import case_of
from sim.packet.layout import FLOW, NEVER
from sim.packet.state import records
from sim.paper.carry import Carry
from tests.packet.lab import scenario

STAR = [(host, 3, 100, 1000) for host in range(3)]


def carry_of(controller, **transport):
    return Carry(case_of(scenario(STAR, [(0, 2, 1000)], hosts=3, congestion_control=controller, **transport)).settings)


def flow(**values):
    row = records(3, FLOW)
    row["line_bps"], row["base_rtt_ps"] = 100 * 10**9, 8 * 10**6
    for name, value in values.items():
        row[name][1] = value
    return row


@pytest.mark.parametrize(
    ("controller", "names"),
    [
        ("none", {"rate_bps"}),
        ("timely", {"rate_bps", "timely_last_rtt_ps", "timely_difference_ns", "timely_increases"}),
        ("swift", {"rate_bps", "window_bytes", "swift_window", "swift_cut_at"}),
        ("hpcc", {"rate_bps", "hpcc_u", "hpcc_reference_bps", "hpcc_stage", "hpcc_fixed_u"}),
    ],
)
def test_packet_numbers_are_left_behind(controller, names):
    assert set(carry_of(controller).dtype.names) == names | {"began"}


def test_times_are_relative_and_far_ones_stay_far():
    carry, row = carry_of("dcqcn"), flow(rate_bps=40 * 10**9, dcqcn_alpha=0.25, dcqcn_alpha_at=7_000, dcqcn_increase_at=NEVER)
    taken = carry.take(row, np.array([1]), 5_000)
    assert (taken["began"][0], taken["rate_bps"][0], taken["dcqcn_alpha_at"][0], taken["dcqcn_increase_at"][0]) == (1, 40 * 10**9, 2_000, NEVER)
    fresh = flow()
    carry.give(fresh, np.array([2]), taken, 100)
    assert (fresh["dcqcn_alpha"][2], fresh["dcqcn_alpha_at"][2], fresh["dcqcn_increase_at"][2]) == (0.25, 2_100, NEVER)


def test_a_flow_that_has_not_begun_is_left_as_it_entered():
    carry, fresh = carry_of("dcqcn"), flow(rate_bps=5)
    carry.give(fresh, np.array([1]), carry.rows(1), 0)
    assert fresh["rate_bps"][1] == 5


def test_nobody_sends_faster_than_the_new_line():
    carry, taken = carry_of("none"), carry_of("none").take(flow(rate_bps=400 * 10**9), np.array([1]), 0)
    fresh = flow()
    carry.give(fresh, np.array([0]), taken, 0)
    assert fresh["rate_bps"][0] == 100 * 10**9


def test_a_rate_is_what_the_controller_and_the_window_allow():
    one = np.array([1])
    assert carry_of("none").allowed_bps(flow(rate_bps=30 * 10**9), one) == 30e9
    # 50 kB in each 8 us are 50 Gb/s
    assert carry_of("none").allowed_bps(flow(rate_bps=80 * 10**9, window_bytes=50_000), one) == 50e9
    # DCTCP's window shrinks with its rate: 100 kB at line rate, half of it at half the rate
    assert carry_of("dctcp").allowed_bps(flow(rate_bps=50 * 10**9, window_bytes=80_000), one) == 40e9
