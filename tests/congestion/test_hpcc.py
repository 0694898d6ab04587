"""HPCC by hand: stored first telemetry, utilisation of one and two hops, fast reaction and full updates."""

import pytest

from tests.congestion.hand import GBPS, MBPS, US, Flow

RATE = 100 * GBPS


def row(time_us, kilobytes, queue_kb=0, rate=RATE):
    return int(time_us * US), int(kilobytes * 1000), int(queue_kb * 1000), rate


def flow_after_first(*telemetry, links=2, **options):
    """A flow at 40 Gb/s, target 1, that has stored a first ACK's telemetry with 50 packets out."""
    flow = Flow("hpcc", links=links, **{"rate_bps": 40 * GBPS, "target": 1.0, **options}, arithmetic="float")
    flow.ack(0, 1, sent=50, telemetry=telemetry or [row(0, 0)])
    return flow


def test_the_first_ack_only_stores():
    flow = flow_after_first(row(3, 9, 5))
    assert flow.rate_bps == 40 * GBPS and flow.hpcc_u == 1.0
    assert flow.hpcc_update_after == 50
    stored = flow.state.telemetry[int(flow.state.g[0]["telemetry_flows"])]
    assert (stored["time_ps"], stored["tx_bytes"], stored["queue_bytes"]) == (3 * US, 9000, 5000)


def test_utilisation_of_one_hop():
    flow = flow_after_first(row(0, 0, 20))
    flow.ack(1, 2, telemetry=[row(4, 25, 10)])
    # 25 kB in 4 us = 50 Gb/s: 0.5; smaller queue 10 kB of a window of 100 kB: 0.1; over half an RTT: 1 x 4/8 + 0.6 x 4/8 = 0.8
    assert flow.hpcc_u == pytest.approx(0.8)
    assert flow.rate_bps == pytest.approx(50_040 * MBPS, abs=2)  # 40 Gb/s / 0.8 + 40 Mb/s


def test_fast_reaction_leaves_the_reference_until_the_round_trip_is_over():
    flow = flow_after_first()
    flow.ack(1, 50, sent=80, telemetry=[row(4, 30)])
    # u = 0.6: U = (1 + 0.6)/2 = 0.8
    assert flow.rate_bps == pytest.approx(50_040 * MBPS, abs=2)
    assert (flow.hpcc_reference_bps, flow.hpcc_update_after) == (40 * GBPS, 50)
    flow.ack(2, 51, sent=90, telemetry=[row(8, 60)])
    # again u = 0.6 over half an RTT: U = (0.8 + 0.6)/2 = 0.7; from the same reference: 40/0.7 + 0.04
    assert flow.rate_bps == pytest.approx(40 * GBPS / 0.7 + 40 * MBPS, abs=2)
    assert flow.hpcc_reference_bps == flow.rate_bps
    assert flow.hpcc_update_after == 90


def test_without_fast_reaction_only_full_updates_count():
    flow = flow_after_first(fast_react=0)
    assert flow.ack(1, 50, sent=80, telemetry=[row(4, 30)]) == 40 * GBPS
    assert flow.hpcc_u == 1.0
    flow.ack(2, 51, sent=90, telemetry=[row(8, 80)])
    # 80 kB in the 8 us since the first ACK: u = 0.8 over a whole RTT
    assert flow.hpcc_u == pytest.approx(0.8)
    assert flow.rate_bps == pytest.approx(50_040 * MBPS, abs=2)


def test_the_most_loaded_hop_decides():
    flow = flow_after_first(row(0, 0, 40), row(0, 0, 0, 400 * GBPS), links=3)
    flow.ack(1, 2, telemetry=[row(2, 5, 30), row(4, 100, 0, 400 * GBPS)])
    # hop 1: 20/100 + 30/100 = 0.5 over 2 us; hop 2: 200/400 = 0.5 over 4 us: the first of equals, U = 1 x 6/8 + 0.5 x 2/8
    assert flow.hpcc_u == pytest.approx(0.875)
    flow = flow_after_first(row(0, 0, 40), row(0, 0, 0, 400 * GBPS), links=3)
    flow.ack(1, 2, telemetry=[row(2, 5, 30), row(4, 120, 0, 400 * GBPS)])
    # hop 2: 240/400 = 0.6 over 4 us: U = 1 x 4/8 + 0.6 x 4/8
    assert flow.hpcc_u == pytest.approx(0.8)


def test_a_queue_counts_more_on_a_slower_link():
    flow = flow_after_first(row(0, 0, 10, 25 * GBPS))
    flow.ack(1, 2, telemetry=[row(8, 0, 10, 25 * GBPS)])
    # 10 kB x (100/25) / 100 kB = 0.4 over a whole RTT
    assert flow.hpcc_u == pytest.approx(0.4)


def test_overload_divides_the_rate():
    flow = flow_after_first(row(0, 0, 100))
    flow.ack(1, 2, telemetry=[row(8, 100, 100)])
    # 100 % busy and one window queued: u = 2 over an RTT; 40/2 + 0.04
    assert flow.rate_bps == pytest.approx(20_040 * MBPS, abs=2)


def test_a_gap_longer_than_a_round_trip_counts_as_one():
    flow = flow_after_first()
    flow.ack(1, 2, telemetry=[row(80, 500)])
    assert flow.hpcc_u == pytest.approx(0.5)  # 500 kB in 80 us


def test_additive_stages_before_a_multiplicative_one():
    flow = flow_after_first(max_stage=2)
    now, rates = 0, []
    for number in (51, 101, 151, 201):
        now += 8
        flow.ack(now, number, sent=number + 49, telemetry=[row(now, 50 * now / 8)])  # u = 0.5
        rates.append(flow.rate_bps)
    assert rates[:2] == [40_040 * MBPS, 40_080 * MBPS]
    assert rates[2] == pytest.approx(2 * 40_080 * MBPS + 40 * MBPS, abs=2)
    assert rates[3] == rates[2] + 40 * MBPS
    assert flow.hpcc_stage == 1


def test_the_rate_stays_between_minimum_and_line():
    flow = flow_after_first()
    assert flow.ack(1, 2, telemetry=[row(8, 1)]) == RATE  # u = 0.01
    flow = flow_after_first(rate_bps=2 * GBPS)
    assert flow.ack(1, 2, telemetry=[row(8, 1000)]) == 1 * GBPS  # u = 10


def test_a_pending_send_moves_with_the_rate():
    flow = flow_after_first()
    flow.set(next_at=1_000_000, last_wire_bytes=1250)
    flow.ack(1, 2, telemetry=[row(8, 50)])
    # 10 000 bits: 250 ns at 40 Gb/s, 124.937... ns at 80.04 Gb/s
    assert flow.rate_bps == 80_040 * MBPS
    assert flow.next_at == 1_000_000 - 250_000 + 10_000 * 10**12 // 80_040_000_000


def test_additive_increase_scales_with_the_line_rate():
    flow = flow_after_first(line_bps=400 * GBPS)
    flow.ack(1, 2, telemetry=[row(8, 50)])  # u = 0.5
    assert flow.rate_bps == pytest.approx(80_160 * MBPS, abs=2)  # 40/0.5 + 0.04 x 4


def test_a_path_without_switches_leaves_the_rate_alone():
    flow = flow_after_first(rate_bps=RATE, links=1, target=0.95)
    for number in range(51, 1051, 50):
        flow.ack(number, number, sent=number + 49)
    assert flow.rate_bps >= 0.95 * RATE, "no telemetry, no congestion seen"
