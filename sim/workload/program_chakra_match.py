"""Which nodes of Chakra traces belong together across ranks: sends with receives, and the entries into one collective.

A receive gets what the send with its source, destination and tag sends: the first the first, the second the second. Of the collectives
of a process group, the k-th of every rank is the same one. Order is that in which a rank can begin them: by dependencies, then by
place in the file.
"""

import heapq
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from sim.errors import ScenarioError
from sim.workload.program_chakra_work import COLLECTIVE, COLLECTIVES, EVERYONE, RECV, SEND, ChakraWork

CHAIN_SHOWN = 8


@dataclass(frozen=True)
class Matched:
    """Pairs of messages, and the collectives: nodes by rank of the group, group by group in order."""

    send: np.ndarray  # int64[pairs], nodes
    receive: np.ndarray  # int64[pairs]
    entries: list[list[int]]  # the nodes of each collective, in the order of the group's ranks
    before: list[int]  # the collective before it in its group, -1 for the first


def successors(n: int, before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(ptr, nodes, number of edges into each node) of edges before -> after."""
    ptr = np.concatenate(([0], np.cumsum(np.bincount(before, minlength=n))))
    return ptr, after[np.argsort(before, kind="stable")], np.bincount(after, minlength=n)


def own_order(work: ChakraWork) -> np.ndarray:
    """int64[N]: all nodes, rank by rank, in the order in which a rank can begin them; ScenarioError for a circle."""
    n = len(work.kind)
    ptr, after, waiting = (column.tolist() for column in successors(n, work.deps, np.repeat(np.arange(n), work.n_deps)))
    order: list[int] = []
    first = 0
    for size in work.nodes_of_rank.tolist():
        ready = [node for node in range(first, first + size) if not waiting[node]]
        while ready:
            node = heapq.heappop(ready)
            order.append(node)
            for i in range(ptr[node], ptr[node + 1]):
                waiting[after[i]] -= 1
                if not waiting[after[i]]:
                    heapq.heappush(ready, after[i])
        first += size
        if len(order) < first:
            stuck = next(node for node in range(first - size, first) if waiting[node] > 0)
            raise ScenarioError(_circle(work, stuck, waiting))
    return np.array(order, np.int64)


def _circle(work: ChakraWork, node: int, waiting: list[int]) -> str:
    start = np.concatenate(([0], np.cumsum(work.n_deps)))
    rank, seen = work.rank, []
    while node not in seen:
        seen.append(node)
        node = next(int(dep) for dep in work.deps[start[node] : start[node + 1]] if waiting[dep] > 0)
    return circle_text([work.describe(one, int(rank[one])) for one in seen[seen.index(node) :]])


def circle_text(chain: list[str]) -> str:
    """A circle of nodes in one line, each waiting for the next and the last for the first."""
    shown = chain[:CHAIN_SHOWN] + ([f"{len(chain) - CHAIN_SHOWN} more"] if len(chain) > CHAIN_SHOWN else [])
    return "deadlock: " + " waits for ".join([*shown, chain[0]])


def match(work: ChakraWork) -> Matched:
    """What belongs together; ScenarioError, with who waits for whom, where ranks do not agree."""
    order = own_order(work)
    rank = work.rank
    return Matched(*_pairs(work, order, rank), *_collectives(work, order, rank))


def _pairs(work: ChakraWork, order: np.ndarray, rank: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    queues: dict[tuple[int, int, int], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for node in order[np.isin(work.kind[order], (SEND, RECV))].tolist():
        own, other, tag = int(rank[node]), int(work.peer[node]), int(work.tag[node])
        sends = work.kind[node] == SEND
        queues[(own, other, tag) if sends else (other, own, tag)][0 if sends else 1].append(node)
    pairs: list[tuple[int, int]] = []
    for (src, dst, tag), (sent, received) in queues.items():
        if len(sent) != len(received):
            extra = (sent if len(sent) > len(received) else received)[min(len(sent), len(received))]
            missing = "RECV" if len(sent) > len(received) else "SEND"
            other = dst if missing == "RECV" else src
            raise ScenarioError(
                f"{work.describe(extra, int(rank[extra]))} waits for ever: rank {other} has no {missing} for it; from rank {src} to {dst} "
                f"with tag {tag} there are {len(sent)} SENDs and {len(received)} RECVs"
            )
        pairs += zip(sent, received, strict=True)
    for one, other in pairs:
        if work.n_bytes[one] != work.n_bytes[other]:
            raise ScenarioError(
                f"{work.describe(one, int(rank[one]))} has {work.n_bytes[one]} bytes, {work.describe(other, int(rank[other]))} {work.n_bytes[other]}: "
                "comm_size must be equal"
            )
    return np.array([pair[0] for pair in pairs], np.int64), np.array([pair[1] for pair in pairs], np.int64)


def _collectives(work: ChakraWork, order: np.ndarray, rank: np.ndarray) -> tuple[list[list[int]], list[int]]:
    entered: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for node in order[work.kind[order] == COLLECTIVE].tolist():
        entered[int(work.group[node])][int(rank[node])].append(node)
    entries: list[list[int]] = []
    before: list[int] = []
    for group, by_rank in sorted(entered.items()):
        members = work.members[group]
        lists = [by_rank.get(member, []) for member in members]
        least, most = min(lists, key=len), max(lists, key=len)
        for position in range(len(least)):
            row = [own[position] for own in lists]
            _check_row(work, row, rank, position, group)
            before.append(len(entries) - 1 if position else -1)
            entries.append(row)
        if len(least) < len(most):
            node, absent = most[len(least)], members[lists.index(least)]
            raise ScenarioError(
                f"{work.describe(node, int(rank[node]))} waits for ever for rank {absent}, which enters {len(least)} collectives of "
                f"{_name(work, group)}, not {len(most)}"
            )
    return entries, before


def _name(work: ChakraWork, group: int) -> str:
    return "the group of all ranks" if work.groups[group] == EVERYONE else f"group {work.groups[group]!r}"


def _check_row(work: ChakraWork, row: list[int], rank: np.ndarray, position: int, group: int) -> None:
    first = row[0]
    odd = next((node for node in row if work.collective[node] != work.collective[first]), None)
    if odd is not None:
        one, other = work.describe(first, int(rank[first])), work.describe(odd, int(rank[odd]))
        raise ScenarioError(
            f"deadlock: {one} waits for rank {rank[odd]}, which waits in {other} for rank {rank[first]}: "
            f"all ranks of {_name(work, group)} must enter the same collectives in the same order, but number {position + 1} differs"
        )
    odd = next((node for node in row if work.n_bytes[node] != work.n_bytes[first] or work.peer[node] != work.peer[first]), None)
    if odd is not None:
        what = "bytes" if work.n_bytes[odd] != work.n_bytes[first] else "roots"
        one, other = (work.n_bytes if what == "bytes" else work.peer)[[first, odd]].tolist()
        raise ScenarioError(
            f"{work.describe(first, int(rank[first]))} and {work.describe(odd, int(rank[odd]))} are one {COLLECTIVES[work.collective[first]]} "
            f"with different {what}: {one} and {other}"
        )
