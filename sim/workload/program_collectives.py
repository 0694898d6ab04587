"""Collectives of imported graphs: over one group, or dimension by dimension as ASTRA-sim runs them (arXiv 2303.14006, section III).

Over dimensions of n0, n1, ... GPUs, a reduce-scatter runs along each in turn on what the one before has left, an all-gather the
other way round, an all-reduce is the one and then the other, and an all-to-all runs along each in turn with all the data.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from sim.errors import ScenarioError
from sim.workload.collective import registry
from sim.workload.collective.compose import chunked, in_turn, on_groups
from sim.workload.collective.template import Template

DEFAULT = {"all-reduce": "ring", "all-gather": "ring", "reduce-scatter": "ring", "all-to-all": "direct", "broadcast": "ring"}
AS_COLLECTIVE = {"barrier": "all-reduce"}  # of no bytes
Extent = tuple[tuple[int, int], ...]  # (dimension, GPUs along it) of a group, the innermost first


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

    def at_once(self, collective: str) -> bool:
        """Whether one algorithm runs over all dimensions at once."""
        return len(self.dimensions) < 2 or collective == "broadcast" or len(dict(self.algorithms).get(collective, ())) == 1


def extent(plan: Plan, members: list[int]) -> Extent:
    """The extent of a group that is a full block of the dimensions; ((0, n),) of any other group."""
    ranks, whole = np.array(members), ((0, len(members)),)
    if len(plan.dimensions) < 2 or ranks.max(initial=0) >= np.prod(plan.dimensions, dtype=np.int64):
        return whole
    sizes, stride = [], 1
    for dimension, n in enumerate(plan.dimensions):
        along = len(np.unique(ranks // stride % n))
        if along > 1:
            sizes.append((dimension, along))
        stride *= n
    return tuple(sizes) if sizes and np.prod([n for _, n in sizes]) == len(ranks) else whole


@cache
def template(plan: Plan, collective: str, sizes: Extent) -> Template:
    """The template of a collective among members in rising order of their ranks."""
    collective = AS_COLLECTIVE.get(collective, collective)
    n = int(np.prod([size for _, size in sizes]))
    if plan.at_once(collective) or len(sizes) == 1:
        return chunked(_along(plan, collective, sizes[0][0], n), plan.splits)
    return chunked(in_turn(*_phases(plan, collective, sizes, n)), plan.splits)


def _along(plan: Plan, collective: str, dimension: int, n: int) -> Template:
    algorithm = plan.algorithm(collective, dimension)
    if (collective, algorithm) == ("all-to-all", "ring"):
        return ring_all_to_all(n)
    return registry.template(collective, algorithm, n)


def _phases(plan: Plan, collective: str, sizes: Extent, n: int) -> list[Template]:
    """A template for each dimension, and for the way back of an all-reduce."""
    last = len(sizes) - 1
    onward = [(place, "reduce-scatter") for place in range(last + 1)]
    back = [(place, "all-gather") for place in reversed(range(last + 1))]
    steps = {
        "reduce-scatter": onward, "all-gather": back, "all-reduce": [*onward[:-1], (last, "all-reduce"), *back[1:]],
        "all-to-all": [(place, "all-to-all") for place in range(last + 1)],
    }[collective]  # fmt: skip
    return [_phase(plan, what, collective, sizes, place, n) for place, what in steps]


def _phase(plan: Plan, what: str, collective: str, sizes: Extent, place: int, n: int) -> Template:
    """A phase along a dimension, by the algorithm of the whole collective or, if that has no such phase, by the phase's own."""
    dimension, along = sizes[place]
    stride = int(np.prod([size for _, size in sizes[:place]], dtype=np.int64))
    groups = np.arange(n).reshape(-1, along, stride).swapaxes(1, 2).reshape(-1, along)
    if what == "all-to-all":
        return on_groups(_along(plan, what, dimension, along), groups, n)
    try:
        one = registry.template(what, plan.algorithm(collective, dimension), along)
    except ScenarioError:
        one = registry.template(what, plan.algorithm(what, dimension), along)
    rest = n // (stride * along)
    return on_groups(one, groups, n, first=groups[:, 0] % stride, scale=stride, count=rest, stride=stride * along, share=stride)


def ring_all_to_all(n: int) -> Template:
    """Data go round the ring: in step k a member passes on the n-1-k parts of 1/n that have further to go."""
    member, step = np.tile(np.arange(n), n - 1), np.repeat(np.arange(n - 1), n)
    message = np.arange(n * (n - 1)).reshape(n - 1, n)
    dst = (member + 1) % n
    return Template(
        n=n, src=member, dst=dst, step=step, part=n - 1 - step, parts=np.full(len(member), n), own=step == 0,
        before=np.roll(message[:-1], 1, axis=1).ravel(), then=message[1:].ravel(), last_member=dst, last_message=message.ravel(),
    )  # fmt: skip
