"""Which partitions a partition came from and went into: replayed from when flows start and end, and checked against every episode.

The kernel numbers partitions as they form: what is left of one that falls apart, in order of flows; what flows bring together when
they start, likewise. Flows of one instant enter after those that end then have left, so that times and paths of flows tell it all.
"""

from itertools import groupby

import numpy as np
import pandas as pd

from sim.result_partitions import incidence, shared_ports

LEVELS = ("exact", "bounded")  # of which episodes are the kernel's own
MOST_VISITS = 20_000_000  # of a flow to a port, about ten seconds
NEVER = 1 << 62


class _Unlike(Exception):
    """The replay is not what the episodes say, or takes too long."""


class _Part:
    """A partition: its number, since when it has that, which ones it came from, its flows ever, and how many of them are under way."""

    __slots__ = ("number", "since", "origin", "flows", "count", "began_ps", "began_with")

    def __init__(self, number: int, since: int, origin: tuple, flows: list[int]):
        self.number, self.since, self.origin, self.flows, self.count = number, since, origin, flows, len(flows)
        self.begin(since)

    def begin(self, at_ps: int) -> None:
        """An episode begins."""
        self.began_ps, self.began_with = at_ps, self.count


def lineage(raw) -> np.ndarray | None:
    """int64[m, 2], sorted: (partition, one that it went into), among those of the partitions table; None where it cannot be told.

    It can be told of what the kernel noted in levels exact and bounded, unless a link failed: how partitions form anew then is not replayed.
    """
    known = raw.records is not None and raw.level in LEVELS and not _rerouted(raw)
    if not known:
        return None
    try:
        return _Replay(raw).edges()
    except _Unlike:
        return None


def with_lineage(partitions: pd.DataFrame, raw) -> pd.DataFrame:
    """The partitions table with its columns came_from and went_into; missing where the lineage cannot be told."""
    found = lineage(raw)
    for name, mine, other in (("came_from", 1, 0), ("went_into", 0, 1)):
        if found is None:
            partitions[name] = pd.Series(None, partitions.index, dtype=object)
            continue
        ways = found[np.lexsort((found[:, other], found[:, mine]))]
        cuts = np.searchsorted(ways[:, mine], partitions["partition_id"].to_numpy()[1:])
        partitions[name] = [" ".join(map(str, some.tolist())) for some in np.split(ways[:, other], cuts)] if len(partitions) else ""
    return partitions


def _rerouted(raw) -> bool:
    return any(fault.kind.endswith("-down") and fault.at_us * 1e6 <= raw.end_ps_last for fault in raw.scenario.faults)


