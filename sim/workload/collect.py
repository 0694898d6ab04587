"""Tasks, flows and edges of a piece of work while it is put together, and pieces put side by side."""

from collections.abc import Sequence

import numpy as np

from sim.workload.blocks import FLOW_BASE, Edges, Flows, Tasks
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

    def add(self, other: "Work") -> tuple[int, int]:
        """Put `other` beside what is here; what to add to its task ids and to its flow ids."""
        tasks, flows, first = self.n_tasks, self.n_flows, self.name(other._names)
        self.add_tasks(other.tasks())
        self.add_flows(other.flows().renumbered(first))
        self.done.extend(other.done, tasks, flows)
        self.acked.extend(other.acked, tasks, flows)
        return tasks, flows

    def tasks(self) -> Tasks:
        return Tasks.join(self._tasks)

    def flows(self) -> Flows:
        return Flows.join(self._flows)

    def dag(self, n_ranks: int) -> Dag:
        """The graph as a Dag of `n_ranks` GPUs."""
        return assemble(self.tasks(), self.flows(), self.done, self.acked, tuple(self._names), n_ranks)


def repeat(work: Work, times: int) -> Work:
    """`work` so many times side by side, without edges between the copies."""
    whole = Work()
    for _ in range(times):
        whole.add(work)
    return whole
