"""What a run at level `paper` counts: what every port carried and when, episodes and patterns, and what simulated ports saw."""

from itertools import pairwise

import numpy as np

from sim.flow_level_result import FlowBooks
from sim.paper.outcome import Outcome
from sim.paper.transient import SAMPLE_PS
from sim.wormhole.records import EPISODE, MOST_EPISODES

AT_ONCE = 100_000  # flows whose bytes are spread over time together
SEEN = ("marks", "pauses", "paused_ps", "drops")  # of ports, added up over what is simulated


class PaperBooks(FlowBooks):
    """Beside the bytes of ports: stretches in which flows moved, a row for each episode, and the ports of packet simulations."""

    def __init__(self, case, volumes):
        super().__init__(case, volumes)
        self.seen = {name: np.zeros(case.network.n_ports, np.int64) for name in SEEN}
        self.max_queue = np.zeros(case.network.n_ports, np.int64)
        self.flow_marks = np.zeros(len(case.table.size_bytes), np.int64)
        self.patterns: list[tuple[Outcome, object, list[int]]] = []  # with the fabric and the flows that it was found out with
        self.total, self.replayed, self.skipped = 0.0, 0.0, 0.0  # packet-hops
        self.lasted: list[tuple[object, list]] = []  # (paths, stretches under them)
        self._stretches: list[tuple] = []
        self._number: dict[Outcome, int] = {}
        self._episodes, self.episodes_left_out = [], 0

    def number(self, outcome: Outcome, fabric, flows: list[int]) -> None:
        """An outcome that is new is a pattern."""
        self._number[outcome] = len(self.patterns)
        self.patterns.append((outcome, fabric, flows))

    @property
    def executed(self) -> int:
        """Packet-hops simulated."""
        return sum(outcome.executed for outcome, *_ in self.patterns)

    def count(self, transient) -> None:
        """Add what a packet simulation has seen since it, or the like of it, was last shown."""
        port, marks = transient.state.port, transient.marks()
        known = transient.counted or ([0] * len(SEEN), 0)
        now = [port[name].copy() for name in SEEN], marks
        for name, new, old in zip(SEEN, now[0], known[0], strict=True):
            self.seen[name][transient.ports] += new - old
        self.flow_marks[transient.flows] += marks - known[1]
        self.max_queue[transient.ports] = np.maximum(self.max_queue[transient.ports], port["max_queue"])
        transient.counted = now

    def episode(self, partition, now_ps: int, sent_bytes: np.ndarray, hops: list) -> None:
        """A partition has lived until now, its flows have delivered so much; `hops` by flow."""
        outcome, lasted_ps = partition.outcome, now_ps - partition.from_ps
        if lasted_ps <= 0:
            return
        each = np.array([hops[f] for f in partition.flows]) / self._size[partition.flows]
        moved, steady, settled_ps = float(sent_bytes @ each), 0.0, 0
        if outcome.settled and lasted_ps > outcome.length * SAMPLE_PS:
            settled_ps = round(outcome.length * SAMPLE_PS)
            steady = max(0.0, float((sent_bytes - np.minimum(outcome.at(outcome.length), sent_bytes)) @ each))
        self.total += moved
        self.skipped += steady
        self.replayed += (moved - steady) * partition.hit
        self._stretches.append((partition.flows, partition.from_ps, now_ps, sent_bytes))
        if len(self._episodes) == MOST_EPISODES:
            self.episodes_left_out += 1
            return
        skipped_ps = lasted_ps - settled_ps if settled_ps else 0
        executed = 0 if partition.hit else round(moved - steady)
        self._episodes.append(
            (
                partition.number, partition.from_ps, now_ps, partition.hit, partition.from_ps + settled_ps if skipped_ps else -1, skipped_ps,
                self._number[outcome], len(partition.flows), len(partition.ports), round(moved), executed,
            )
        )  # fmt: skip

    def episodes(self) -> np.ndarray:
        """EPISODE records."""
        return np.array(self._episodes, EPISODE)

    def book(self, table, shares: np.ndarray) -> None:
        """From here on flows go other ways than those of `table`."""
        super().book(table, shares)
        self.lasted.append((table, self._stretches))
        self._stretches = []

    def byte_curves(self, table, end_ps: int, bins: int, total_bytes: np.ndarray, ack_share: np.ndarray) -> tuple[int, np.ndarray]:
        """(shift of the width of a bin in ps, int64[P, bins]): bytes of every port by time bin. Each row adds up to the port's total."""
        shift = 0
        while (end_ps >> shift) >= bins:
            shift += 1
        bins = (end_ps >> shift) + 1
        curves, density = np.zeros((2, len(total_bytes), bins + 1))
        for paths, stretches in [*self.lasted, (table, self._stretches)]:
            for ptr, ports, weight in ((paths.data_ptr, paths.data_ports, None), (paths.ack_ptr, paths.ack_ports, ack_share)):
                _spread(curves, density, shift, stretches, ptr, ports, weight)
        sent = np.cumsum(curves + np.cumsum(density, axis=1), axis=1)[:, :bins]
        scale = np.divide(total_bytes, sent[:, -1], out=np.zeros(len(sent)), where=sent[:, -1] > 0)
        sent = np.rint(sent * scale[:, None]).astype(np.int64)
        sent[:, -1] = total_bytes
        return shift, np.diff(sent, axis=1, prepend=0)


def _spread(curves, density, shift: int, stretches: list, ptr, ports, weight) -> None:
    """Spread the bytes of stretches evenly over their time, on every port of their flows' paths."""
    ends = np.cumsum([len(stretch[0]) for stretch in stretches])
    cuts = np.searchsorted(ends, np.arange(AT_ONCE, ends[-1] if len(ends) else 0, AT_ONCE)).tolist()
    for first, last in pairwise([0, *cuts, len(stretches)]):
        if some := stretches[first:last]:
            _spread_some(curves, density, shift, some, ptr, ports, weight)


def _spread_some(curves, density, shift, stretches, ptr, ports, weight) -> None:
    counts = [len(stretch[0]) for stretch in stretches]
    flow = np.array([f for stretch in stretches for f in stretch[0]], np.int64)
    amount = np.concatenate([stretch[3] for stretch in stretches])
    if weight is not None:
        amount = amount * weight[flow]
    hops = ptr[flow + 1] - ptr[flow]
    port = ports[np.repeat(ptr[flow] - np.cumsum(hops) + hops, hops) + np.arange(hops.sum())]
    begin, end = (np.repeat(np.repeat([stretch[which] for stretch in stretches], counts), hops) for which in (1, 2))
    rate = np.repeat(amount, hops) / (end - begin)
    b, e = begin >> shift, end >> shift
    within = b == e
    np.add.at(curves, (port, b), rate * np.where(within, end - begin, ((b + 1) << shift) - begin))
    over = ~within
    np.add.at(curves, (port[over], e[over]), rate[over] * (end - (e << shift))[over])
    np.add.at(density, (port[over], b[over] + 1), rate[over] * (1 << shift))
    np.add.at(density, (port[over], e[over]), -rate[over] * (1 << shift))
