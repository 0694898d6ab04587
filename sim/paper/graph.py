"""The published key: a conflict graph as arrays, flows with classes of rates, joined where they share ports."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np

MOST_PAIRS = 2_000_000  # shared ports of pairs; larger graphs are not compared: 0.2 s each


@dataclass(frozen=True, eq=False)
class ConflictGraph:
    """Vertex i has rate class `kinds[i]`; edges `a[e] < b[e]`, in ascending order, weighted by the ports that both flows cross."""

    kinds: np.ndarray
    a: np.ndarray
    b: np.ndarray
    weight: np.ndarray

    @property
    def n(self) -> int:
        """How many flows."""
        return len(self.kinds)

    @cached_property
    def neighbours(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(ends, other ends, weights), every edge from both sides."""
        return np.concatenate((self.a, self.b)), np.concatenate((self.b, self.a)), np.concatenate((self.weight, self.weight))

    def equals(self, other: "ConflictGraph", order: np.ndarray) -> bool:
        """Whether vertex i of this graph is `order[i]` of the other, for all i and their edges."""
        if len(self.a) != len(other.a) or not np.array_equal(self.kinds, other.kinds[order]):
            return False
        a, b = order[self.a], order[self.b]
        code = np.minimum(a, b) * other.n + np.maximum(a, b)
        by_code = np.argsort(code)
        return np.array_equal(code[by_code], other.a * other.n + other.b) and np.array_equal(self.weight[by_code], other.weight)


def shared_pairs(paths: list[list[int]]) -> int:
    """How many pairs of flows share a port, added up over the ports: the weight of all edges."""
    flows = Counter(p for path in paths for p in set(path))
    return sum(count * (count - 1) // 2 for count in flows.values())


def conflict_graph(paths: list[list[int]], kinds: np.ndarray) -> ConflictGraph:
    """The graph of flows that cross these ports, data and ACKs, a list for each flow; the effort is that of `shared_pairs`."""
    n = len(paths)
    member = np.repeat(np.arange(n), [len(path) for path in paths])
    port = np.array([p for path in paths for p in path], np.int64)
    pairs = np.unique(np.stack([port, member]), axis=1)
    members = np.split(pairs[1], np.flatnonzero(np.diff(pairs[0])) + 1)
    codes = [np.zeros(0, np.int64)]
    for some in members:
        if len(some) > 1:
            i, j = np.triu_indices(len(some), 1)
            codes.append(some[i] * n + some[j])
    edges, weight = np.unique(np.concatenate(codes), return_counts=True)
    return ConflictGraph(kinds, edges // n, edges % n, weight)
