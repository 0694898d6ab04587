"""DCTCP by hand: batches of one window, alpha, one cut per window, additive increase."""

import pytest

from tests.congestion.hand import GBPS, MBPS, Flow


def flow_in_first_window(**options):
    """15 packets are out at the first ACK, so that the first batch counts 16; gain 1/2 makes round numbers."""
    flow = Flow("dctcp", **{"gain": 0.5, **options})
    flow.ack(0, 1, sent=15)
    return flow


def test_the_first_ack_only_opens_the_window():
    flow = flow_in_first_window()
    assert (flow.dctcp_batch, flow.dctcp_window_end, flow.rate_bps) == (16, 15, 100 * GBPS)


def test_a_mark_cuts_by_half_of_alpha_once_per_window():
    flow = flow_in_first_window()
    assert flow.ack(1, 2, sent=16, marked=True) == 50 * GBPS  # alpha is 1 at first: x (1 - 1/2)
    assert (flow.dctcp_reduced, flow.dctcp_cut_end) == (1, 16)
    assert flow.ack(2, 3, sent=17, marked=True) == 50 * GBPS
    assert flow.ack(3, 4, sent=18, marked=True) == 50 * GBPS
    assert flow.dctcp_marked == 3


def test_alpha_moves_towards_the_marked_share_of_the_window():
    flow = flow_in_first_window()
    for number in (2, 3, 4):
        flow.ack(number, number, sent=15 + number, marked=True)
    flow.ack(99, 16, sent=30, marked=True)
    # 4 marks in a batch of 16; alpha = 1/2 x 1 + 1/2 x 4/16
    assert flow.dctcp_alpha == 0.625
    assert flow.dctcp_marked == 0
    assert flow.dctcp_batch == 15  # 30 sent - 16 acknowledged + 1
    assert flow.dctcp_window_end == 30


def test_the_next_window_is_cut_by_the_new_alpha_once_the_last_cut_is_acknowledged():
    flow = flow_in_first_window()
    flow.ack(1, 2, sent=17, marked=True)  # 50 Gb/s, to be acknowledged up to 17
    assert flow.ack(2, 17, sent=32, marked=True) == 50 * GBPS
    # new window (17 > 15): alpha = 1/2 + 1/2 x 2/16 = 0.5625; packet 17 is still of the last cut
    assert flow.dctcp_alpha == 0.5625
    assert flow.ack(3, 18, sent=33, marked=True) == 35_937_500_000  # 50 Gb/s x (1 - 0.5625/2)


def test_an_unmarked_window_adds_615_mbps():
    flow = flow_in_first_window(rate_bps=40 * GBPS)
    assert flow.ack(1, 15, sent=30) == 40 * GBPS, "the window is not over"
    assert flow.ack(2, 16, sent=31) == 40_615 * MBPS
    assert flow.ack(3, 17, sent=32) == 40_615 * MBPS
    assert flow.ack(4, 32, sent=47) == 41_230 * MBPS


def test_a_window_with_a_cut_adds_nothing():
    flow = flow_in_first_window(rate_bps=40 * GBPS)
    flow.ack(1, 2, sent=17, marked=True)  # 20 Gb/s
    assert flow.ack(2, 16, sent=31) == 20 * GBPS, "16 is not past the cut's 17"
    assert flow.ack(3, 32, sent=47) == 20_615 * MBPS


def test_increase_scales_with_the_line_rate_and_stops_at_it():
    flow = flow_in_first_window(line_bps=400 * GBPS, rate_bps=100 * GBPS)
    assert flow.ack(1, 16, sent=31) == 102_460 * MBPS  # 615 x 400/100 = 2460 Mb/s
    flow.set(rate_bps=399 * GBPS)
    assert flow.ack(2, 32, sent=47) == 400 * GBPS


def test_the_rate_never_falls_below_its_minimum():
    flow = flow_in_first_window(rate_bps=1_500 * MBPS)
    assert flow.ack(1, 2, sent=16, marked=True) == 1_000 * MBPS


def test_more_marks_than_the_batch_count_as_all():
    flow = flow_in_first_window()
    flow.set(dctcp_marked=40)
    flow.ack(1, 16, sent=31)
    assert flow.dctcp_alpha == 1.0


def test_the_default_gain_is_one_in_16():
    flow = flow_in_first_window(gain=1 / 16)
    flow.ack(1, 16, sent=31)
    assert flow.dctcp_alpha == pytest.approx(15 / 16)
