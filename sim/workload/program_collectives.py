"""Collectives of imported graphs: over one group, or dimension by dimension as ASTRA-sim runs them (arXiv 2303.14006, section III).

Over dimensions of n0, n1, ... GPUs, a reduce-scatter runs along each in turn on what the one before has left, an all-gather the
other way round, an all-reduce is the one and then the other, and an all-to-all runs along each in turn with all the data. A
collective cut into splits begins a split along a dimension when the one before has left it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from sim.errors import ScenarioError
from sim.workload.collective import registry
from sim.workload.collective.template import Template

DEFAULT = {"all-reduce": "ring", "all-gather": "ring", "reduce-scatter": "ring", "all-to-all": "direct"}
AS_COLLECTIVE = {"barrier": "all-reduce"}  # of no bytes


@dataclass(frozen=True)
class Plan:
    """How collectives run: along `dimensions` (GPUs along each, the innermost first; none: in one), by which algorithms."""

    dimensions: tuple[int, ...] = ()
    algorithms: tuple[tuple[str, tuple[str, ...]], ...] = ()  # by collective: one name, or one for each dimension
    splits: int = 1

    def algorithm(self, collective: str, dimension: int) -> str:
        """The algorithm along a dimension."""
        names = dict(self.algorithms).get(collective) or (DEFAULT[collective],)
        return names[min(dimension, len(names) - 1)]

    def whole_group(self, collective: str) -> bool:
        """Whether one algorithm runs over all dimensions at once."""
        return len(self.dimensions) < 2 or len(dict(self.algorithms).get(collective, ())) == 1


def extent(plan: Plan, members: list[int]) -> tuple[tuple[int, int], ...]:
    """(dimension, GPUs along it) of a group that is a full block of the dimensions; ((0, n),) of any other group."""
    ranks = np.array(members)
    if len(plan.dimensions) < 2:
        return ((0, len(ranks)),)
    place, stride, sizes = [], 1, []
    for n in plan.dimensions:
        place.append(ranks // stride % n)
        stride *= n
    for dimension, at in enumerate(place):
        along = len(np.unique(at))
        if along > 1:
            sizes.append((dimension, along))
    full = int(np.prod([n for _, n in sizes], dtype=np.int64)) == len(ranks) and ranks.max(initial=0) < stride
    return tuple(sizes) if full and sizes else ((0, len(ranks)),)


@cache
def template(plan: Plan, collective: str, sizes: tuple[tuple[int, int], ...]) -> Template:
    """The template of a collective among members in rising order of their ranks, `sizes` as from `extent`."""
    collective = AS_COLLECTIVE.get(collective, collective)
    n = int(np.prod([size for _, size in sizes]))
    if collective == "broadcast":
        return chain(n)
    if plan.whole_group(collective) or len(sizes) == 1:
        sizes = ((sizes[0][0], n),)
    phases = list(_phases(plan, collective, sizes))
    if len(phases) == 1 and plan.splits == 1:
        return _along(plan, collective, sizes[0], n)
    return _composed(n, phases, plan.splits)


def _along(plan: Plan, collective: str, size: tuple[int, int], n: int) -> Template:
    algorithm = plan.algorithm(collective, size[0])
    if (collective, algorithm) == ("all-to-all", "ring"):
        return ring_all_to_all(n)
    return registry.template(collective, algorithm, n)


@dataclass(frozen=True)
class Phase:
    """A collective along one dimension by all the members: int[groups, n] of member positions, on 1/share of the data."""

    template: Template
    members: np.ndarray
    share: int


def _phases(plan: Plan, collective: str, sizes: tuple[tuple[int, int], ...]) -> Iterator[Phase]:
    counts = [n for _, n in sizes]
    total, members, stride = int(np.prod(counts)), [], 1
    for n in counts:
        members.append(np.arange(total).reshape(-1, n, stride).swapaxes(1, 2).reshape(-1, n))
        stride *= n
    before = np.concatenate(([1], np.cumprod(counts))).tolist()  # the data are cut by the dimensions already gone through
    inner = range(len(sizes))
    if collective in ("reduce-scatter", "all-reduce"):
        last = collective == "all-reduce"
        for d in inner:
            what = "all-reduce" if last and d == len(sizes) - 1 else "reduce-scatter"
            yield Phase(_phase(plan, what, collective, sizes[d]), members[d], before[d])
    if collective in ("all-gather", "all-reduce"):
        for d in reversed(inner[:-1] if collective == "all-reduce" else inner):
            yield Phase(_phase(plan, "all-gather", collective, sizes[d]), members[d], before[d])
    if collective == "all-to-all":
        for d in inner:
            yield Phase(_along(plan, collective, sizes[d], counts[d]), members[d], 1)


def _phase(plan: Plan, phase: str, collective: str, size: tuple[int, int]) -> Template:
    """A phase along a dimension: by the algorithm of the whole collective, or if that has no such phase, by the phase's own."""
    algorithm = plan.algorithm(collective, size[0])
    try:
        return registry.template(phase, algorithm, size[1])
    except ScenarioError:
        return registry.template(phase, plan.algorithm(phase, size[0]), size[1])


