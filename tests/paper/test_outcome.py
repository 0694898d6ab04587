"""What becomes of a graph, on scripted transients: knots, steady rates, first ends, and what is asked beyond them."""

import numpy as np
import pytest

from sim.paper import outcome as outcomes
from sim.paper.outcome import KNOT_SHARE, Outcome

MANY = 10**9


class Scripted:
    """Flows that deliver so many bytes a sample at a rate of as much; `change` from some sample on."""

    counted, slowest = None, 0.0

    def __init__(self, per_sample, sizes=None, change=None):
        self.per_sample, self.sizes, self.change = np.array(per_sample, float), sizes, change
        self.number, self.cost, self.looks = 0, 0, []

    def packet_hops(self):
        return self.cost

    def catch_up(self, number, most):
        if most <= 0:
            return False
        self.cost += 10 * max(0, number - self.number)
        self.number = max(number, self.number)
        self.looks.append(number)
        return True

    def _at(self, time):
        first = self.per_sample * min(time, self.change[0] if self.change else time)
        return first + (np.array(self.change[1]) * max(0, time - self.change[0]) if self.change else 0)

    def delivered_bytes(self):
        sent = self._at(self.number)
        return sent if self.sizes is None else np.minimum(sent, self.sizes)

    def rates_bps(self):
        return self.per_sample if not self.change or self.number <= self.change[0] else np.array(self.change[1], float)

    def ends(self):
        if self.sizes is None:
            return np.full(len(self.per_sample), np.inf)
        ends = np.array(self.sizes) / self.per_sample
        return np.where(ends <= self.number, ends, np.inf)

    def tell(self):
        self.told = self.number

    def carried(self):
        return np.full(len(self.per_sample), self.number)


def outcome_of(*scripts, need=(1e9, 1e9), theta=0.05, samples=40, may_skip=True):
    made, shown = list(scripts), []
    outcome = Outcome(lambda endless: made.pop(0), shown.append, np.array(need[: len(scripts[0].per_sample)], float), theta, samples, may_skip)
    return outcome, shown


def grown(outcome, until=np.inf, most=MANY):
    while outcome.known < until and not outcome.settled:
        outcome.grow(most)
    return outcome


def test_steady_rates_are_known_for_ever():
    outcome = grown(outcome_of(Scripted([100, 50]))[0])
    assert outcome.settled and outcome.length == 40 and outcome.end_rates.tolist() == [100, 50]
    assert outcome.at(20).tolist() == [2000, 1000] and outcome.at(1000).tolist() == [100_000, 50_000]
    assert outcome.first(np.array([60_000.0, 20_000.0])) == pytest.approx(400, abs=1e-3)
    assert outcome.executed == 400, "not a sample more than the test needs"


def test_what_is_not_to_be_skipped_never_settles():
    outcome = grown(outcome_of(Scripted([100, 50]), may_skip=False)[0], until=500)
    assert not outcome.settled and outcome.first(np.array([1e6, 1e6])) is None


def test_end_rates_are_those_of_the_window_not_of_the_way_there():
    outcome = grown(outcome_of(Scripted([300, 10], change=(25, [100, 50])))[0])
    assert outcome.length == 65 and outcome.end_rates.tolist() == [100, 50]
    assert outcome.at(66).tolist() == [300 * 25 + 100 * 41, 10 * 25 + 50 * 41]


def test_knots_are_a_share_of_the_time_apart_and_bytes_even_between_them():
    outcome = grown(outcome_of(Scripted([100]), samples=1000)[0])
    times = np.array(outcome._times)
    assert times[:21].tolist() == list(range(21)) and np.diff(times).max() <= KNOT_SHARE * 1000 + 1
    assert outcome.at(777.5).tolist() == [77_750]
    assert outcome.first(np.array([77_750.0])) == pytest.approx(777.5, abs=1e-3)


def test_found_out_no_further_than_asked_and_in_pieces():
    outcome, _ = outcome_of(Scripted([100]), samples=10_000)
    outcome.grow(MANY)
    assert (outcome.known, outcome.first(np.array([150.0]))) == (1.0, None)
    outcome.grow(MANY)
    assert outcome.first(np.array([150.0])) == pytest.approx(1.5, abs=1e-3)
    while outcome.known < 200:
        assert outcome.grow(5) <= 10


def test_the_first_end_is_exact_and_more_is_found_out_with_endless_flows():
    finite, endless = Scripted([100, 40], sizes=[1234, 1234]), Scripted([100, 40])
    outcome, shown = outcome_of(finite, endless, need=(1234, 1234), samples=1000)
    grown(outcome, until=12.34)
    assert outcome.first(np.array([1234.0, 1234.0])) == pytest.approx(12.34, abs=1e-3)
    assert outcome.at(12.34) == pytest.approx([1234, 493.6]) and shown == []
    assert not outcome.cuts_short(12.34) and outcome.cuts_short(12.3)
    grown(outcome, until=200)
    assert shown == [finite] and endless.looks[0] == 13, "taken to where the finite one was"
    assert outcome.at(100) == pytest.approx([10_000, 4_000], rel=0.01)
    assert outcome.first(np.array([15_000.0, 1e9])) == pytest.approx(150, rel=0.01)


def test_nobody_can_be_stuck_for_ever(monkeypatch):
    monkeypatch.setattr(outcomes, "STUCK_SAMPLES", 200)
    outcome = grown(outcome_of(Scripted([0, 0]), may_skip=False)[0])
    assert outcome.settled and outcome.end_rates.tolist() == [0, 0] and outcome.first(np.array([1.0, 1.0])) == np.inf


def test_what_flows_carry_is_that_of_the_last_knot():
    outcome, _ = outcome_of(Scripted([100]))
    assert outcome.state_at(5) is None and outcome.at(3).tolist() == [0] and outcome.first(np.array([1.0])) is None
    grown(outcome)
    assert outcome.state_at(7.9)[0].tolist() == [7] and outcome.state_at(10_000)[0].tolist() == [40]


def test_released_it_keeps_its_end_rates():
    outcome, shown = outcome_of(Scripted([100]))
    grown(outcome)
    bps = outcome.end_bps()
    outcome.release()
    assert outcome.end_bps().tolist() == bps.tolist() == [100 * 8e6] and outcome.nbytes == 0 and len(shown) == 1
