"""Tasks, flows and edges of a piece of work while it is put together, and pieces put side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.workload.blocks import FLOW_BASE, Edges, FlowKind, Flows, Tasks
from sim.workload.dag import Dag, assemble


class Work:
    """A growing graph. Node ids: tasks 0, 1, ..., flows FLOW_BASE, FLOW_BASE + 1, ..., so that both can still grow."""

    def __init__(self) -> None:
        self._tasks: list[Tasks] = []
        self._flows: list[Flows] = []
        self._names: list[str] = []
        self.n_tasks = self.n_flows = 0
        self.done = Edges()
        self.acked = Edges()

    def add_tasks(self, tasks: Tasks) -> np.ndarray:
        """int64[len(tasks)]: their node ids."""
        self._tasks.append(tasks)
        self.n_tasks += len(tasks)
        return np.arange(self.n_tasks - len(tasks), self.n_tasks)

    def add_flows(self, flows: Flows) -> np.ndarray:
        """int64[len(flows)]: their node ids."""
        self._flows.append(flows)
        self.n_flows += len(flows)
        return FLOW_BASE + np.arange(self.n_flows - len(flows), self.n_flows)

    def name(self, names: Sequence[str]) -> int:
        """Register collectives; the number of the first."""
        self._names += names
        return len(self._names) - len(names)

    def add(self, other: "Work") -> int:
        """Put `other` beside what is here; what to add to its task ids."""
        return self.add_parts(other.tasks(), other.flows(), other)

    def add_parts(self, tasks: Tasks, flows: Flows, other: "Work") -> int:
        """The same with the tasks and flows of `other` given, changed or not."""
        n_tasks, n_flows, first = self.n_tasks, self.n_flows, self.name(other._names)
        self.add_tasks(tasks)
        self.add_flows(flows.renumbered(first))
        self.done.extend(other.done, n_tasks, n_flows)
        self.acked.extend(other.acked, n_tasks, n_flows)
        return n_tasks

    def tasks(self) -> Tasks:
        return Tasks.join(self._tasks)

    def flows(self) -> Flows:
        return Flows.join(self._flows)

    def dag(self, n_ranks: int) -> Dag:
        """The graph as a Dag of `n_ranks` GPUs."""
        return assemble(self.tasks(), self.flows(), self.done, self.acked, tuple(self._names), n_ranks)


class _NoEdges(Edges):
    def add(self, before, after) -> None:
        pass


@dataclass(frozen=True)
class Counted:
    """Messages that are only counted: all pairs src x dst [groups, M], each with sizes [series, groups or 1, M] bytes."""

    kind: FlowKind
    src: np.ndarray
    dst: np.ndarray
    n_bytes: np.ndarray


class Tally(Work):
    """The same face, but tasks and messages are counted only: what a graph will hold, without building it."""

    def __init__(self) -> None:
        super().__init__()
        self.counted: list[Counted] = []
        self.done = self.acked = _NoEdges()

    def count(self, kind: FlowKind, flows: Flows) -> None:
        """Flows that are at hand already."""
        self.n_flows += len(flows)
        self.counted.append(Counted(kind, flows.src[None], flows.dst[None], flows.n_bytes[None, None]))
