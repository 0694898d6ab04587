"""Arrays of the compiled player: the graph of tasks and flows, and what has become of each node."""

from collections import namedtuple

import numpy as np

Play = namedtuple(
    "Play",
    "p waiting start_ps duration_ps done_ptr done_succ acked_ptr acked_succ "
    "started ended acked marks retransmits zero_ps heap_at heap_code ready",
)

PLAY = np.dtype([("tasks", "i8"), ("nodes", "i8"), ("heap", "i8"), ("ready", "i8"), ("left", "i8"), ("finished_flows", "i8"), ("now", "i8")])

END, BEGIN, ACKED_NOW = 0, 1, 2


def make_play(dag, zero_ps):
    """Player's arrays for a Dag; `zero_ps[F, 2]`: time until delivery and until the ACK of an empty flow, -1 for others."""
    nodes = dag.indegree.size
    tasks = dag.task_duration_ps.size
    flows = nodes - tasks
    p = np.zeros(1, PLAY)
    p[0]["tasks"], p[0]["nodes"], p[0]["left"] = tasks, nodes, nodes
    return Play(
        p=p, waiting=dag.indegree.astype(np.int32), start_ps=dag.start_ps.astype(np.int64), duration_ps=dag.task_duration_ps.astype(np.int64),
        done_ptr=dag.done_ptr.astype(np.int64), done_succ=dag.done_succ.astype(np.int32),
        acked_ptr=dag.acked_ptr.astype(np.int64), acked_succ=dag.acked_succ.astype(np.int32),
        started=np.full(nodes, -1, np.int64), ended=np.full(nodes, -1, np.int64), acked=np.full(max(1, flows), -1, np.int64),
        marks=np.zeros(max(1, flows), np.int64), retransmits=np.zeros(max(1, flows), np.int64), zero_ps=zero_ps.astype(np.int64),
        heap_at=np.zeros(2 * nodes + 2, np.int64), heap_code=np.zeros(2 * nodes + 2, np.int64), ready=np.zeros(nodes + 1, np.int64),
    )
