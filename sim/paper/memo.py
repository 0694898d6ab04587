"""The published memo: conflict graphs with rates as keys, what became of them as values. Nothing else is in the key."""

import hashlib
from collections import OrderedDict
from functools import cache
from math import log, log1p

import numpy as np

from sim.paper.graph import MOST_PAIRS, conflict_graph, shared_pairs
from sim.paper.match import match
from sim.paper.outcome import Outcome

MOST_BYTES = 256 << 20  # of all outcomes together; the least recently used are forgotten
MOST_LIVE = 16  # packet simulations kept to go on with, beside those that somebody waits for


class Memo:
    """Outcomes by conflict graph. Rates whose ratio is below about 1 + theta are one class: they count as equal."""

    def __init__(self, theta: float, *, replay: bool = True):
        self._step, self._replay = log1p(theta), replay
        self.hits, self.misses, self.patterns = 0, 0, 0
        self._live: OrderedDict[Outcome, None] = OrderedDict()
        self._fates: OrderedDict[Outcome, int] = OrderedDict()  # with their bytes when last looked at
        self._as_is: dict[bytes, tuple[Outcome, np.ndarray]] = {}  # by ports in order of use: equal structures have equal graphs
        self._graphs: dict[tuple, list] = {}  # by what isomorphic graphs have in common: outcomes, and how to make their graphs

    def clear(self) -> None:
        """Forget everything; what is in use stays with those who use it."""
        for outcome in self._fates:
            if not outcome.users:
                outcome.release()
        self._fates.clear()
        self._as_is.clear()
        self._graphs.clear()

    def kind(self, rate_bps: float) -> int:
        """The class of a rate."""
        return round(log(max(1.0, rate_bps)) / self._step)

    def look_up(self, paths: list[list[int]], rates_bps: list[float], make) -> tuple[Outcome, np.ndarray, bool]:
        """The outcome of flows that cross these ports (data and ACKs) at these rates.

        Returns it, which flow its i-th is, and whether it was known; `make()` makes a new one.
        """
        kinds = np.array([self.kind(rate) for rate in rates_bps], np.int64)
        found, key = self._find(paths, kinds) if self._replay else (None, None)
        if found is not None:
            found[0].users += 1
            self.hits += 1
            self._fates.move_to_end(found[0])
            return *found, True
        self.misses += 1
        self.patterns += 1
        outcome, same = make(), np.arange(len(paths))
        outcome.users = 1
        if key is not None:
            self._fates[outcome] = 0
            self._remember(outcome, *key)
        return outcome, same, False

    def _find(self, paths, kinds):
        """(outcome and order, or None; the key: structure, sketch and graph)."""
        structure = _structure(paths, kinds)
        if structure in self._as_is:
            return self._as_is[structure], None
        pairs = shared_pairs(paths)
        graph = cache(lambda: conflict_graph(paths, kinds))  # most are told apart without
        sketch = len(paths), pairs, np.sort(kinds).tobytes()
        for outcome, known in self._graphs.get(sketch, ()) if pairs <= MOST_PAIRS else ():
            order = match(known(), graph())
            if order is not None:
                self._as_is[structure] = outcome, order
                return (outcome, order), None
        return None, (structure, sketch, graph)

    def _remember(self, outcome, structure, sketch, graph) -> None:
        self._as_is[structure] = outcome, np.arange(outcome.flows)
        self._graphs.setdefault(sketch, []).append((outcome, graph))

    def grow(self, outcome: Outcome, most: int) -> int:
        """`Outcome.grow`, with the packet simulations and all the memory kept within their limits."""
        cost = outcome.grow(most)
        self._live[outcome] = None
        self._live.move_to_end(outcome)
        if len(self._live) > MOST_LIVE:
            idle = next((one for one in self._live if one.settled or not one.users), None)
            if idle is not None:
                del self._live[idle]
                idle.drop()
        if outcome in self._fates:
            self._fates[outcome] = outcome.nbytes
            if self.nbytes > MOST_BYTES:
                self._forget_half()
        return cost

    def let_go(self, outcome: Outcome) -> None:
        """A partition has gone whose future this was; what nobody can come to need again is released."""
        outcome.users -= 1
        if not outcome.users and outcome not in self._fates:
            self._live.pop(outcome, None)
            outcome.release()

    def _forget_half(self) -> None:
        while len(self._fates) > 1 and self.nbytes > MOST_BYTES // 2:
            outcome, _ = self._fates.popitem(last=False)
            if not outcome.users:
                self._live.pop(outcome, None)
                outcome.release()
        kept = self._fates.keys()
        self._as_is = {structure: found for structure, found in self._as_is.items() if found[0] in kept}
        self._graphs = {sketch: [one for one in some if one[0] in kept] for sketch, some in self._graphs.items()}

    @property
    def nbytes(self) -> int:
        """Bytes of all outcomes."""
        return sum(self._fates.values())

    def drop_all(self) -> None:
        """Let go of every packet simulation, so that what they counted is booked."""
        for outcome in self._live:
            outcome.drop()
        self._live.clear()


def _structure(paths: list[list[int]], kinds: np.ndarray) -> bytes:
    """Digest of rate classes and ports, the latter numbered in order of first use; where a flow is alone it is its rate class."""
    if len(paths) == 1:
        return kinds.tobytes()
    number: dict[int, int] = {}
    words = [number.setdefault(p, len(number)) for path in paths for p in (*path, -1)]
    return hashlib.sha256(kinds.tobytes() + np.array(words, np.int64).tobytes()).digest()
