"""Edge lists: successors by a stable sort, and cycles by Kahn's algorithm (CACM 5(11), 1962)."""

import numpy as np

from sim.jit import njit


def _successors(nodes, before, after):
    pointer = np.concatenate(([0], np.cumsum(np.bincount(before, minlength=nodes)))).astype(np.int64)
    return pointer, after[np.argsort(before, kind="stable")].astype(np.int32)


def csr(nodes, done_before, done_after, acked_before, acked_after):
    """Successor lists of both sorts of edges, in the order the edges were given, and the number of
    edges into each node: (done_ptr, done_succ, acked_ptr, acked_succ, indegree)."""
    into = np.bincount(done_after, minlength=nodes) + np.bincount(acked_after, minlength=nodes)
    done = _successors(nodes, done_before, done_after)
    acked = _successors(nodes, acked_before, acked_after)
    return *done, *acked, into.astype(np.int32)


@njit
def cycle(done_ptr, done_succ, acked_ptr, acked_succ, indegree):
    """int64[k]: nodes of one cycle, each waiting for the next and the last for the first; empty if there is none."""
    nodes = len(indegree)
    left = indegree.copy()
    queue = np.empty(nodes, np.int64)
    size = 0
    for node in range(nodes):
        if left[node] == 0:
            queue[size] = node
            size += 1
    taken = 0
    while taken < size:
        node = queue[taken]
        taken += 1
        for i in range(done_ptr[node], done_ptr[node + 1]):
            left[done_succ[i]] -= 1
            if left[done_succ[i]] == 0:
                queue[size] = done_succ[i]
                size += 1
        for i in range(acked_ptr[node], acked_ptr[node + 1]):
            left[acked_succ[i]] -= 1
            if left[acked_succ[i]] == 0:
                queue[size] = acked_succ[i]
                size += 1
    if size == nodes:
        return queue[:0]

    waits_for = np.full(nodes, -1, np.int64)
    stuck = -1
    for node in range(nodes):
        if left[node] <= 0:
            continue
        stuck = node
        for i in range(done_ptr[node], done_ptr[node + 1]):
            waits_for[done_succ[i]] = node
        for i in range(acked_ptr[node], acked_ptr[node + 1]):
            waits_for[acked_succ[i]] = node
    seen = np.zeros(nodes, np.bool_)
    while not seen[stuck]:
        seen[stuck] = True
        stuck = waits_for[stuck]
    size = 0
    node = stuck
    while size == 0 or node != stuck:
        queue[size] = node
        size += 1
        node = waits_for[node]
    return queue[:size]
