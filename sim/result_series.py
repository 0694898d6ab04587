"""What every port did over time, in equal bins of a run."""

from dataclasses import dataclass

import numpy as np

from sim.units import PS_PER_S

BITS_PER_BYTE = 8


@dataclass(frozen=True)
class PortSeries:
    """Per port and bin: bytes sent, deepest queue, ECN marks, time paused. The last bin may be shorter."""

    bin_s: float
    t0_s: float
    end_s: float
    rate_bps: np.ndarray  # int64[P]
    tx_bytes: np.ndarray  # int64[P, B]
    max_queue_bytes: np.ndarray  # int32[P, B]
    ecn_marks: np.ndarray  # int32[P, B]
    paused_s: np.ndarray  # float64[P, B]

    @classmethod
    def of(cls, raw) -> "PortSeries":
        """The series of a raw run, in SI units."""
        return cls(
            bin_s=raw.bin_ps / PS_PER_S,
            t0_s=0.0,
            end_s=raw.end_ps_last / PS_PER_S,
            rate_bps=raw.network.port_rate_bps,
            tx_bytes=raw.series_tx_bytes,
            max_queue_bytes=_held_while_paused(raw.series_max_queue_bytes, raw.series_paused_ps, raw.series_tx_bytes),
            ecn_marks=raw.series_marks,
            paused_s=raw.series_paused_ps / PS_PER_S,
        )

    @property
    def n_bins(self) -> int:
        """Time bins, 0 if nothing was recorded."""
        return self.tx_bytes.shape[1]

    @property
    def edges_s(self) -> np.ndarray:
        """Bin boundaries, float64[B+1]; the last one is the end of the run."""
        edges = self.t0_s + self.bin_s * np.arange(self.n_bins + 1)
        if self.n_bins:
            edges[-1] = max(min(edges[-1], self.end_s), edges[-2])
        return edges

    @property
    def middles_s(self) -> np.ndarray:
        """Middle of each bin, float64[B]."""
        edges = self.edges_s
        return (edges[:-1] + edges[1:]) / 2

    @property
    def widths_s(self) -> np.ndarray:
        """Length of each bin, float64[B]; the last may be shorter."""
        return np.diff(self.edges_s)

    def bin_at(self, time_s: float) -> int:
        """The bin that holds a time, clipped to the run."""
        return int(np.clip((time_s - self.t0_s) / self.bin_s, 0, max(self.n_bins - 1, 0)))

    def utilisation(self, bin: int) -> np.ndarray:
        """Share of each port's capacity used during a bin, float64[P] in 0..1."""
        return self._share(self.tx_bytes[:, bin], self.widths_s[bin] * self.rate_bps)

    def utilisation_of(self, port_id: int) -> np.ndarray:
        """One port's utilisation over time, float64[B] in 0..1."""
        return self._share(self.tx_bytes[port_id], self.widths_s * self.rate_bps[port_id])

    def peak_utilisation(self) -> np.ndarray:
        """Each port's busiest bin, float64[P] in 0..1."""
        if not self.n_bins:
            return np.zeros(len(self.rate_bps))
        return self._share(self.tx_bytes, self.widths_s * self.rate_bps[:, None]).max(axis=1)

    @staticmethod
    def _share(tx_bytes, capacity_bits) -> np.ndarray:
        capacity_bits = np.asarray(capacity_bits, dtype=float)
        share = np.divide(
            tx_bytes * BITS_PER_BYTE, capacity_bits, out=np.zeros(np.shape(tx_bytes)), where=capacity_bits > 0
        )
        return np.clip(share, 0.0, 1.0)


def _held_while_paused(queue_bytes: np.ndarray, paused_ps: np.ndarray, tx_bytes: np.ndarray) -> np.ndarray:
    """Deepest queues int[P, B]; a bin with a pause to which nothing came begins with what the bin before left.

    The kernel notes a queue when a packet comes. What was sent after the last one came is known from the second such bin on.
    """
    held = (queue_bytes == 0) & (paused_ps > 0)
    if not held.any():
        return queue_bytes
    filled = queue_bytes.copy()
    for b in np.flatnonzero(held.any(axis=0)):
        if b > 0:
            sent = np.where(held[:, b - 1], tx_bytes[:, b - 1], 0)
            filled[:, b] = np.where(held[:, b], np.maximum(filled[:, b - 1] - sent, 0), filled[:, b])
    return filled
