"""One iteration as a graph: tasks and flows in arrays, and what each releases when it is done."""

from dataclasses import dataclass

import numpy as np

from sim.errors import LabError
from sim.workload.blocks import Edges, FlowKind, Flows, TaskKind, Tasks
from sim.workload.graph import csr, cycle

CYCLE_SHOWN = 6


@dataclass(frozen=True)
class Dag:
    """Nodes 0..T-1 are tasks, T..T+F-1 are flows. No queues: a rank's order of work is in the edges."""

    task_rank: np.ndarray  # int32[T]
    task_kind: np.ndarray  # int8[T], TaskKind
    task_duration_ps: np.ndarray  # int64[T]
    task_bytes: np.ndarray  # int64[T], bytes the rank sends over NVLink in a TP task, else 0
    task_layer: np.ndarray  # int16[T], -1 none
    task_microbatch: np.ndarray  # int16[T], -1 none
    task_job: np.ndarray  # int16[T]
    task_iteration: np.ndarray  # int16[T]
    flow_src: np.ndarray  # int32[F], host index
    flow_dst: np.ndarray  # int32[F], host index
    flow_bytes: np.ndarray  # int64[F]
    flow_kind: np.ndarray  # int8[F], FlowKind
    flow_collective: np.ndarray  # int32[F], index into collective_name, -1 none
    flow_step: np.ndarray  # int32[F], step within the collective
    flow_microbatch: np.ndarray  # int16[F], -1 none
    flow_draw_key: np.ndarray  # int64[F], position within its pattern: equal for twins of other groups
    flow_job: np.ndarray  # int16[F]
    flow_iteration: np.ndarray  # int16[F]
    start_ps: np.ndarray  # int64[T+F], earliest start
    indegree: np.ndarray  # int32[T+F], edges of both sorts that a node waits for
    done_ptr: np.ndarray  # int64[T+F+1]: released when a task ends, or a flow's last data packet arrives
    done_succ: np.ndarray  # int32[..]
    acked_ptr: np.ndarray  # int64[T+F+1]: released when a flow's last ACK is back at its sender
    acked_succ: np.ndarray  # int32[..]
    collective_name: tuple[str, ...]
    n_ranks: int

    @property
    def n_tasks(self) -> int:
        return len(self.task_rank)

    @property
    def n_flows(self) -> int:
        return len(self.flow_src)

    @property
    def n_nodes(self) -> int:
        return self.n_tasks + self.n_flows

    def describe(self, node: int) -> str:
        """A node in words: "backward of layer 3, micro-batch 1, on rank 5"."""
        if node < self.n_tasks:
            kind = TaskKind(self.task_kind[node]).name.lower().replace("tp", "TP")
            layer, microbatch = int(self.task_layer[node]), int(self.task_microbatch[node])
            where = f" of layer {layer}" * (layer >= 0) + f", micro-batch {microbatch}," * (microbatch >= 0)
            return f"{kind}{where} on rank {self.task_rank[node]}"
        flow = node - self.n_tasks
        collective, microbatch = int(self.flow_collective[flow]), int(self.flow_microbatch[flow])
        what = FlowKind(self.flow_kind[flow]).name
        if collective >= 0:
            what += f" {self.collective_name[collective]} step {self.flow_step[flow]}"
        elif microbatch >= 0:
            what += f" micro-batch {microbatch}"
        return f"flow {flow} ({what}, {self.flow_src[flow]} -> {self.flow_dst[flow]})"

    def validate(self) -> None:
        """Raise LabError if an id is out of range, a size is negative, or nodes wait for each other in a circle."""
        self._check_ranges()
        ring = cycle(self.done_ptr, self.done_succ, self.acked_ptr, self.acked_succ, self.indegree)
        if len(ring):
            shown = [self.describe(node) for node in ring[:CYCLE_SHOWN]]
            more = [f"{len(ring) - CYCLE_SHOWN} more"] if len(ring) > CYCLE_SHOWN else []
            raise LabError(
                f"deadlock: {len(ring)} tasks and flows wait for each other: "
                + " waits for ".join(shown + more + [self.describe(ring[0])])
            )

    def _check_ranges(self) -> None:
        for what, ids, bound in (
            ("task_rank", self.task_rank, self.n_ranks),
            ("flow_src", self.flow_src, self.n_ranks),
            ("flow_dst", self.flow_dst, self.n_ranks),
            ("done_succ", self.done_succ, self.n_nodes),
            ("acked_succ", self.acked_succ, self.n_nodes),
            ("flow_collective + 1", self.flow_collective + 1, len(self.collective_name) + 1),
        ):
            bad = np.flatnonzero((ids < 0) | (ids >= bound))
            if len(bad):
                raise LabError(f"{what}[{bad[0]}] = {ids[bad[0]]}: the legal range is 0 to {bound - 1}")
        for what, values in (("task_duration_ps", self.task_duration_ps), ("flow_bytes", self.flow_bytes), ("start_ps", self.start_ps)):
            bad = np.flatnonzero(values < 0)
            if len(bad):
                raise LabError(f"{what}[{bad[0]}] = {values[bad[0]]}: must not be negative")
        to_itself = np.flatnonzero(self.flow_src == self.flow_dst)
        if len(to_itself):
            flow = to_itself[0]
            raise LabError(f"flow {flow} goes from rank {self.flow_src[flow]} to itself; a flow needs two ranks")


def assemble(tasks: Tasks, flows: Flows, done: Edges, acked: Edges, collective_name: tuple[str, ...], n_ranks: int) -> Dag:
    """A Dag of blocks and edges; in the edges flows are numbered after the tasks, or from FLOW_BASE on."""
    nodes = len(tasks) + len(flows)
    done_ptr, done_succ, acked_ptr, acked_succ, indegree = csr(nodes, *done.arrays(len(tasks)), *acked.arrays(len(tasks)))
    return Dag(
        task_rank=tasks.rank, task_kind=tasks.kind, task_duration_ps=tasks.duration_ps, task_bytes=tasks.n_bytes,
        task_layer=tasks.layer, task_microbatch=tasks.microbatch, task_job=tasks.job, task_iteration=tasks.iteration,
        flow_src=flows.src, flow_dst=flows.dst, flow_bytes=flows.n_bytes, flow_kind=flows.kind,
        flow_collective=flows.collective, flow_step=flows.step, flow_microbatch=flows.microbatch, flow_draw_key=flows.draw_key,
        flow_job=flows.job, flow_iteration=flows.iteration,
        start_ps=np.concatenate([np.zeros(len(tasks), np.int64), flows.start_ps]),
        indegree=indegree, done_ptr=done_ptr, done_succ=done_succ, acked_ptr=acked_ptr, acked_succ=acked_succ,
        collective_name=collective_name, n_ranks=n_ranks,
    )  # fmt: skip
