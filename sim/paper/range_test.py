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
        self._past = None  # by block: lowest and highest rate, sum of the rates, bytes delivered by its end
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
        if self._past is None:
            self._past = np.zeros((4, self.blocks, len(rates)))
        place = (self._count // self.block - 1) % self.blocks
        before = self._past[3, place].copy()  # delivered when the window began, and nothing at the start
        self._past[:, place] = low, high, total, delivered_bytes
        low.fill(np.inf)
        high.fill(0)
        total.fill(0)
        if self._count < self.window:
            return None
        spread = self._past[1].max(axis=0) - self._past[0].min(axis=0)
        steady = spread * self.window < self.theta * self._past[2].sum(axis=0)
        return delivered_bytes - before if steady.all() else None

    @property
    def nbytes(self) -> int:
        """Bytes that the blocks take."""
        return 0 if self._past is None else self._past.nbytes
