"""How rates and queues settle: what was delivered and queued, sample by sample, and what can be read off it."""

from dataclasses import dataclass

import numpy as np

from sim.units import BITS_PER_BYTE, PS_PER_S

WITHIN = 0.05  # of its end value is where a rate has converged
LAST_PART = 0.25  # of the time before a first flow ended: the mean of a rate there is its end value
LEAST_PACKETS = 25  # of a flow in the time over which its rate is taken, on average
LEAST_WINDOWS, MOST_WINDOWS = 12, 400  # into which the time until a first flow ends is cut
FEWEST_PACKETS = 5  # in a window of the slowest flow: with fewer nothing can be said


@dataclass(frozen=True)
class Curves:
    """S samples of n flows and q ports, the first at time 0; flows and ports by their ids in the result."""

    flows: np.ndarray  # int64[n]
    ports: np.ndarray  # int64[q], those that flows share, or those of the data of a lone flow
    times_ps: np.ndarray  # int64[S]
    delivered_bytes: np.ndarray  # int64[S, n], payload at the receiver so far
    queue_bytes: np.ndarray  # int64[S, q]
    sent_bytes: np.ndarray  # int64[n], payload that left the sender in all
    ended_ps: np.ndarray  # int64[n], last packet at the receiver, -1: not yet
    fair_bps: np.ndarray  # float64[n], max-min fair rates of payload
    payload_bytes: int
    length_ps: int  # of the episode
    packet_hops: int
    stopped: str  # why the simulation ended before the episode's length; empty if it did not

    @property
    def until(self) -> int:
        """The last sample before a first flow was delivered: from then on others take its share."""
        ended = self.ended_ps[self.ended_ps >= 0]
        return int(np.searchsorted(self.times_ps, ended.min(), side="left")) - 1 if len(ended) else len(self.times_ps) - 1

    @property
    def window(self) -> int:
        """Samples over which a rate is taken: single packets do not show, yet LEAST_WINDOWS fit into what there is."""
        packets = self.delivered_bytes[self.until].mean() / self.payload_bytes
        needed = int(np.ceil(LEAST_PACKETS * self.until / packets)) if packets > 0 else self.until
        return max(1, min(max(needed, self.until // MOST_WINDOWS), self.until // LEAST_WINDOWS))

    def rates(self) -> tuple[np.ndarray, np.ndarray]:
        """(middles of the windows in ps, float64[:, n] bit/s): payload delivered over time; nan from a flow's end on."""
        w = self.window
        middle_ps = (self.times_ps[w:] + self.times_ps[:-w]) / 2
        took_s = (self.times_ps[w:] - self.times_ps[:-w]) / PS_PER_S
        rates = (self.delivered_bytes[w:] - self.delivered_bytes[:-w]) * BITS_PER_BYTE / took_s[:, None]
        over = (self.ended_ps >= 0) & (self.times_ps[w:, None] > self.ended_ps)
        return middle_ps, np.where(over, np.nan, rates)

    def end_bps(self) -> np.ndarray:
        """float64[n]: mean rate over the last part of the time before a first flow ended."""
        last, first = self.until, int(self.until * (1 - LAST_PART))
        took_s = max(1, self.times_ps[last] - self.times_ps[first]) / PS_PER_S
        return (self.delivered_bytes[last] - self.delivered_bytes[first]) * BITS_PER_BYTE / took_s

    @property
    def packet_bps(self) -> float:
        """What one packet more in a window adds to a rate."""
        return self.payload_bytes * BITS_PER_BYTE * PS_PER_S / float(self.times_ps[self.window])

    @property
    def tells(self) -> bool:
        """Whether enough packets arrived of every flow to say if its rate settles."""
        return self.until >= LEAST_WINDOWS and bool(self.end_bps().min() >= FEWEST_PACKETS * self.packet_bps)

    def converged_ps(self) -> float | None:
        """From when on all rates are within 5 % of their end values, or one packet in a window; None if they never are for good.

        What happens in the last part, whose mean is the end value, must come after that. None too where packets are too few to tell.
        """
        if not self.tells:
            return None
        end, shown = self.end_bps(), self.until - self.window + 1
        middle_ps, rates = (part[:shown] for part in self.rates())
        far = np.flatnonzero((np.abs(rates - end) > WITHIN * end + self.packet_bps).any(axis=1))
        first = int(far[-1]) + 1 if len(far) else 0
        if first >= shown or middle_ps[first] > (1 - LAST_PART) * self.times_ps[self.until]:
            return None
        return float(middle_ps[first])
