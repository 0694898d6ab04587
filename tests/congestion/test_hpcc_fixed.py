"""HPCC in whole numbers by hand, against unbounded integers, against the floating-point form, and that it recurs."""

import numpy as np
import pytest

from sim.congestion import hpcc_fixed
from tests.congestion.hand import GBPS, US, Flow
from tests.packet.lab import fct_ps, simulate

RATE = 100 * GBPS
ONE = 1 << 16  # utilisation 1
MB = 1_000_000


def row(time_us, kilobytes, queue_kb=0, rate=RATE):
    return int(time_us * US), int(kilobytes * 1000), int(queue_kb * 1000), rate


def flow_after_first(*telemetry, **options):
    """A flow at 40 Gb/s, target 1, that has stored a first ACK's telemetry with 50 packets out."""
    flow = Flow("hpcc", **{"rate_bps": 40 * GBPS, "target": 1.0, **options})
    flow.ack(0, 1, sent=50, telemetry=telemetry or [row(0, 0)])
    return flow


def test_it_is_what_hpcc_means():
    assert Flow("hpcc").state.g[0]["controller"] == hpcc_fixed.NUMBER


@pytest.mark.parametrize(("target", "whole"), [(0.95, 62259), (1.0, 65536), (0.5, 32768)])
def test_the_target_is_one_whole_number(target, whole):
    assert Flow("hpcc", target=target).state.g[0]["hpcc_fixed_target"] == whole


def test_the_first_ack_only_stores():
    flow = flow_after_first(row(3, 9, 5))
    assert (flow.rate_bps, flow.hpcc_fixed_u, flow.hpcc_update_after) == (40 * GBPS, ONE << 8, 50)
    stored = flow.state.telemetry[int(flow.state.g[0]["telemetry_flows"])]
    assert (stored["time_ps"], stored["tx_bytes"], stored["queue_bytes"]) == (3 * US, 9000, 5000)


def test_utilisation_of_one_hop():
    flow = flow_after_first(row(0, 0, 20))
    flow.ack(1, 2, telemetry=[row(4, 25, 10)])
    # 25 kB are busy for 2 us of 4: 32768; the smaller queue, 10 kB of 100 kB: 6553.6, cut to 6553; together 39321;
    # over half an RTT: the mean of 65536 and 39321, in 1/256: 13421696; cut to 52428
    assert flow.hpcc_fixed_u == (65536 + 39321) * 256 // 2 == 13_421_696
    # 40 Gb/s x 65536 / 52428 = 50.0004 Gb/s, + 40 Mb/s = 50.0404, to the nearest 100 Mb/s
    assert flow.rate_bps == 50 * GBPS


def test_the_moving_average_is_rounded_to_the_nearest():
    flow = flow_after_first(base_rtt_ps=7 * US)
    flow.ack(1, 2, telemetry=[row(3, 12.5)])
    # 1 us of 3: 21845.33, 21845; 65536 x 256 - 43691 x 256 x 3/7 = 16777216 - 4793526.86
    assert flow.hpcc_fixed_u == 16_777_216 - 4_793_527


def test_the_rate_goes_to_the_nearest_thousandth_of_the_line():
    flow = flow_after_first(rate_bps=95 * GBPS, target=0.95)
    flow.ack(1, 2, telemetry=[row(8, 98)])
    # 7.84 us of 8: 64225.28, 64225; 95 Gb/s x 62259/64225 + 0.04 = 92.132 Gb/s
    assert flow.rate_bps == 92_100 * 10**6
    flow = flow_after_first(rate_bps=95 * GBPS, target=0.95)
    flow.ack(1, 2, telemetry=[row(8, 97.95)])
    # 64192.51, 64193; 95 x 62259/64193 + 0.04 = 92.178
    assert flow.rate_bps == 92_200 * 10**6
    flow = flow_after_first(rate_bps=320 * GBPS, line_bps=400 * GBPS, target=0.95)
    flow.ack(1, 2, telemetry=[row(8, 392, rate=400 * GBPS)])
    # the same load: 320 x 62259/64225 + 0.16 = 310.364; to 400 Mb/s
    assert flow.rate_bps == 310_400 * 10**6


def test_at_its_target_a_rate_stays():
    flow = flow_after_first(target=0.95)
    for number in range(2, 400):
        flow.ack(number, number, telemetry=[row(number, 11.875 * number)])  # 95 kB in 8 us
    assert flow.hpcc_fixed_u >> 8 == 62259, "0.95 in 1/65536 is 62259.2"
    assert flow.rate_bps == 40 * GBPS, "40 Mb/s more are below half a quantum"


