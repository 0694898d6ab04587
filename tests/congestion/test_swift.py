"""Swift by hand: the delay target, one packet per round trip below it, one cut per round trip above, pacing."""

import pytest

from tests.congestion.hand import GBPS, US, Flow


def swift(window=None, **options):
    """A flow with 100 packets of 1000 B in 8 us at 100 Gb/s."""
    flow = Flow("swift", **options)
    if window:
        flow.set(swift_window=window)
    return flow


def test_it_starts_with_one_bandwidth_delay_product_at_line_rate():
    flow = swift()
    assert flow.swift_window == pytest.approx(100)
    assert (flow.window_bytes, flow.rate_bps) == (100_000, 100 * GBPS)


def test_at_or_below_the_target_it_adds_one_packet_per_round_trip():
    flow = swift()
    # target 8 us + 5 us; no flow scaling from 100 packets on
    flow.ack(100 * US, rtt_ps=13 * US)
    assert flow.swift_window == pytest.approx(100.01)  # 100 + 1/100
    assert flow.window_bytes == 100_010
    assert flow.rate_bps == 100 * GBPS


def test_above_the_target_it_cuts_by_the_excess():
    flow = swift()
    flow.ack(100 * US, rtt_ps=26 * US)
    assert flow.swift_window == pytest.approx(60)  # 1 - 0.8 x (26 - 13)/26 = 0.6
    assert flow.window_bytes == 60_000


def test_one_cut_per_round_trip():
    flow = swift()
    flow.ack(100 * US, rtt_ps=26 * US)
    flow.ack(125 * US, rtt_ps=26 * US)
    assert flow.swift_window == pytest.approx(60)
    flow.ack(126 * US, rtt_ps=26 * US)
    assert flow.swift_window < 40


def test_no_cut_is_deeper_than_half():
    flow = swift()
    flow.ack(100 * US, rtt_ps=1000 * US)
    assert flow.swift_window == pytest.approx(50)


def test_a_small_window_is_allowed_more_delay():
    # at 0.1 packets the whole scaling range of 10 us: target 8 + 5 + 10 = 23 us
    flow = swift(0.1)
    flow.ack(100 * US, rtt_ps=23 * US - 1)
    assert flow.swift_window == pytest.approx(1.1)
    flow = swift(0.1)
    flow.ack(100 * US, rtt_ps=24 * US)
    assert flow.swift_window == pytest.approx(0.1 * (1 - 0.8 / 24))
    # at 1 packet: 10 us x (1 - 0.1)/(3.1623 - 0.1) = 2.939 us more
    flow = swift(1.0)
    flow.ack(100 * US, rtt_ps=15_930_000)
    assert flow.swift_window == pytest.approx(2)
    flow = swift(1.0)
    flow.ack(100 * US, rtt_ps=15_950_000)
    assert flow.swift_window < 1


def test_below_one_packet_the_window_becomes_pacing():
    flow = swift(1.0)
    flow.ack(100 * US, rtt_ps=1000 * US)
    # half a packet of 1000 + 48 + 8 B per RTT: 0.5 x 8448 bits / 1 ms
    assert flow.swift_window == pytest.approx(0.5)
    assert flow.window_bytes == 1000
    assert flow.rate_bps == pytest.approx(4_224_000, abs=1)


def test_a_paced_flow_gains_a_packet_per_ack_and_runs_at_line_rate_again():
    flow = swift(0.5)
    flow.ack(100 * US, rtt_ps=8 * US)
    assert flow.swift_window == pytest.approx(1.5)
    assert (flow.window_bytes, flow.rate_bps) == (1500, 100 * GBPS)


def test_the_window_stays_between_its_bounds():
    flow = swift(199.999)
    flow.ack(100 * US, rtt_ps=8 * US)
    assert flow.swift_window == pytest.approx(200)  # twice the bandwidth-delay product
    flow = swift(0.015)
    flow.ack(100 * US, rtt_ps=1000 * US)
    assert flow.swift_window == 0.01


def test_a_path_of_less_than_one_packet_still_sends_one():
    flow = swift(base_rtt_ps=40_000)
    assert (flow.swift_window, flow.window_bytes) == (1.0, 1000)
