"""One iteration of a SimAI workload as a graph of tasks and messages.

Rank = tp index + tp (dp index + dp stage). Every pipeline stage runs all layers of the file for each of the `ga` micro-batches, in the
order of 1F1B; `vpp` does not cut stages into chunks. The forward pass goes through the layers from first to last: compute, then the
layer's communication, which the next layer waits for. The backward pass goes from last to first: gradient of the inputs, its
communication, gradient of the weights; in the last micro-batch the communication of the weight gradients then starts, which nothing
but the layer's update waits for, and which follows that of the layer before within a group. Updates come last, layer by layer.
Stages hand `pp_comm` bytes on to the same rank of the next stage after each forward pass, and back after each backward pass.

Groups: without suffix, TP for forward and input gradients and DP for weight gradients; _EP: `ep` data-parallel neighbours (if ep does not
divide dp, neighbours among all ranks of the stage); _DP_EP: ranks at the same place of those blocks. Bytes are those of the whole buffer.

Where that makes more than a million tasks and messages, compute that nothing comes between is one task, named after its last part.
"""

from dataclasses import dataclass

import numpy as np

from sim.errors import ScenarioError
from sim.workload.blocks import FlowKind, Flows, TaskKind, Tasks
from sim.workload.collect import Work
from sim.workload.collective.template import instantiate
from sim.workload.program_collectives import Plan, template
from sim.workload.program_messages import add_messages
from sim.workload.program_simai_work import NONES, SimaiWork
from sim.workload.schedule import one_f_one_b
from sim.workload.schedule.order import Op

MAX_NODES = 12_000_000  # tasks and messages: about 4 GB
MERGE_FROM = 1_000_000  # of them, from which compute without anything between is one task
NAMES = {"ALLREDUCE": "all-reduce", "ALLGATHER": "all-gather", "REDUCESCATTER": "reduce-scatter", "ALLTOALL": "all-to-all"}
FORWARD, INPUT, WEIGHT = range(3)  # phases of a layer
KINDS = (TaskKind.FORWARD, TaskKind.BACKWARD, TaskKind.WEIGHT)
WORDS = ("forward", "input gradient", "weight gradient")
PS_PER_NS = 1000
MOST_INT16 = 2**15 - 1


@dataclass(frozen=True)
class Group:
    """Ranks of a stage that communicate: int[groups, n] of positions in the stage."""

    name: str
    kind: FlowKind
    members: np.ndarray


