"""What is read off curves: rates, end values and when they are reached, on made-up curves that say it themselves."""

import math

import numpy as np
import pytest

from sim.convergence_curves import Curves

US = 10**6  # ps
PACKET = 1000


def curves(delivered_of_us, ended_us=None, samples=1000, length_us=1000.0):
    """Curves of flows whose delivered bytes are given as functions of the time in us."""
    times_us = np.arange(samples + 1) * (length_us / samples)
    delivered = np.stack([np.vectorize(of)(times_us) for of in delivered_of_us], axis=1)
    n = delivered.shape[1]
    ended = np.full(n, -1) if ended_us is None else np.array([-1 if end is None else end * US for end in ended_us], np.int64)
    return Curves(
        np.arange(n), np.array([0]), (times_us * US).astype(np.int64), np.floor(delivered).astype(np.int64), np.zeros((samples + 1, 1), np.int64),
        delivered[-1].astype(np.int64), ended, np.full(n, 1e10), PACKET, int(length_us * US), 0, "",
    )  # fmt: skip


def steady(gbps):
    return lambda us: gbps * 125 * us


def relaxing(gbps, tau_us):
    """Payload of a rate that starts at half of its end value and nears it exponentially."""
    return lambda us: gbps * 125 * (us - 0.5 * tau_us * (1 - math.exp(-us / tau_us)))


def test_rates_are_what_was_delivered_over_the_window():
    both = curves([steady(40), steady(60)])
    middles_ps, rates = both.rates()
    np.testing.assert_allclose(rates, [[40e9, 60e9]] * len(rates), rtol=1e-3)
    assert middles_ps[0] == both.window * US / 2 and both.end_bps() == pytest.approx([40e9, 60e9])


def test_a_window_holds_packets_enough_unless_there_are_too_few_of_them():
    assert curves([steady(400)]).window == 2, "a 400th of the time; one sample would hold 50 packets"
    assert curves([steady(8)]).window == 25, "25 packets at one a us"
    assert curves([steady(0.8)]).window == 83, "a twelfth of the time, and 8 packets in it"


def test_a_rate_has_converged_when_it_stays_within_five_percent():
    """1 - exp(-t / tau) / 2 is within 5 %, and one packet of the 100 in a window of 2 us, from t = tau ln(0.5 / 0.06) on."""
    found = curves([relaxing(400, 100.0), steady(400)]).converged_ps()
    assert found == pytest.approx(100 * math.log(0.5 / 0.06) * US, rel=0.01)


def test_steady_rates_have_converged_from_the_first_window_on():
    both = curves([steady(40), steady(60)])
    assert both.converged_ps() == both.window * US / 2


def test_what_swings_on_has_not_converged():
    swinging = curves([lambda us: 50_000 * us + 400_000 * math.sin(us / 40), steady(400)])
    assert swinging.converged_ps() is None


def test_what_still_rises_at_the_end_has_not_converged():
    """A rate that grows evenly is 7/8 of its last value on average over the last quarter, and within 6 % of that only in there."""
    assert curves([lambda us: 50 * us * us]).converged_ps() is None


def test_packets_too_few_to_tell():
    for given in ([steady(400), steady(0.2)], [lambda us: 0.0]):
        assert not curves(given).tells and curves(given).converged_ps() is None
    assert curves([steady(400), steady(100)]).tells


def test_what_happens_once_a_flow_has_ended_does_not_count():
    """Flow 1 ends at 400 us, flow 0 then has twice its rate: until then both are steady."""
    shared = curves([lambda us: 5000 * us + 5000 * max(0, us - 400), lambda us: 5000 * min(us, 400)], ended_us=[None, 400])
    assert shared.until == 399 and shared.end_bps() == pytest.approx([40e9, 40e9]) and shared.converged_ps() == shared.window * US / 2
    _, rates = shared.rates()
    assert np.isnan(rates[401:, 1]).all() and rates[-1, 0] == pytest.approx(80e9)


@pytest.mark.parametrize("samples", [1, 2, 13])
def test_hardly_any_samples(samples):
    few = curves([steady(40)], samples=samples, length_us=float(samples))
    assert len(few.rates()[0]) == samples and few.end_bps() == pytest.approx([40e9])
