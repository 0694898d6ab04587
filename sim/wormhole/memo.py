"""What a run has learnt, for later runs: states, outcomes and joins with the words that they are made of.

A memo belongs to a *namespace*: kernel sources, transport settings and clock. Port classes are numbers of a run; a memo keeps what they stand for.
"""

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from sim.jit import source_fingerprint

RUNS_KEPT = 8  # namespaces in this process
MOST_BYTES = 256 << 20  # of one memo; a larger one is not kept


@dataclass(frozen=True)
class Memo:
    """Arrays as in `layout.Wormhole`, cut to what is used; `classes` float64[fields, classes], one column per port class."""

    arena: np.ndarray
    state: np.ndarray
    outcome: np.ndarray
    join: np.ndarray
    classes: np.ndarray

    @property
    def nbytes(self) -> int:
        return sum(getattr(self, name).nbytes for name in ("arena", "state", "outcome", "join", "classes"))


def namespace(settings, hops_max: int) -> str:
    """Name under which memos may be exchanged: equal names mean that equal states have equal futures."""
    digest = hashlib.sha256(source_fingerprint().encode())
    for name, value in sorted(settings._asdict().items()):
        if name not in ("kmin_bytes", "kmax_bytes", "pmax", "bins", "bin_shift"):  # thresholds are in the port classes
            digest.update(name.encode())
            digest.update(np.asarray(value).tobytes())
    digest.update(str(hops_max if settings.telemetry else 0).encode())
    return digest.hexdigest()[:32]


class Store:
    """Memos of this process by namespace, the least recently used dropped first; safe to use from several threads."""

    def __init__(self, runs: int = RUNS_KEPT):
        self._memos: OrderedDict[str, Memo] = OrderedDict()
        self._lock = threading.Lock()
        self._runs = runs

    def get(self, name: str) -> Memo | None:
        with self._lock:
            if name in self._memos:
                self._memos.move_to_end(name)
            return self._memos.get(name)

    def put(self, name: str, memo: Memo) -> None:
        """Keep a memo unless a larger one of the same namespace is there."""
        if memo.nbytes > MOST_BYTES:
            return
        with self._lock:
            known = self._memos.get(name)
            if known is None or len(known.outcome) <= len(memo.outcome):
                self._memos[name] = memo
            self._memos.move_to_end(name)
            while len(self._memos) > self._runs:
                self._memos.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._memos.clear()


IN_PROCESS = Store()