def test_fast_reaction_leaves_the_reference_until_the_round_trip_is_over():
    flow = flow_after_first()
    flow.ack(1, 50, sent=80, telemetry=[row(4, 30)])
    # 30 kB in 4 us: 39321.6, 39322; mean with 65536: 52429; 40 Gb/s / 0.8 + 40 Mb/s
    assert flow.hpcc_fixed_u >> 8 == 52429
    assert (flow.rate_bps, flow.hpcc_reference_bps, flow.hpcc_update_after) == (50 * GBPS, 40 * GBPS, 50)
    flow.ack(2, 51, sent=90, telemetry=[row(8, 60)])
    # mean of 52429 and 39322: 45875.5; from the same reference: 40/0.7 + 0.04 = 57.183
    assert flow.hpcc_fixed_u == (52429 + 39322) * 128
    assert flow.rate_bps == flow.hpcc_reference_bps == 57_200 * 10**6
    assert flow.hpcc_update_after == 90


def test_the_most_loaded_hop_decides():
    flow = flow_after_first(row(0, 0, 40), row(0, 0, 0, 400 * GBPS), links=3)
    flow.ack(1, 2, telemetry=[row(2, 5, 30), row(4, 120, 0, 400 * GBPS)])
    # hop 1: 0.2 + 0.3 over 2 us; hop 2: 120 kB at 400 Gb/s, 2.4 us of 4: 39321.6, 39322: 0.6 over half an RTT
    assert flow.hpcc_fixed_u == (65536 + 39322) * 128


