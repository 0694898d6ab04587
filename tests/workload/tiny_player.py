"""A player of Dags for tests: a heap and nothing else; every flow takes the time it would take alone."""

import heapq

import numpy as np


def play(dag, flow_ps=lambda n_bytes: 0, ack_ps=0):
    """(start_ps[T+F], end_ps[T+F], acked_ps[F]); raises if some node never starts."""
    tasks, nodes = dag.n_tasks, dag.n_nodes
    waiting = dag.indegree.copy()
    start = np.full(nodes, -1, np.int64)
    end = np.full(nodes, -1, np.int64)
    acked = np.full(dag.n_flows, -1, np.int64)
    heap = []

    def begin(node, now):
        start[node] = max(now, dag.start_ps[node])
        duration = dag.task_duration_ps[node] if node < tasks else flow_ps(int(dag.flow_bytes[node - tasks]))
        heapq.heappush(heap, (int(start[node] + duration), 0, node))

    def release(pointer, successor, node, now):
        for after in successor[pointer[node] : pointer[node + 1]]:
            waiting[after] -= 1
            if waiting[after] == 0:
                begin(after, now)

    for node in np.flatnonzero(waiting == 0):
        begin(node, 0)
    while heap:
        now, is_ack, node = heapq.heappop(heap)
        if is_ack:
            acked[node - tasks] = now
            release(dag.acked_ptr, dag.acked_succ, node, now)
            continue
        end[node] = now
        release(dag.done_ptr, dag.done_succ, node, now)
        if node >= tasks:
            heapq.heappush(heap, (now + ack_ps, 1, node))
    assert (start >= 0).all(), f"{(start < 0).sum()} nodes never start"
    return start, end, acked
