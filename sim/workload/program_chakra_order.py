"""In which order a rank's processor takes up the compute of a Chakra trace, and whether the ranks wait for each other in a circle.

A GPU runs one compute node at a time, and so does a rank's CPU; of those that are ready, the first in the file. When they become ready
follows from a rough estimate of the messages; the order, once found, is kept in the graph.
"""

import heapq
from dataclasses import dataclass

import numpy as np

from sim.errors import ScenarioError
from sim.workload.program_chakra_match import Matched, circle_text, successors
from sim.workload.program_chakra_work import COMPUTE, RECV, SEND, ChakraWork

ESTIMATED_BPS = 400 * 10**9  # of a rank's network, where no better is known
ESTIMATED_LATENCY_PS = 5_000_000  # of a message
PS_BITS = 8 * 10**12


@dataclass(frozen=True)
class Events:
    """Points of the graph: entering node 0..N-1, then the end of each collective; edges between them."""

    n: int
    before: np.ndarray
    after: np.ndarray
    lasts_ps: list[int]  # from the last of what a point waits for to the point itself, of compute: to its end


def events_of(work: ChakraWork, matched: Matched) -> Events:
    """The points and their edges: a node that is a collective is left when all its ranks have entered."""
    n, m = len(work.kind), len(matched.entries)
    leave = np.arange(n)
    rows = [np.array(row, np.int64) for row in matched.entries]
    for index, row in enumerate(rows):
        leave[row] = n + index
    node = np.repeat(np.arange(n), work.n_deps)
    befores, afters = [leave[work.deps]], [node]
    for index, row in enumerate(rows):
        befores.append(row)
        afters.append(np.full(len(row), n + index))
        if matched.before[index] >= 0:
            befores.append(np.full(len(row), n + matched.before[index]))
            afters.append(row)
    befores.append(matched.send)
    afters.append(matched.receive)
    lasts = np.where(work.kind == COMPUTE, work.duration_ps, 0)
    transfer = np.where(np.isin(work.kind, (SEND, RECV)), 1, 0) * (ESTIMATED_LATENCY_PS + work.n_bytes * (PS_BITS // ESTIMATED_BPS))
    lasts = lasts + np.where(work.kind == RECV, transfer, 0)
    ends = [ESTIMATED_LATENCY_PS * len(row) + 2 * int(work.n_bytes[row[0]]) * (PS_BITS // ESTIMATED_BPS) for row in rows]
    return Events(n + m, np.concatenate(befores), np.concatenate(afters), [*lasts.tolist(), *ends])


def compute_order(work: ChakraWork, matched: Matched) -> list[list[int]]:
    """Of each processor of each rank, its compute nodes in the order in which it takes them up; ScenarioError for a deadlock."""
    events = events_of(work, matched)
    ptr, after, waiting = (column.tolist() for column in successors(events.n, events.before, events.after))
    n, rank = len(work.kind), work.rank
    processor = np.where(work.kind == COMPUTE, 2 * rank + work.cpu, -1).tolist() + [-1] * len(matched.entries)
    ready: list[list[int]] = [[] for _ in range(2 * work.ranks)]
    busy = [False] * (2 * work.ranks)
    taken: list[list[int]] = [[] for _ in range(2 * work.ranks)]
    agenda: list[tuple[int, int]] = []  # (when a point is reached, point)
    reached = 0

    def begin(point: int, now: int) -> None:
        owner = processor[point]
        if owner < 0:
            heapq.heappush(agenda, (now + events.lasts_ps[point], point))
        elif busy[owner]:
            heapq.heappush(ready[owner], point)
        else:
            busy[owner] = True
            taken[owner].append(point)
            heapq.heappush(agenda, (now + events.lasts_ps[point], point))

    for point in range(events.n):
        if not waiting[point]:
            begin(point, 0)
    while agenda:
        now, point = heapq.heappop(agenda)
        reached += 1
        owner = processor[point]
        freed = [after[i] for i in range(ptr[point], ptr[point + 1])]
        for other in freed:
            waiting[other] -= 1
        if owner >= 0:
            busy[owner] = False
            for other in freed:  # what has just become ready competes with what was
                if not waiting[other] and processor[other] == owner:
                    heapq.heappush(ready[owner], other)
            if ready[owner]:
                begin(heapq.heappop(ready[owner]), now)
        for other in freed:
            if not waiting[other] and (owner < 0 or processor[other] != owner):
                begin(other, now)
    if reached < events.n:
        raise ScenarioError(_deadlock(work, matched, events, waiting, n))
    return taken


def _deadlock(work: ChakraWork, matched: Matched, events: Events, waiting: list[int], n: int) -> str:
    """The chain of who waits for whom, from what is left."""
    stuck = {point for point in range(events.n) if waiting[point] > 0}
    waits_for = {after: before for before, after in zip(events.before.tolist(), events.after.tolist(), strict=True) if after in stuck and before in stuck}
    point, seen = next(iter(stuck)), {}
    while point not in seen:
        seen[point] = len(seen)
        point = waits_for[point]
    chain = list(seen)[seen[point] :]
    rank = work.rank
    nodes = [one for one in chain if one < n]
    return circle_text([work.describe(one, int(rank[one])) for one in nodes])