def test_a_queue_counts_more_on_a_slower_link():
    flow = flow_after_first(row(0, 0, 10, 25 * GBPS))
    flow.ack(1, 2, telemetry=[row(8, 0, 10, 25 * GBPS)])
    assert flow.hpcc_fixed_u == (4 * ONE // 10) << 8  # 10 kB x (100/25) of 100 kB, over a whole RTT: 26214.4, cut


def test_an_additive_stage_takes_at_least_one_quantum():
    flow = flow_after_first(max_stage=2)
    rates = []
    for now, number in ((8, 51), (16, 101), (24, 151)):
        flow.ack(now, number, sent=number + 49, telemetry=[row(now, 50 * now / 8)])  # u = 0.5
        rates.append(flow.rate_bps)
    assert rates == [40_100 * 10**6, 40_200 * 10**6, 80_400 * 10**6]
    flow = flow_after_first(max_stage=2, additive_mbps=300)
    assert flow.ack(8, 51, telemetry=[row(8, 50)]) == 40_300 * 10**6


def test_the_rate_stays_between_minimum_and_line():
    assert flow_after_first().ack(1, 2, telemetry=[row(8, 1)]) == RATE
    assert flow_after_first(rate_bps=2 * GBPS).ack(1, 2, telemetry=[row(8, 1000)]) == 1 * GBPS  # u = 10
    idle = flow_after_first()
    assert idle.ack(1, 2, telemetry=[row(80, 0)]) == RATE, "nothing sent at all: as fast as the line"


def nearest(numerator, denominator):
    return (2 * numerator + denominator) // (2 * denominator)


def by_formula(u, reference_bps, before, after, line_bps, window, rtt_ps):
    """(u in 2^-24, rate) by the formulas in integers without bounds, utilisation up to 4096; target 0.95, 40 Mb/s at 100 Gb/s, at least 1 Gb/s."""
    most, dt = -1, 0
    for (t0, b0, q0, _), (t1, b1, q1, bps) in zip(before, after, strict=True):
        if t1 > t0:
            busy = (b1 - b0) * 8 * 10**12 // bps
            v = nearest(busy << 16, t1 - t0) + ((min(q0, q1) * line_bps // bps) << 16) // window
            most, dt = (v, t1 - t0) if v > most else (most, dt)
    u += nearest(((min(most, 4096 * ONE) << 8) - u) * min(dt, rtt_ps), rtt_ps)
    quantum = line_bps // 1000
    whole = u >> 8
    rate = (reference_bps * 62259 + whole // 2) // whole + line_bps // 2500 if whole else line_bps
    return u, min(line_bps, max(GBPS, nearest(rate, quantum) * quantum))


@pytest.mark.parametrize("line_gbps", [100, 400, 800])
def test_nothing_overflows(line_gbps):
    """Thousands of random ACKs: gaps of 10 ns to 10 s, queues up to 64 MB, links 25 to 800 Gb/s, round trips 1 to 67 us."""
    draw = np.random.default_rng(line_gbps)
    for rtt_us in (1, 8, 67):
        line, rtt = line_gbps * GBPS, rtt_us * US
        rates = [int(rate) * GBPS for rate in draw.choice([25, 100, 400, 800], 2)]
        flow = Flow("hpcc", links=3, line_bps=line, base_rtt_ps=rtt)
        before = [(0, 0, 0, bps) for bps in rates]
        flow.ack(0, 1, sent=2**30, telemetry=before)
        u, window = ONE << 8, flow.window_bytes
        for number in range(1000):
            after = []
            for time, sent, _, bps in before:
                gap = int(10 ** draw.uniform(4, 13))
                most = bps // 8 * gap // 10**12 + 4096
                after.append((time + gap, sent + int(most * draw.choice([draw.random(), 1])), int(10 ** draw.uniform(0, 7.8)), bps))
            u, rate = by_formula(u, line, before, after, line, window, rtt)
            flow.ack(number, 1, telemetry=after)
            assert (flow.hpcc_fixed_u, flow.rate_bps) == (u, rate)
            before = after


@pytest.mark.parametrize(
    ("telemetry", "utilisation"),
    [
        ((1, 2**62, 0, 800 * GBPS), 4096),  # a counter that belongs to another port since a failure
        ((10**6, -(10**12), 10**6, 800 * GBPS), 1_000_000 / 800_000),
        ((1, 2**62, 2**62, 1), 4096),
        ((2**61, 2**40, 0, 800 * GBPS), None),
    ],
)
def test_the_absurd_saturates(telemetry, utilisation):
    flow = Flow("hpcc", line_bps=800 * GBPS)
    first = (0, 0, telemetry[2], telemetry[3])
    flow.ack(0, 1, sent=9, telemetry=[first])
    flow.set(base_rtt_ps=1)  # all of it counts
    rate = flow.ack(1, 2, telemetry=[telemetry])
    assert GBPS <= rate <= 800 * GBPS
    assert 0 <= flow.hpcc_fixed_u <= 4096 * ONE << 8
    if utilisation is not None:
        assert flow.hpcc_fixed_u == int(utilisation * ONE) << 8


@pytest.mark.parametrize("rtt_ms", [0.1, 1, 10, 100])
def test_a_long_round_trip_is_averaged_in_coarser_time(rtt_ms):
    rtt = int(rtt_ms * 1000 * US)
    flow = flow_after_first(base_rtt_ps=rtt, line_bps=800 * GBPS)
    flow.ack(1, 2, telemetry=[(rtt // 100, rtt // 100 // 20, 0, 800 * GBPS)])  # 10 ps a byte: u = 0.5
    assert flow.hpcc_fixed_u == pytest.approx((1 - 0.5 / 100) * (ONE << 8), rel=1e-6)


def star(hosts, pairs, size=10 * MB, **options):
    links = [(host, hosts, 100, 1000) for host in range(hosts)]
    return simulate(links, [(src, dst, size) for src, dst in pairs], hosts=hosts, congestion_control="hpcc", **options)


TRAFFIC = {
    "lone": (2, [(0, 1)]),
    "ring of 8": (8, [(host, (host + 1) % 8) for host in range(8)]),
    "incast 2:1": (3, [(0, 2), (1, 2)]),
}


@pytest.mark.parametrize("traffic", TRAFFIC)
def test_completion_times_are_those_of_the_floating_point_form(traffic):
    fixed, floating = (np.array(fct_ps(star(*TRAFFIC[traffic], hpcc_arithmetic=form))) for form in ("fixed", "float"))
    assert fixed.mean() == pytest.approx(floating.mean(), rel=1e-3)
    assert fixed.max() == pytest.approx(floating.max(), rel=3e-4 if traffic == "incast 2:1" else 1e-3)


def states(*traffic, from_us):
    """{packets acknowledged: (u, rate, reference)} of the first flow, at the end of each lookahead window from then on."""
    sim, seen = star(*traffic, ends=None), {}
    while not sim.advance(1):
        flow = sim.state.flow[0]
        if sim.state.g[0]["now"] >= from_us * US and flow["flow_id"] >= 0:
            seen[int(flow["acked_packets"])] = flow[["hpcc_fixed_u", "rate_bps", "hpcc_reference_bps"]].tolist()
    return seen


def test_a_lone_flow_comes_to_rest():
    seen = states(*TRAFFIC["lone"], from_us=200)
    assert len(seen) > 600, "10 MB take 0.92 ms"
    assert len(set(seen.values())) == 1
    u, rate, reference = seen.popitem()[1]
    assert rate == reference == 95 * GBPS and u >> 8 == 62260, "0.95 of the line"


@pytest.mark.parametrize(("traffic", "settled_us", "period"), [("ring of 8", 220, 22), ("incast 2:1", 800, 141)])
def test_shared_links_come_to_a_cycle(traffic, settled_us, period):
    """The state then depends on nothing but the number of the ACK modulo the period."""
    seen = states(*TRAFFIC[traffic], from_us=settled_us)
    seen = {number: state for number, state in seen.items() if number < 9500}  # the last flow to end is alone
    assert len(seen) > 4 * period
    cycle = {number % period: state for number, state in seen.items()}
    assert all(cycle[number % period] == state for number, state in seen.items())
