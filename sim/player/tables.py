"""Arrays of the compiled player: the graph of tasks and flows, and what has become of each node."""

from collections import namedtuple

import numpy as np

from sim.jit import COMPILED
from sim.packet.state import records

Play = namedtuple(
    "Play",
    "p node flow heap successors",
)

PLAY = np.dtype([("tasks", "i8"), ("nodes", "i8"), ("heap", "i8"), ("ready", "i8"), ("left", "i8"), ("finished_flows", "i8"), ("now", "i8")])

NODE = np.dtype(
    [
        ("start_ps", "i8"), ("duration_ps", "i8"), ("started", "i8"), ("ended", "i8"),
        ("done_from", "i8"), ("acked_from", "i8"), ("acked_to", "i8"), ("waiting", "i4"), ("ready", "i4"),
    ]
)  # fmt: skip

FLOW = np.dtype([("acked", "i8"), ("marks", "i8"), ("retransmits", "i8"), ("empty_done_ps", "i8"), ("empty_acked_ps", "i8")])

HEAP = np.dtype([("at", "i8"), ("code", "i8")])

END, ACKED_NOW, BEGIN = 0, 1, 2


def make_play(dag, empty_ps) -> Play:
    """Player's arrays for a Dag.

    `empty_ps` int64[F, 2]: time until delivery and until the ACK of a flow without bytes, -1 for all others.
    A node's successors are those of its end, then those of its last ACK, in one list.
    """
    nodes = dag.indegree.size
    tasks = dag.task_duration_ps.size
    p = np.zeros(1, PLAY)
    p[0]["tasks"], p[0]["nodes"], p[0]["left"] = tasks, nodes, nodes
    node = records(nodes + 1, NODE)
    node["waiting"][:nodes] = dag.indegree
    node["start_ps"][:nodes] = dag.start_ps
    node["duration_ps"][:tasks] = dag.task_duration_ps
    node["started"], node["ended"] = -1, -1
    done, acked = np.diff(dag.done_ptr), np.diff(dag.acked_ptr)
    begin = np.concatenate(([0], np.cumsum(done + acked)))[:-1]
    node["done_from"][:nodes] = begin
    node["acked_from"][:nodes] = begin + done
    node["acked_to"][:nodes] = begin + done + acked
    successors = np.empty(len(dag.done_succ) + len(dag.acked_succ) + 1, np.int32)
    successors[np.repeat(begin - dag.done_ptr[:-1], done) + np.arange(len(dag.done_succ))] = dag.done_succ
    successors[np.repeat(begin + done - dag.acked_ptr[:-1], acked) + np.arange(len(dag.acked_succ))] = dag.acked_succ
    flow = records(max(1, nodes - tasks), FLOW)
    flow["acked"] = -1
    flow["empty_done_ps"], flow["empty_acked_ps"] = -1, -1
    if nodes > tasks:
        flow["empty_done_ps"], flow["empty_acked_ps"] = empty_ps[:, 0], empty_ps[:, 1]
    return Play(p if COMPILED else p.view(np.recarray), node, flow, records(2 * nodes + 2, HEAP), successors)