class _Replay:
    def __init__(self, raw):
        rows = raw.records.episodes
        self.rows = list(zip(*(rows[name].tolist() for name in ("end_ps", "partition_id", "start_ps", "flows")), strict=True))
        self.last = {row[1]: i for i, row in enumerate(self.rows)}
        end_ps, start_ps = self.rows[-1][0] if self.rows else -1, raw.start_ps[raw.dag.n_tasks :]
        entering = np.flatnonzero((start_ps >= 0) & (start_ps <= end_ps) & (raw.dag.flow_bytes > 0))
        self.order = entering[np.argsort(start_ps[entering], kind="stable")]
        self.start_ps = start_ps[self.order].tolist()
        acked_ps = np.where(raw.acked_ps < 0, NEVER, raw.acked_ps)[self.order]
        self.acked_ps = acked_ps.tolist()  # flows go by their place in the order of entry
        self.leaving = np.argsort(acked_ps, kind="stable").tolist()
        self.resources = self._resources(raw)
        self.users, self.owner = [0] * self.n_resources, [None] * self.n_resources
        self.of_flow: list[_Part | None] = [None] * len(self.start_ps)
        self.by_number: dict[int, _Part] = {}
        self.formed, self.visits, self.found = 0, 0, []

    def _resources(self, raw) -> list[list[int]]:
        """What each flow shares with whoever else uses it."""
        member, port = incidence(raw, self.order)
        if len(port) > MOST_VISITS:
            raise _Unlike
        names, number = np.unique(shared_ports(raw.network, raw.scenario.transport, port), return_inverse=True)
        self.n_resources = len(names)
        both = np.unique(member * np.int64(max(1, len(names))) + number)
        cuts = np.searchsorted(both, np.arange(1, len(self.order)) * len(names))
        return [some.tolist() for some in np.split(both % max(1, len(names)), cuts)]

    def edges(self) -> np.ndarray:
        """See `lineage`."""
        gone, entered, instants = 0, 0, groupby(self._instants(), key=lambda what: what[0])
        for now, whats in instants:
            while gone < len(self.leaving) and self.acked_ps[self.leaving[gone]] <= now:
                self._leave(self.leaving[gone])
                gone += 1
            for _, row in whats:
                if row is not None:
                    self._play(row, now)
            first = entered
            while entered < len(self.start_ps) and self.start_ps[entered] <= now:
                entered += 1
            if entered > first:
                self._enter(range(first, entered), now)
        return np.array(sorted(self.found), np.int64).reshape(-1, 2)

    def _instants(self):
        """(time, place of an episode that ends then, or None) in order of time; episodes in the order in which they were noted."""
        times = sorted({*self.start_ps} - {row[0] for row in self.rows})
        ends = [(row[0], i) for i, row in enumerate(self.rows)]
        return sorted([*ends, *((time, None) for time in times)], key=lambda what: what[0])

    def _leave(self, flow: int) -> None:
        self.of_flow[flow].count -= 1
        for resource in self.resources[flow]:
            self.users[resource] -= 1

    def _play(self, row: int, now: int) -> None:
        """The episode of a partition ends: it may be over, or have fallen apart."""
        _, number, start_ps, flows = self.rows[row]
        part = self.by_number.get(number)
        if part is None or (part.began_ps, part.began_with) != (start_ps, flows):
            raise _Unlike
        if row < self.last[number]:
            part.begin(now)
            return
        part.flows = sorted(flow for flow in part.flows if self.acked_ps[flow] > now)
        pieces = self._pieces(part.flows)
        if len(pieces) == 1:
            part.begin(now)
            return
        del self.by_number[number]
        for piece in pieces:
            self._own(self._form(piece, now, (number,)), piece)

    def _form(self, flows: list[int], now: int, origin: tuple) -> _Part:
        part = _Part(self.formed, now, origin, flows)
        self._name(part, now, origin)
        return part

    def _name(self, part: _Part, now: int, origin: tuple) -> None:
        """A partition is one by itself from now on."""
        part.number, part.since, part.origin = self.formed, now, origin
        self.formed += 1
        self.by_number[part.number] = part
        if part.number in self.last:
            self.found += [(one, part.number) for one in origin]

    def _own(self, part: _Part, flows: list[int]) -> None:
        for flow in flows:
            self.of_flow[flow] = part
            self._visit(len(self.resources[flow]))
            for resource in self.resources[flow]:
                self.owner[resource] = part

    def _visit(self, ports: int) -> None:
        self.visits += ports
        if self.visits > MOST_VISITS:
            raise _Unlike

    def _pieces(self, flows: list[int]) -> list[list[int]]:
        """Flows that are connected over what they share."""
        root, first = list(range(len(flows))), {}
        for j, flow in enumerate(flows):
            self._visit(len(self.resources[flow]))
            for resource in self.resources[flow]:
                unite(root, j, first.setdefault(resource, j))
        pieces: dict[int, list[int]] = {}
        for j, flow in enumerate(flows):
            pieces.setdefault(find(root, j), []).append(flow)
        return list(pieces.values())

    def _enter(self, flows: range, now: int) -> None:
        """Flows start: each joins whoever uses what it will use."""
        root, parts, first, place = list(range(len(flows))), [], {}, {}
        for j, flow in enumerate(flows):
            for resource in self.resources[flow]:
                unite(root, j, first.setdefault(resource, j))
                if self.users[resource] > 0:
                    part = self.owner[resource]
                    if part not in place:
                        place[part] = len(root)
                        root.append(len(root))
                        parts.append(part)
                    unite(root, j, place[part])
        groups: dict[int, tuple[list[int], list[_Part]]] = {}
        for j, what in enumerate((*flows, *parts)):
            groups.setdefault(find(root, j), ([], []))[j >= len(flows)].append(what)
        for fresh, met in groups.values():
            self._join(fresh, met, now)

    def _join(self, fresh: list[int], met: list[_Part], now: int) -> None:
        if not met:
            part = self._form(fresh, now, ())
        else:
            part = max(met, key=lambda one: len(one.flows))
            origin = sorted({number for one in met for number in (one.origin if one.since == now else (one.number,))})
            for one in met if len(met) > 1 else ():
                del self.by_number[one.number]
                if one is not part:
                    self._own(part, [flow for flow in one.flows if self.acked_ps[flow] > now])
                    part.flows += one.flows
                    part.count += one.count
            if len(met) > 1:
                self._name(part, now, tuple(origin))
            part.flows += fresh
            part.count += len(fresh)
        self._own(part, fresh)
        part.begin(now)
        for flow in fresh:
            for resource in self.resources[flow]:
                self.users[resource] += 1


def find(root: list[int], j: int) -> int:
    """Root of `j`, halving the way."""
    while root[j] != j:
        root[j] = root[root[j]]
        j = root[j]
    return j


def unite(root: list[int], j: int, k: int) -> None:
    """Put `j` and `k` under one root, the smaller one."""
    a, b = find(root, j), find(root, k)
    root[max(a, b)] = min(a, b)
