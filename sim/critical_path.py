"""The critical path of a run: the chain of tasks and flows, each released by the one before, that ends last."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from sim.errors import RunError
from sim.jit import njit
from sim.workload.blocks import FlowKind, TaskKind
from sim.workload.dag import Dag

COMPUTE_KINDS = (TaskKind.FORWARD, TaskKind.BACKWARD, TaskKind.WEIGHT, TaskKind.RECOMPUTE, TaskKind.PROGRAM)
FLOW_KINDS = (FlowKind.DP, FlowKind.PP, FlowKind.EMBEDDING, FlowKind.TRAFFIC)  # named even where there are none


class WaitedFor(IntEnum):
    """What a node on the path started on."""

    NOTHING = 0  # it waits for no other node
    TASK = 1  # the end of a task
    ARRIVAL = 2  # the last data packet of a flow at its receiver
    ACK = 3  # the last ACK of a flow at its sender
    START_TIME = 4  # its own earliest start, later than all it waits for


@dataclass(frozen=True)
class CriticalPath:
    """Nodes in order of time; each holds the path from start_ps to release_ps, when it released the next."""

    nodes: np.ndarray  # int64[K], node ids of the Dag
    start_ps: np.ndarray  # int64[K]
    release_ps: np.ndarray  # int64[K], its end (arrival or ACK of a flow); the end of the run for the last
    waited_for: np.ndarray  # int8[K], WaitedFor
    idle_ps: np.ndarray  # int64[K], time before start_ps in which nothing on the path ran

    def __len__(self) -> int:
        return len(self.nodes)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        """The node ids, so that the path can be used as an index."""
        return self.nodes.astype(self.nodes.dtype if dtype is None else dtype)

    @property
    def length_ps(self) -> int:
        return int(self.release_ps[-1]) if len(self) else 0


@njit
def _last_releasers(n_tasks, done_ptr, done_succ, acked_ptr, acked_succ, end_ps, acked_ps, releaser, release_ps, by_ack):
    """For every node the predecessor whose release came last (of several at once the highest id)."""
    for node in range(len(end_ps)):
        if end_ps[node] < 0:
            continue
        for i in range(done_ptr[node], done_ptr[node + 1]):
            after = done_succ[i]
            if end_ps[node] >= release_ps[after]:
                release_ps[after] = end_ps[node]
                releaser[after] = node
                by_ack[after] = False
        if node < n_tasks or acked_ps[node - n_tasks] < 0:
            continue
        for i in range(acked_ptr[node], acked_ptr[node + 1]):
            after = acked_succ[i]
            if acked_ps[node - n_tasks] >= release_ps[after]:
                release_ps[after] = acked_ps[node - n_tasks]
                releaser[after] = node
                by_ack[after] = True


def critical_path(dag: Dag, start_ps: np.ndarray, end_ps: np.ndarray, acked_ps: np.ndarray) -> CriticalPath:
    """Walk back from the node that finished last, each time to the node whose release started it.

    Parameters
    ----------
    start_ps, end_ps : int64[T+F], start and end of every node (a flow ends when its last data packet
        arrives); negative if it has not happened, as after a cancelled run
    acked_ps : int64[F], last ACK of every flow at its sender, negative if it has not happened

    Notes
    -----
    O(N + E). Of nodes that end last at the same instant the highest id is taken, so that a flow comes
    before a task.
    """
    for what, column, length in (("start_ps", start_ps, dag.n_nodes), ("end_ps", end_ps, dag.n_nodes), ("acked_ps", acked_ps, dag.n_flows)):
        if len(column) != length:
            raise RunError(f"critical_path: {what} has {len(column)} entries, the graph needs {length}")
    start_ps, end_ps, acked_ps = (np.asarray(column, np.int64) for column in (start_ps, end_ps, acked_ps))
    releaser = np.full(dag.n_nodes, -1, np.int64)
    release_ps = np.full(dag.n_nodes, -1, np.int64)
    by_ack = np.zeros(dag.n_nodes, np.bool_)
    _last_releasers(
        dag.n_tasks, dag.done_ptr, dag.done_succ, dag.acked_ptr, dag.acked_succ, end_ps, acked_ps, releaser, release_ps, by_ack
    )

    nodes, waits, idle = [], [], []
    node = _last_to_end(end_ps)
    while node >= 0:
        nodes.append(node)
        before = releaser[node]
        held = start_ps[node] > release_ps[node] and dag.start_ps[node] == start_ps[node] > 0
        idle.append(start_ps[node] - max(release_ps[node], 0))
        waits.append(_reason(before, held, by_ack[node], dag.n_tasks))
        node = before
    path = np.array(nodes[::-1], np.int64)
    ends = end_ps[path[-1:]]
    return CriticalPath(
        nodes=path,
        start_ps=start_ps[path],
        release_ps=np.concatenate([release_ps[path[1:]], ends]),
        waited_for=np.array(waits[::-1], np.int8),
        idle_ps=np.array(idle[::-1], np.int64),
    )


def _last_to_end(end_ps: np.ndarray) -> int:
    if not len(end_ps) or end_ps.max() < 0:
        return -1
    return len(end_ps) - 1 - int(np.argmax(end_ps[::-1]))


def _reason(before: int, held: bool, by_ack: bool, n_tasks: int) -> WaitedFor:
    if held:
        return WaitedFor.START_TIME
    if before < 0:
        return WaitedFor.NOTHING
    if before < n_tasks:
        return WaitedFor.TASK
    return WaitedFor.ACK if by_ack else WaitedFor.ARRIVAL


def shares(dag: Dag, path: CriticalPath, end_ps: np.ndarray) -> dict[str, int]:
    """What the iteration's time went into along the critical path, ps; the parts add up to path.length_ps.

    Keys
    ----
    compute, TP : what the last rank to compute on the path had done itself until then
    bubble : compute and TP on the path beyond that, work of other ranks that it had to wait for: the
        pipeline filling and draining, (p - 1)/m of the work of a stage on a network that takes no time
    optimizer : its step
    in switch, where there is any : sums in the NVSwitch
    DP, PP, EMBEDDING, TRAFFIC, and EP, CP, ... where there are any : flows that nothing on the path hides
    idle : nothing on the path ran
    """
    span = path.release_ps - path.start_ps
    is_task = path.nodes < dag.n_tasks
    task, flow = path.nodes[is_task], path.nodes[~is_task] - dag.n_tasks
    task_span, flow_span = span[is_task], span[~is_task]
    kind = dag.task_kind[task]
    computes = {"compute": np.isin(kind, COMPUTE_KINDS), "TP": kind == TaskKind.TP}

    parts, excess = {}, 0
    for name, here in computes.items():
        on_path = int(task_span[here].sum())
        parts[name] = min(on_path, _done_itself(dag, path, end_ps, name))
        excess += on_path - parts[name]
    parts["bubble"] = excess
    parts["optimizer"] = int(task_span[kind == TaskKind.OPTIMIZER].sum())
    if (dag.task_kind == TaskKind.IN_SWITCH).any():
        parts["in switch"] = int(task_span[kind == TaskKind.IN_SWITCH].sum())
    for flow_kind in (*FLOW_KINDS, *(kind for kind in FlowKind if kind in dag.flow_kind and kind not in (*FLOW_KINDS, FlowKind.TP))):
        parts[flow_kind.name] = int(flow_span[dag.flow_kind[flow] == flow_kind].sum())
    parts["TP"] += int(flow_span[dag.flow_kind[flow] == FlowKind.TP].sum())
    parts["idle"] = int(path.idle_ps.sum()) + int(task_span[kind == TaskKind.WAIT].sum())
    return parts


def _done_itself(dag: Dag, path: CriticalPath, end_ps: np.ndarray, name: str) -> int:
    """Work of one sort that the last rank to compute on the path had done by the end of that task, ps."""
    of_task = np.flatnonzero(path.nodes < dag.n_tasks)
    works = of_task[dag.task_kind[path.nodes[of_task]] != TaskKind.OPTIMIZER]
    if not len(works):
        return 0
    rank, until = dag.task_rank[path.nodes[works[-1]]], path.release_ps[works[-1]]
    kinds = COMPUTE_KINDS if name == "compute" else (TaskKind.TP,)
    ended = end_ps[: dag.n_tasks]
    done = (dag.task_rank == rank) & np.isin(dag.task_kind, kinds) & (ended >= 0) & (ended <= until)
    return int(dag.task_duration_ps[done].sum())
