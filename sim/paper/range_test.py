"""The published test for a steady rate: (max R - min R) / mean R below theta over l samples (Long et al., NSDI 2026)."""

import numpy as np

BLOCKS = 128  # the window moves on by a block of samples, an l-th of 128 at most: its memory does not grow with l


class RangeTest:
    """The last `samples` samples of the rates of some flows, in blocks.

    It looks at whole blocks only: at the end of each, over the least number of blocks that hold `samples`.
    """

    def __init__(self, theta: float, samples: int, flows: int):
        self.theta, self.samples = theta, samples
        self.block = max(1, samples // BLOCKS)
        self.blocks = -(-samples // self.block)
        self._low, self._high = np.full((2, self.blocks, flows), np.nan)
        self._sum, self._bytes = np.zeros((2, self.blocks, flows))
        self._now = [np.full(flows, np.inf), np.zeros(flows), np.zeros(flows)]
        self._count = 0

    @property
    def window(self) -> int:
        """Samples that are looked at: `samples`, or up to a block more."""
        return self.block * self.blocks

    def add(self, rates: np.ndarray, delivered_bytes: np.ndarray) -> np.ndarray | None:
        """Take one more sample. Bytes that each flow has delivered in the window, if all are steady in it."""
        low, high, total = self._now
        np.minimum(low, rates, out=low)
        np.maximum(high, rates, out=high)
        total += rates
        self._count += 1
        if self._count % self.block:
            return None
        place = (self._count // self.block - 1) % self.blocks
        before = self._bytes[place].copy()  # delivered when the window began, and nothing at the start
        self._low[place], self._high[place], self._sum[place], self._bytes[place] = low, high, total, delivered_bytes
        low.fill(np.inf)
        high.fill(0)
        total.fill(0)
        if self._count < self.window:
            return None
        spread = self._high.max(axis=0) - self._low.min(axis=0)
        steady = spread * self.window < self.theta * self._sum.sum(axis=0)
        return delivered_bytes - before if steady.all() else None
