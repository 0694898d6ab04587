"""What becomes of a conflict graph: bytes of each flow through its transient, and its end rates; found out as far as it is needed."""

import numpy as np

from sim.paper.range_test import RangeTest
from sim.paper.transient import SAMPLE_PS, Transient
from sim.units import BITS_PER_BYTE, PS_PER_S

KNOT_SHARE = 0.05  # knots are so much of the time passed apart, at least a sample
SHORT_SAMPLES = 1e-3  # a nanosecond less is no less
SLACK_BYTES = 1e-4  # what rounding may leave of a flow
STUCK_SAMPLES, STUCK_PACKETS = 50_000, 20  # 50 ms and so many packets at the slowest port in which nobody delivers anything: nobody will
SAMPLES_PER_S = PS_PER_S // SAMPLE_PS


class Outcome:
    """The future of flows that begin together, whatever their sizes: simulated once, known to everybody whose graph matches.

    Time is in samples since the episode's start, a float; `known` is how far it is known, infinite once the rates are steady.
    Between knots bytes grow evenly. `make(endless)` makes the packet simulation when it is needed, `book` is shown it before it is
    dropped. It is found out with flows that have `need_bytes` left, until one of them has sent that, and beyond with flows without end.
    """

    def __init__(self, make, book, need_bytes: np.ndarray, theta: float, samples: int, may_skip: bool):
        self._make, self._book, self._may_skip, self.flows = make, book, may_skip, len(need_bytes)
        self._need_bytes, self._endless = need_bytes, False
        self.transient: Transient | None = None
        self._enough, self._first_end, self._counted = False, None, None
        self._test = RangeTest(theta, samples, self.flows)
        self.known, self.settled = 0.0, False
        self.samples = 0  # simulated
        self._next_knot, self._last_progress = 1, 0
        self._times, self._sent, self._carried, self._rates = [], [], [], []
        self._arrays = None
        self.end_rates = np.zeros(self.flows)  # bytes a sample
        self.executed = 0  # packet-hops
        self.users = 0  # partitions that it is the future of

    def grow(self, most: int) -> int:
        """Find out up to the next knot, or as far as `most` goes; what it cost (`Transient.cost`)."""
        if self._enough and not self._endless:
            self.drop()
            self._endless = True
        if self.transient is None:
            self.transient = self._make(self._endless)
            self.transient.counted = self._counted
        transient, known = self.transient, self.known
        began, hops = transient.cost, transient.packet_hops()
        if transient.catch_up(self.samples, most):
            if not self._times:
                self._add_knot(0.0, np.zeros(self.flows))
            while self.known == known and transient.catch_up(self.samples + 1, began + most - transient.cost):
                self._sample()
        self.executed += transient.packet_hops() - hops
        return max(1, transient.cost - began)

    def _sample(self) -> None:
        self.samples += 1
        transient = self.transient
        sent = np.maximum(transient.delivered_bytes(), self._sent[-1])
        in_window = self._test.add(transient.rates_bps(), sent)
        if (sent > self._sent[-1]).any():
            self._last_progress = self.samples
        stuck = self.samples - self._last_progress > STUCK_SAMPLES + STUCK_PACKETS * transient.slowest
        steady = in_window is not None and self._may_skip
        ends = transient.ends()
        enough = not (self._enough or self._endless) and bool(ends.min() <= self.samples or (sent >= self._need_bytes - SLACK_BYTES).any())
        self._enough |= enough
        if not (steady or stuck or enough or self.samples >= self._next_knot):
            return
        if enough:
            self._add_end(ends, sent)
        self._add_knot(float(self.samples), sent)
        self.known = float(self.samples)
        self._next_knot = max(self.samples + 1, int(self.samples * (1 + KNOT_SHARE)))
        if steady or stuck:
            self.end_rates = in_window / self._test.window if steady else self.end_rates
            self.settled, self.known = True, np.inf

    def _add_end(self, ends: np.ndarray, sent: np.ndarray) -> None:
        """A knot where the first flow is delivered, which is in the sample that ends with `sent`."""
        first, last = float(ends.min()), self._times[-1]
        self._first_end = min(first, float(self.samples))
        if last < first < self.samples:
            between = self._sent[-1] + (sent - self._sent[-1]) * ((first - last) / (self.samples - last))
            self._add_knot(first, np.where(ends == first, self._need_bytes, between))
            np.maximum(sent, self._sent[-1], out=sent)

    def _add_knot(self, time: float, sent: np.ndarray) -> None:
        self._times.append(time)
        self._sent.append(sent)
        self._carried.append(self.transient.carried())
        self._rates.append(self.transient.rates_bps())
        self.transient.tell()
        self._arrays = None

    def drop(self) -> None:
        """Let go of the packet simulation; it is made again if more has to be found out."""
        if self.transient is not None:
            self._book(self.transient)
            self._counted, self.transient = self.transient.counted, None

    def hand_on(self, flows: np.ndarray, passed: float, need_bytes: np.ndarray) -> "Outcome | None":
        """The outcome of those of the flows that are left at `passed`, found out by going on with this one's simulation; None if that cannot be."""
        transient = self.transient
        if transient is None or self.samples > passed + 1 or not (self.settled or self.samples >= passed):
            return None
        passed = min(passed, self.length)
        again = transient.go_on(flows, passed, self.at(passed)[flows], need_bytes)
        self._book(transient)
        self._counted, self.transient = transient.counted, None
        outcome = Outcome(again, self._book, need_bytes, self._test.theta, self._test.samples, self._may_skip)
        outcome.transient = transient
        return outcome

    @property
    def length(self) -> float:
        """Samples of the transient, as far as it is known."""
        return self._times[-1] if self._times else 0.0

    def cuts_short(self, time: float) -> bool:
        """Whether a change at that time comes before the transient has run its course: up to steady rates, or to its own first end."""
        course = self.length if self._first_end is None else self._first_end
        return time < course - SHORT_SAMPLES

    @property
    def nbytes(self) -> int:
        """Bytes that remembering it takes."""
        test = 0 if self._test is None else self._test.nbytes
        return test + sum(part.nbytes for parts in (self._sent, self._carried, self._rates) for part in parts)

    def release(self) -> None:
        """Nobody will ask any more: keep the counts and the end rates."""
        self.drop()
        self.end_rates = self.end_bps() / (BITS_PER_BYTE * SAMPLES_PER_S)
        self.settled, self._test = True, None
        self._times, self._sent, self._carried, self._rates, self._arrays = [], [], [], [], None

    def _knots(self) -> tuple[np.ndarray, np.ndarray]:
        if self._arrays is None:
            self._arrays = np.array(self._times), np.stack(self._sent)
        return self._arrays

    def first(self, need_bytes: np.ndarray) -> float | None:
        """When the first flow has delivered what it needs to; infinite if none ever will, None if that is not known yet."""
        if not self._times:
            return None
        times, sent = self._knots()
        need_bytes = need_bytes - SLACK_BYTES
        reached = np.flatnonzero(sent[-1] >= need_bytes)
        if len(reached):
            need = need_bytes[reached]
            k = np.maximum(1, (sent[:, reached] >= need).argmax(axis=0))
            low, high = sent[k - 1, reached], sent[k, reached]
            return float((times[k - 1] + (need - low) / (high - low) * (times[k] - times[k - 1])).min())
        if not self.settled:
            return None
        moving = self.end_rates > 0
        if not moving.any():
            return np.inf
        return float(times[-1] + ((need_bytes - sent[-1])[moving] / self.end_rates[moving]).min())

    def at(self, time: float) -> np.ndarray:
        """float64[n]: bytes delivered by then."""
        if not self._times:
            return np.zeros(self.flows)
        times, sent = self._knots()
        if time >= times[-1]:
            return sent[-1] + self.end_rates * (time - times[-1])
        k = int(np.searchsorted(times, time, side="right"))
        return sent[k - 1] + (sent[k] - sent[k - 1]) * ((time - times[k - 1]) / (times[k] - times[k - 1]))

    def state_at(self, time: float) -> tuple[np.ndarray, np.ndarray] | None:
        """(what flows carry, the rates they are allowed in bit/s) at the last knot by then; None if nobody has looked yet."""
        k = min(len(self._rates), int(np.searchsorted(self._times, time, side="right"))) - 1
        return (self._carried[k], self._rates[k]) if k >= 0 else None

    def end_bps(self) -> np.ndarray:
        """float64[n]: payload rates at the end of what is known."""
        if self.settled:
            return self.end_rates * (BITS_PER_BYTE * SAMPLES_PER_S)
        return self.at(self.length) * (BITS_PER_BYTE * SAMPLES_PER_S) / max(1.0, self.length)