def _composed(n: int, phases: list[Phase], splits: int) -> Template:
    """Phases one after the other for each member, `splits` times, a split entering a phase when the one before has left it."""
    columns: dict[str, list[np.ndarray]] = {name: [] for name in ("src", "dst", "step", "part", "parts", "own", "draw", "before", "then", "count")}
    ends: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}
    first_row, steps = 0, 0
    for split in range(splits):
        steps = 0
        for index, phase in enumerate(phases):
            rows, begins = _placed(phase, first_row, splits, columns, own=index == 0, step=steps)
            steps += int(phase.template.step.max(initial=0)) + 1
            ends[split, index] = rows
            first_row += len(phase.members) * len(phase.template)
            for earlier in ((split, index - 1), (split - 1, index)):
                if earlier in ends:
                    first_row += _link(ends[earlier], begins, first_row, n, columns)
    last = [ends[split, len(phases) - 1] for split in range(splits)]
    joined = {name: np.concatenate(parts) if parts else np.zeros(0, np.int64) for name, parts in columns.items()}
    return Template(
        n=n, **{name: joined[name] for name in ("src", "dst", "step", "part", "parts", "before", "then", "draw")}, own=joined["own"].astype(bool),
        last_member=np.concatenate([member for member, _ in last]), last_message=np.concatenate([message for _, message in last]),
        count=joined["count"],
    )  # fmt: skip


def _placed(phase: Phase, first: int, splits: int, columns: dict[str, list[np.ndarray]], own: bool, step: int):
    """Rows of a phase on all its groups; ((member, message) that end it, (member, message) that begin it)."""
    template, groups, m = phase.template, phase.members, len(phase.template)
    shape = (len(groups), m)
    offset = first + m * np.arange(len(groups))[:, None]
    columns["src"].append(groups[:, template.src].ravel())
    columns["dst"].append(groups[:, template.dst].ravel())
    for name, values in (
        ("step", template.step + step), ("part", template.part), ("parts", template.parts * (phase.share * splits)),
        ("own", template.own & own), ("draw", template.draw), ("count", template.count),
    ):  # fmt: skip
        columns[name].append(np.broadcast_to(values, shape).ravel())
    columns["before"].append((offset + template.before).ravel())
    columns["then"].append((offset + template.then).ravel())
    opening = np.flatnonzero(template.own)
    end = groups[:, template.last_member].ravel(), (offset + template.last_message).ravel()
    return end, (groups[:, template.src[opening]].ravel(), (offset + opening).ravel())


def _link(end, begin, first: int, n: int, columns: dict[str, list[np.ndarray]]) -> int:
    """What begins waits for all that ends the phase before at its member, by way of one row that is no message; how many are added."""
    meeting, nothing = first + np.arange(n), np.zeros(n, np.int64)
    for name, values in (("src", np.arange(n)), ("dst", np.arange(n)), ("parts", nothing + 1)):
        columns[name].append(values)
    for name in ("step", "part", "own", "draw", "count"):
        columns[name].append(nothing)
    (end_member, end_message), (begin_member, begin_message) = end, begin
    columns["before"] += [end_message, meeting[begin_member]]
    columns["then"] += [meeting[end_member], begin_message]
    return n


def ring_all_to_all(n: int) -> Template:
    """Data go round the ring: in step k a member passes on the n-1-k parts of 1/n that have further to go."""
    member, step = np.tile(np.arange(n), n - 1), np.repeat(np.arange(n - 1), n)
    message = np.arange(n * (n - 1)).reshape(n - 1, n)
    dst = (member + 1) % n
    return Template(
        n=n, src=member, dst=dst, step=step, part=n - 1 - step, parts=np.full(len(member), n), own=step == 0,
        before=np.roll(message[:-1], 1, axis=1).ravel(), then=message[1:].ravel(), last_member=dst, last_message=message.ravel(),
    )  # fmt: skip


def chain(n: int) -> Template:
    """A broadcast from member 0: n parts of 1/n, one after the other along the line of members."""
    hop, part = np.tile(np.arange(n - 1), n), np.repeat(np.arange(n), n - 1)
    message = np.arange(n * (n - 1)).reshape(n, n - 1)
    onward, behind = (message[:, :-1].ravel(), message[:, 1:].ravel()), (message[:-1].ravel(), message[1:].ravel())
    return Template(
        n=n, src=hop, dst=hop + 1, step=part + hop, part=np.ones(len(hop), np.int64), parts=np.full(len(hop), n), own=hop == 0,
        before=np.concatenate((onward[0], behind[0])), then=np.concatenate((onward[1], behind[1])),
        last_member=message[-1] - message[-1, 0] + 1, last_message=message[-1],
    )  # fmt: skip


def check(plan: Plan, collectives: set[str], sizes: set[tuple[tuple[int, int], ...]]) -> None:
    """ScenarioError if an algorithm does not exist for a collective, or not for so many GPUs."""
    for collective in sorted(collectives):
        for size in sorted(sizes):
            if int(np.prod([n for _, n in size])) > 1:
                try:
                    template(plan, collective, size)
                except ScenarioError as problem:
                    raise ScenarioError(f"program: {problem}") from None
