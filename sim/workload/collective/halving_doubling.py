"""Recursive halving and doubling (Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005, sections 3.1, 4.1 and 4.3).

A reduce-scatter halves what is left in every step: of 2d members that still share a sum, each sends the half that the other
d keep to its partner d away, d = n/2, ..., 1. An all-gather doubles it back, d = 1, ..., n/2; an all-reduce does both. Of n
members that are no power of two, 2r share a seat two by two, r = n - 2^floor(log2 n): the first of each pair hands its data to
the second before, and gets the result from it afterwards. Each seat exchanges with one partner at a time.
"""

import numpy as np

from sim.workload.collective.template import Template


def all_reduce(n: int) -> Template:
    """2 log2 n steps; S (n-1)/n in each half, as in a ring."""
    seats = Seats(n)
    blocks = np.arange(seats.count + 1)
    rows = _Rows(seats, blocks)
    rows.before(np.zeros(seats.pairs, np.int64), seats.count, adds=True)
    rows.halve()
    rows.double(own=False)
    rows.after(np.zeros(seats.pairs, np.int64), seats.count)
    return rows.template()


def reduce_scatter(n: int) -> Template:
    """log2 n steps of S/2, S/4, ..., S/n."""
    seats = Seats(n)
    rows = _Rows(seats, seats.first_member)
    rows.before(np.zeros(seats.pairs, np.int64), n, adds=True)
    rows.halve()
    rows.after(2 * np.arange(seats.pairs), 1)
    return rows.template()


def all_gather(n: int) -> Template:
    """log2 n steps of S/n, 2S/n, ..., S/2."""
    seats = Seats(n)
    rows = _Rows(seats, seats.first_member)
    rows.before(2 * np.arange(seats.pairs), 1, adds=False)
    rows.double(own=True)
    rows.after(2 * np.arange(seats.pairs) + 1, n - 1)
    return rows.template()


class Seats:
    """The power of two that exchanges: seat p < r is held by members 2p and 2p + 1, of whom the second acts; seat p >= r by p + r."""

    def __init__(self, n: int) -> None:
        self.n, self.count = n, 1 << (n.bit_length() - 1)
        self.pairs = n - self.count
        seat = np.arange(self.count + 1)
        self.first_member = seat + np.minimum(seat, self.pairs)  # of each seat, and n after the last
        self.member = (self.first_member + (seat < self.pairs))[:-1]


class _Rows:
    """Messages step by step; seat p keeps blocks bound[p] to bound[p + 1] - 1."""

    def __init__(self, seats: Seats, bound: np.ndarray) -> None:
        self.seats, self.bound = seats, bound
        self.columns: list[tuple] = []  # src, dst, block, count, own, adds
        self.edges: list[tuple[np.ndarray, np.ndarray]] = []
        self.rows = self.steps = 0
        self.step: list[np.ndarray] = []
        self.arrived = np.full(seats.count, -1)  # last message to, and from, each seat; -1 none
        self.left = np.full(seats.count, -1)
        self.returned = np.zeros(0, np.int64)

    def _add(self, src, dst, block, count, own: bool, adds: bool) -> np.ndarray:
        row = self.rows + np.arange(len(src))
        self.columns.append(np.broadcast_arrays(src, dst, block, count, own, adds))
        self.step.append(np.full(len(src), self.steps))
        self.rows += len(src)
        self.steps += 1
        return row

    def _wait(self, before: np.ndarray, then: np.ndarray) -> None:
        self.edges.append((before[before >= 0], then[before >= 0]))

    def before(self, block: np.ndarray, count: int, adds: bool) -> None:
        """The first of each pair hands over."""
        pair = np.arange(self.seats.pairs)
        if len(pair):
            self.arrived[pair] = self._add(2 * pair, 2 * pair + 1, block, count, True, adds)

    def after(self, block: np.ndarray, count: int) -> None:
        """The second of each pair hands the result back."""
        pair = np.arange(self.seats.pairs)
        if len(pair):
            row = self._add(2 * pair + 1, 2 * pair, block, count, True, False)
            self._wait(self.arrived[pair], row)
            self._wait(self.left[pair], row)
            self.returned = row

    def halve(self) -> None:
        """Recursive halving."""
        seat, distance = np.arange(self.seats.count), self.seats.count // 2
        while distance:
            self._exchange(distance, (seat ^ distance) & -distance, own=True, adds=True)
            distance //= 2

    def double(self, own: bool) -> None:
        """Recursive doubling."""
        seat, distance = np.arange(self.seats.count), 1
        while distance < self.seats.count:
            self._exchange(distance, seat & -distance, own=own, adds=False)
            distance *= 2

    def _exchange(self, distance: int, low: np.ndarray, own: bool, adds: bool) -> None:
        """Every seat sends what `distance` seats from low[seat] on keep to the seat so far away."""
        partner = np.arange(self.seats.count) ^ distance
        block, count = self.bound[low], self.bound[low + distance] - self.bound[low]
        row = self._add(self.seats.member, self.seats.member[partner], block, count, own, adds)
        self._wait(self.arrived, row)
        self._wait(self.left, row)
        self.arrived, self.left = row[partner], row

    def template(self) -> Template:
        """All of it; a seat is done when its last messages have arrived, both ways."""
        src, dst, block, count, own, adds = (np.concatenate(column) for column in zip(*self.columns, strict=True))
        before, then = (np.concatenate(column) for column in zip(*self.edges, strict=True))
        pairs, member = self.seats.pairs, self.seats.member
        cycle = int(self.bound[-1])
        return Template(
            n=self.seats.n, src=src, dst=dst, step=np.concatenate(self.step), part=count, parts=np.full(len(src), cycle), own=own,
            before=before, then=then, last_member=np.r_[member, member, 2 * np.arange(pairs)], last_message=np.r_[self.arrived, self.left, self.returned],
            block=block, count=count, adds=adds, cycle=cycle,
        )  # fmt: skip
