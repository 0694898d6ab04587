"""TIMELY by hand: stored first RTT, additive and hyper increase, the two thresholds, the gradient."""

import pytest

from tests.congestion.hand import GBPS, MBPS, US, Flow


def flow_after(*rtts_us, **options):
    """A flow at 50 Gb/s that has seen these RTTs, each on the first ACK of a new round trip."""
    flow = Flow("timely", **{"rate_bps": 50 * GBPS, **options})
    for rtt_us in rtts_us:
        step(flow, rtt_us)
    return flow


def step(flow, rtt_us):
    """The ACK past everything that was out at the last update; ten more packets are out by then."""
    number = flow.timely_update_after + 1
    return flow.ack(10**10, number, sent=number + 9, rtt_ps=int(rtt_us * US))


def test_the_first_rtt_is_only_stored():
    flow = flow_after(700)
    assert flow.rate_bps == 50 * GBPS
    assert flow.timely_last_rtt_ps == 700 * US
    assert (flow.timely_difference_ns, flow.timely_increases, flow.timely_update_after) == (0, 0, 10)


def test_one_update_per_round_trip():
    flow = flow_after(40)
    assert flow.ack(1, 10, sent=30, rtt_ps=900 * US) == 50 * GBPS, "10 was out at the last update"
    assert flow.timely_last_rtt_ps == 40 * US
    assert flow.ack(2, 11, sent=30, rtt_ps=40 * US) == 50_100 * MBPS
    assert flow.timely_update_after == 30


def test_below_the_low_threshold_it_adds_whatever_the_gradient():
    flow = flow_after(10)
    assert step(flow, 49) == 50_100 * MBPS


def test_the_sixth_increase_in_a_row_is_hyper():
    flow = flow_after(40, 40, 40, 40, 40, 40)
    assert flow.rate_bps == 50_500 * MBPS  # five times 100 Mb/s
    assert step(flow, 40) == 51_000 * MBPS  # 500 Mb/s from now on
    assert step(flow, 40) == 51_500 * MBPS


def test_above_the_high_threshold_it_cuts_by_the_excess():
    flow = flow_after(1000)
    # 1 - 0.8 x (1 - 500/1000) = 0.6
    assert step(flow, 1000) == pytest.approx(30 * GBPS, abs=2)
    assert flow.timely_increases == 0


def test_between_the_thresholds_a_rising_rtt_cuts_by_the_gradient():
    flow = flow_after(60)
    # difference 0.875 x 8 us = 7 us; gradient 7/20 = 0.35; 1 - 0.8 x 0.35 = 0.72
    assert step(flow, 68) == pytest.approx(36 * GBPS, abs=2)
    assert flow.timely_difference_ns == pytest.approx(7000)
    # difference 0.125 x 7 + 0.875 x 0 = 0.875 us: gradient 0.04375, factor 0.965
    assert step(flow, 68) == pytest.approx(0.965 * 36 * GBPS, abs=4)


def test_a_steep_gradient_stops_at_the_minimum_rate():
    flow = flow_after(60)
    assert step(flow, 460) == 1_000 * MBPS  # gradient 17.5: the factor would be negative


def test_between_the_thresholds_a_falling_or_level_rtt_adds():
    flow = flow_after(80)
    assert step(flow, 72) == 50_100 * MBPS  # difference -7 us
    flow = flow_after(80)
    assert step(flow, 80) == 50_100 * MBPS


def test_a_cut_ends_the_row_of_increases():
    flow = flow_after(*[40] * 8)
    assert flow.timely_increases == 7
    step(flow, 600)
    assert flow.timely_increases == 0
    before = flow.rate_bps
    assert step(flow, 40) == before + 100 * MBPS


def test_increases_scale_with_the_line_rate_and_stop_at_it():
    flow = flow_after(40, line_bps=400 * GBPS)
    assert step(flow, 40) == 50_400 * MBPS
    flow.set(rate_bps=399_900 * MBPS)
    assert step(flow, 40) == 400 * GBPS
