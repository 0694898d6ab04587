"""Whether two conflict graphs are the same but for the names of their flows: Weisfeiler-Leman colours as a filter, then a real check.

Colours that leave a choice are made finer by singling out one vertex after the other (individualisation and refinement, McKay and
Piperno, J. Symb. Comput. 60, 2014), with a bounded number of wrong choices: what is given up is a hit that could have been.
"""

import numpy as np

from sim.paper.graph import ConflictGraph

TRIES = 64  # colourings that one comparison may cost
MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))  # SplitMix64
SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))


def _mixed(values: np.ndarray) -> np.ndarray:
    """Each value spread over 64 bits (SplitMix64, Steele et al., OOPSLA 2014)."""
    values = values + MIX[0]
    values = (values ^ (values >> SHIFTS[0])) * MIX[1]
    values = (values ^ (values >> SHIFTS[1])) * MIX[2]
    return values ^ (values >> SHIFTS[2])


def colours(graph: ConflictGraph, first: np.ndarray | None = None) -> np.ndarray:
    """uint64[n]: Weisfeiler-Leman colours, alike for vertices that no number of steps along edges tells apart.

    `first`: colours to begin with; the rate classes unless given.
    """
    colour = _mixed(graph.kinds.astype(np.uint64)) if first is None else first
    at, other, weight = graph.neighbours
    weight = _mixed(weight.astype(np.uint64))
    classes = 0
    while (found := len(np.unique(colour))) > classes:
        classes = found
        heard = np.zeros(graph.n, np.uint64)
        np.add.at(heard, at, _mixed(colour[other] ^ weight))
        colour = _mixed(colour * MIX[1] + heard)
    return colour


def match(one: ConflictGraph, other: ConflictGraph) -> np.ndarray | None:
    """`order` such that vertex i of `one` is `order[i]` of `other`; None if they differ, or might be alike but TRIES did not show it."""
    if one.n != other.n or len(one.a) != len(other.a):
        return None
    same = np.arange(one.n)
    if one.equals(other, same):
        return same
    return _refined(one, other, colours(one), colours(other), [TRIES])


def _refined(one, other, mine, theirs, tries) -> np.ndarray | None:
    tries[0] -= 1
    by_mine, by_theirs = np.argsort(mine, kind="stable"), np.argsort(theirs, kind="stable")
    if not np.array_equal(mine[by_mine], theirs[by_theirs]):
        return None
    order = np.empty(one.n, np.int64)
    order[by_mine] = by_theirs
    if one.equals(other, order):
        return order
    shared = np.flatnonzero(mine[by_mine][1:] == mine[by_mine][:-1])
    if not len(shared):
        return None
    vertex = by_mine[shared[0]]
    singled = mine.copy()
    singled[vertex] = _mixed(singled[vertex : vertex + 1])[0]
    fine = colours(one, singled)
    for candidate in np.flatnonzero(theirs == mine[vertex]).tolist():
        if tries[0] <= 0:
            return None
        singled = theirs.copy()
        singled[candidate] = _mixed(singled[candidate : candidate + 1])[0]
        found = _refined(one, other, fine, colours(other, singled), tries)
        if found is not None:
            return found
    return None
