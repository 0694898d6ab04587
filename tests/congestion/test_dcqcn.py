"""DCQCN by hand: timers from the first mark, alpha, cuts, fast recovery, additive and hyper increase."""

import pytest

from tests.congestion.hand import GBPS, MBPS, NS, US, Flow

MARK = 10 * US  # when the first mark comes
CUT = MARK + 4 * US + 1 * NS  # one decrease interval and a nanosecond later
RISE = 300 * US


def marked_flow(**options):
    """A flow that has just got its first mark; gain 1/2 makes round numbers."""
    flow = Flow("dcqcn", **{"gain": 0.5, **options})
    flow.ack(MARK, marked=True)
    return flow


def test_without_a_mark_nothing_ever_moves():
    flow = Flow("dcqcn")
    assert flow.ack(MARK) == flow.at(10**12) == 100 * GBPS
    assert (flow.dcqcn_started, flow.dcqcn_alpha) == (0, 1.0)


def test_the_first_mark_only_starts_the_timers():
    flow = marked_flow()
    assert flow.rate_bps == 100 * GBPS and flow.dcqcn_alpha == 1.0
    assert flow.dcqcn_started == 1
    assert flow.dcqcn_alpha_at == MARK + 1 * US
    assert flow.dcqcn_decrease_at == CUT
    assert flow.at(CUT - 1) == 100 * GBPS


def test_the_first_cut_comes_four_microseconds_and_a_nanosecond_later():
    flow = marked_flow()
    # alpha after 4 unmarked microseconds: (1/2)^4 = 1/16; 100 Gb/s x (1 - 1/32) = 96.875 Gb/s
    assert flow.at(CUT) == 96_875 * MBPS
    assert flow.dcqcn_alpha == 1 / 16
    assert flow.dcqcn_target_bps == 100 * GBPS


def test_alpha_decays_every_microsecond_and_rises_with_marks():
    flow = marked_flow()
    flow.at(MARK + 1 * US)
    assert flow.dcqcn_alpha == 0.5  # the first mark does not count for alpha: 1 x 1/2
    flow.ack(MARK + 1 * US + 1, marked=True)
    flow.at(MARK + 2 * US)
    assert flow.dcqcn_alpha == 0.75  # 1/2 x 1/2 + 1/2
    flow.at(MARK + 3 * US)
    assert flow.dcqcn_alpha == 0.375  # 3/4 x 1/2


def test_the_default_gain_is_one_in_256():
    flow = marked_flow(gain=1 / 256)
    assert flow.at(CUT) == int(100 * GBPS * (1 - (255 / 256) ** 4 / 2))


def test_one_cut_per_marked_interval_and_none_without_a_mark():
    flow = marked_flow()
    flow.at(CUT)
    assert flow.at(CUT + 40 * US) == 96_875 * MBPS, "no mark, no cut"
    for step in range(3):
        flow.ack(CUT + 40 * US + step, marked=True)
    assert flow.at(CUT + 44 * US - 1) == 96_875 * MBPS
    flow.at(CUT + 44 * US)
    # marked at 54.001 us: alpha gets 1/2 at 55 us and is halved at 56, 57 and 58 us, the cut comes at 58.001 us
    assert flow.dcqcn_alpha == pytest.approx(1 / 16, rel=1e-9)
    assert flow.rate_bps == int(96_875 * MBPS * (1 - flow.dcqcn_alpha / 2))


def test_fast_recovery_goes_halfway_back_after_300_us():
    flow = marked_flow()
    flow.at(CUT)
    assert flow.at(CUT + RISE - 1) == 96_875 * MBPS
    assert flow.at(CUT + RISE) == 98_437_500_000  # (96.875 + 100) / 2
    assert flow.dcqcn_stage == 1
    assert flow.dcqcn_target_bps == 100 * GBPS


def test_additive_then_hyper_increase_raise_the_target():
    flow = marked_flow(clamp_target=1)
    flow.at(CUT)
    flow.set(rate_bps=40 * GBPS, dcqcn_target_bps=60 * GBPS)
    assert flow.at(CUT + RISE) == 50 * GBPS  # fast recovery: (40 + 60) / 2
    assert flow.at(CUT + 2 * RISE) == 55_010 * MBPS  # additive: target 60.02; (50 + 60.02) / 2
    assert flow.at(CUT + 3 * RISE) == 57_615 * MBPS  # hyper: target 60.22; (55.01 + 60.22) / 2
    assert flow.at(CUT + 4 * RISE) == 59_017_500_000  # hyper: target 60.42; (57.615 + 60.42) / 2
    assert flow.dcqcn_stage == 2, "past fast recovery and one additive step all stages are alike"


def test_increases_scale_with_the_line_rate_and_stop_at_it():
    flow = marked_flow(line_bps=400 * GBPS)
    flow.at(CUT)
    flow.set(rate_bps=100 * GBPS, dcqcn_target_bps=200 * GBPS, dcqcn_stage=1)
    flow.at(CUT + RISE)
    assert flow.dcqcn_target_bps == 200_080 * MBPS  # 20 Mb/s x 400/100
    flow.set(dcqcn_target_bps=399_900 * MBPS)
    flow.at(CUT + 2 * RISE)
    assert flow.dcqcn_target_bps == 400 * GBPS  # + 800 Mb/s would pass the line rate


def test_a_cut_during_recovery_moves_the_target_to_the_present_rate():
    flow = marked_flow()
    flow.at(CUT + RISE)  # 98.4375 Gb/s, stage 1
    flow.ack(CUT + RISE + 1, marked=True)
    flow.at(CUT + RISE + 4 * US)  # decrease timers run every 4 us from the first cut: 300 is a multiple
    assert flow.dcqcn_target_bps == 98_437_500_000
    assert flow.dcqcn_stage == 0
    assert flow.dcqcn_increase_at == CUT + RISE + 4 * US + RISE


def test_in_the_first_stage_the_target_stays_unless_clamped():
    free, clamped = marked_flow(), marked_flow(clamp_target=1)
    for flow in (free, clamped):
        flow.at(CUT)
        flow.ack(CUT + 1, marked=True)
        flow.at(CUT + 4 * US)
    assert free.dcqcn_target_bps == 100 * GBPS
    assert clamped.dcqcn_target_bps == 96_875 * MBPS


def test_the_rate_never_falls_below_its_minimum():
    flow = marked_flow(rate_bps=1_005 * MBPS)
    assert flow.at(CUT) == 1_000 * MBPS  # 1005 x 31/32 = 973.6


def test_timers_give_the_same_state_however_often_one_looks():
    often, once = marked_flow(), marked_flow()
    for flow in (often, once):
        flow.ack(CUT + 30 * US, marked=True)
    for now in range(CUT + 30 * US, CUT + 2000 * US, 777_777):
        often.at(now)
    assert often.at(CUT + 2000 * US) == once.at(CUT + 2000 * US)
    assert often.dcqcn_alpha == once.dcqcn_alpha and often.dcqcn_stage == once.dcqcn_stage