def groups_of(work: SimaiWork) -> dict[str, Group]:
    """The groups within a stage: TP, DP, EP, DP_EP."""
    tp, dp, ep = work.tp, work.dp, work.ep
    rank = np.arange(tp * dp)
    grid = rank.reshape(dp, tp)
    if dp % ep == 0:
        blocks = grid.reshape(dp // ep, ep, tp)
        expert = blocks.transpose(0, 2, 1).reshape(-1, ep)
        across = blocks.transpose(1, 2, 0).reshape(-1, dp // ep)
    else:
        expert = rank.reshape(-1, ep)
        across = expert.T
    return {
        "TP": Group("TP", FlowKind.TP, grid), "DP": Group("DP", FlowKind.DP, grid.T),
        "EP": Group("EP", FlowKind.EP, expert), "DP_EP": Group("DP_EP", FlowKind.DP, across),
    }  # fmt: skip


def split_comm(word: str, phase: int) -> tuple[str, str] | None:
    """(collective, group) of a layer's communication, None for NONE."""
    if word in NONES:
        return None
    for suffix in ("_DP_EP", "_EP"):
        if word.endswith(suffix):
            return NAMES[word.removesuffix(suffix)], suffix[1:]
    return NAMES[word], "DP" if phase == WEIGHT else "TP"


def build(work: SimaiWork, plan: Plan, into: Work) -> None:
    """Add the iteration to `into`; ScenarioError if it is too large."""
    merge = expected_nodes(work, False) > MERGE_FROM
    size = expected_nodes(work, merge)
    if size > MAX_NODES:
        raise ScenarioError(
            f"program: this workload makes {size:,} tasks and messages; at most {MAX_NODES:,} are simulated: fewer layers, GPUs or micro-batches (ga) fit"
        )
    _Builder(work, plan, into, merge).run()


def expected_nodes(work: SimaiWork, merge: bool) -> int:
    """Tasks and messages of an iteration, about."""
    groups, total = groups_of(work), 0
    for phase in (FORWARD, INPUT, WEIGHT):
        messages = 0
        for word in work.comm[phase]:
            found = split_comm(word, phase)
            n = groups[found[1]].members.shape[1] if found else 1
            messages += (2 if found and found[0] == "all-reduce" else 1) * (n - 1) + (n > 1)
        tasks = int((work.ns[phase] > 0).sum())
        early = min(tasks, 1 + messages) if merge and phase != WEIGHT else 0 if merge else tasks
        total += work.gpus * (early * (work.ga - 1) + tasks + messages * (1 if phase == WEIGHT else work.ga))
    return total + 2 * work.gpus * work.ga


class _Builder:
    """The iteration while it grows. Node arrays are [stages, micro-batches, ranks of a stage].

    `merge`: compute that nothing else comes between is one task, but in the last micro-batch.
    """

    def __init__(self, work: SimaiWork, plan: Plan, into: Work, merge: bool) -> None:
        self.work, self.plan, self.into, self.merge = work, plan, into, merge
        self.groups = groups_of(work)
        self.ranks = np.arange(work.gpus).reshape(work.pp, work.tp * work.dp)
        self.shape = (work.pp, work.ga, work.tp * work.dp)
        self.last_in_group: dict[str, object] = {}
        self.reduced: dict[int, object] = {}  # what the update of a layer waits for

    def run(self) -> None:
        """All micro-batches before the last, then the last one, whose weight gradients are communicated."""
        ga = self.work.ga
        parts = [self._passes(np.arange(ga - 1))] if ga > 1 else []
        parts.append(self._passes(np.array([ga - 1])))
        begin, end = ({op: np.concatenate([part[side][op] for part in parts], axis=1) for op in (Op.FORWARD, Op.BACKWARD)} for side in (0, 1))
        self._chain(begin, end)
        self._hand_over(end[Op.FORWARD], begin[Op.FORWARD], onward=True)
        self._hand_over(end[Op.BACKWARD], begin[Op.BACKWARD], onward=False)
        self._update(end[Op.BACKWARD])

    def _passes(self, batches: np.ndarray) -> tuple[dict, dict]:
        """Forward and backward of some micro-batches: where each begins and ends."""
        layers = range(len(self.work.name))
        steps = {
            Op.FORWARD: [(layer, FORWARD) for layer in layers],
            Op.BACKWARD: [(layer, phase) for layer in reversed(layers) for phase in (INPUT, WEIGHT)],
        }  # fmt: skip
        last, begin, end = batches[-1] == self.work.ga - 1, {}, {}
        for op, order in steps.items():
            at = begin[op] = self._tasks(TaskKind.WAIT, 0, -1, batches)
            waiting_ps = 0
            for layer, phase in order:
                waiting_ps += int(self.work.ns[phase, layer]) * PS_PER_NS
                found = self._comm(layer, phase, last)
                if waiting_ps and (found or last or not self.merge):
                    at, waiting_ps = self._after(at, KINDS[phase], waiting_ps, layer, batches), 0
                if found and phase == WEIGHT:
                    self._reduce(at, layer, *found)
                elif found:
                    at = self._exchange(at, layer, phase, *found, batches)
            end[op] = self._after(at, KINDS[order[-1][1]], waiting_ps, -1, batches) if waiting_ps else at
        return begin, end

    def _tasks(self, kind: TaskKind, duration_ps: int, layer: int, batches: np.ndarray) -> np.ndarray:
        shape = (self.work.pp, len(batches), self.shape[2])
        rank = np.broadcast_to(self.ranks[:, None, :], shape).ravel().astype(np.int32)
        size = len(rank)
        microbatch = np.minimum(np.broadcast_to(batches[None, :, None], shape), MOST_INT16).ravel().astype(np.int16)
        tasks = Tasks(
            rank, np.full(size, kind, np.int8), np.full(size, duration_ps, np.int64), np.zeros(size, np.int64),
            np.full(size, min(layer, MOST_INT16), np.int16), microbatch,
        )  # fmt: skip
        return self.into.add_tasks(tasks).reshape(shape)

    def _after(self, at: np.ndarray, kind: TaskKind, duration_ps: int, layer: int, batches: np.ndarray) -> np.ndarray:
        task = self._tasks(kind, duration_ps, layer, batches)
        self.into.done.add(at, task)
        return task

    def _comm(self, layer: int, phase: int, last: bool) -> tuple[str, str] | None:
        """(collective, group) of a step's communication, if there is any in these micro-batches."""
        found = split_comm(self.work.comm[phase][layer], phase)
        alone = found is None or self.groups[found[1]].members.shape[1] < 2
        return None if alone or (phase == WEIGHT and not last) else found

    def _exchange(self, at: np.ndarray, layer: int, phase: int, collective: str, group: str, batches: np.ndarray) -> np.ndarray:
        """Communication that the next step waits for."""
        placed = self._collective(at, layer, phase, collective, group, batches)
        after = self._tasks(TaskKind.WAIT, 0, layer, batches)
        placed.finish(self.into, self._of_groups(after, self.groups[group]))
        return after

    def _reduce(self, at: np.ndarray, layer: int, collective: str, group: str) -> None:
        """Communication of weight gradients, in the last micro-batch; nothing but the update waits for it."""
        last = np.array([self.work.ga - 1])
        ready = self._after(at, TaskKind.WAIT, 0, layer, last)
        if group in self.last_in_group:
            self.last_in_group[group].finish(self.into, self._of_groups(ready, self.groups[group]))
        self.last_in_group[group] = self.reduced[layer] = self._collective(ready, layer, WEIGHT, collective, group, last)

    def _of_groups(self, nodes: np.ndarray, group: Group) -> np.ndarray:
        """[micro-batches, stages x groups, n] of [stages, micro-batches, ranks]."""
        placed = nodes[:, :, group.members]
        return placed.transpose(1, 0, 2, 3).reshape(nodes.shape[1], -1, group.members.shape[1])

    def _collective(self, ready: np.ndarray, layer: int, phase: int, collective: str, group: str, batches: np.ndarray):
        own = self.groups[group]
        n = own.members.shape[1]
        members = self.ranks[:, own.members].reshape(-1, n)
        what = f"{self.work.name[layer]} {WORDS[phase]} {collective}"
        names = [f"{what}, {own.name} group {index}" for index in range(len(members))]
        return instantiate(
            self.into, template(self.plan, collective, ((0, n),)), members, np.full(len(batches), self.work.n_bytes[phase, layer], np.int64), 1,
            own.kind, ready=self._of_groups(ready, own), names=lambda series, index: names[index], microbatch=np.minimum(batches, MOST_INT16),
        )  # fmt: skip

    def _chain(self, begin: dict, end: dict) -> None:
        """Each stage's passes, one after the other."""
        for stage in range(self.work.pp):
            order = one_f_one_b.order(stage, self.work.pp, self.work.ga)
            passes = np.stack([order.op, order.micro_batch])
            first, last = (np.stack([both[Op.FORWARD][stage], both[Op.BACKWARD][stage]])[*passes] for both in (begin, end))
            self.into.done.add(last[:-1], first[1:])

    def _hand_over(self, end: np.ndarray, begin: np.ndarray, onward: bool) -> None:
        """Activations to the next stage, or gradients to the one before."""
        if self.work.pp == 1:
            return
        sends, gets = (slice(None, -1), slice(1, None)) if onward else (slice(1, None), slice(None, -1))
        shape = (self.work.pp - 1, *self.shape[1:])
        src, dst = (np.broadcast_to(self.ranks[side][:, None, :], shape) for side in (sends, gets))
        batch = np.minimum(np.arange(self.work.ga), MOST_INT16)[None, :, None]
        made = Flows.of(src, dst, self.work.pp_comm_bytes, FlowKind.PP, draw_key=0, microbatch=batch)
        flows = add_messages(self.into, FlowKind.PP, made).reshape(shape)
        self.into.done.add(end[sends], flows)
        self.into.done.add(flows, begin[gets])

    def _update(self, end: np.ndarray) -> None:
        """The optimizer, layer by layer, each after its gradients."""
        last = np.array([self.work.ga - 1])
        at = end[:, -1:]
        for layer, time in enumerate(self.work.update_ns.tolist()):
            if not time:
                continue
            task = self._after(at, TaskKind.OPTIMIZER, time * PS_PER_NS, layer, last)
            if layer in self.reduced:
                found = split_comm(self.work.comm[WEIGHT][layer], WEIGHT)
                self.reduced[layer].finish(self.into, self._of_groups(task, self.groups[found[1]]))
            at = task
