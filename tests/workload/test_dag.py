"""Graphs as arrays: successors, and cycles told as who waits for whom."""

import numpy as np
import pytest

from sim.errors import LabError
from sim.workload.blocks import Edges, FlowKind, Flows, TaskKind, Tasks
from sim.workload.dag import assemble


def tasks(ranks):
    zeros = np.zeros(len(ranks), np.int64)
    return Tasks(
        np.array(ranks, np.int32), np.full(len(ranks), TaskKind.FORWARD, np.int8), zeros, zeros,
        np.arange(len(ranks), dtype=np.int16), zeros.astype(np.int16),
    )  # fmt: skip


def graph(ranks, src, dst, done=(), acked=(), n_bytes=1):
    flows = Flows.of(np.array(src, int), np.array(dst, int), n_bytes, FlowKind.PP, draw_key=0, microbatch=2)
    sorts = []
    for pairs in (done, acked):
        sorts.append(Edges())
        for before, after in pairs:
            sorts[-1].add(np.array([before]), np.array([after]))
    return assemble(tasks(ranks), flows, *sorts, (), n_ranks=4)


def test_successors_and_indegrees():
    dag = graph([0, 1], [0], [1], done=[(0, 2), (2, 1)], acked=[(2, 0)])
    assert dag.done_ptr.tolist() == [0, 1, 1, 2]
    assert dag.done_succ.tolist() == [2, 1]
    assert dag.acked_ptr.tolist() == [0, 0, 0, 1]
    assert dag.acked_succ.tolist() == [0]
    assert dag.indegree.tolist() == [1, 1, 1]


def test_a_sound_graph_passes():
    graph([0, 1], [0], [1], done=[(0, 2), (2, 1)]).validate()
    graph([], [0], [1]).validate()


def test_a_cycle_is_told_as_who_waits_for_whom():
    dag = graph([0, 1, 2], [0, 1], [1, 0], done=[(0, 3), (3, 1), (1, 4), (4, 0), (1, 2)])
    with pytest.raises(LabError) as problem:
        dag.validate()
    said = str(problem.value)
    assert said.startswith("deadlock: 4 tasks and flows wait for each other: ")
    chain = said.split(": ", 2)[2].split(" waits for ")
    assert chain[0] == chain[-1]
    assert len(chain) == 5
    at = chain.index("forward of layer 1, micro-batch 0, on rank 1")
    assert (chain + chain[1:])[at + 1] == "flow 0 (PP micro-batch 2, 0 -> 1)"


def test_a_cycle_through_an_ack_is_found():
    with pytest.raises(LabError, match="deadlock: 2 "):
        graph([0], [0], [1], done=[(0, 1)], acked=[(1, 0)]).validate()


def test_a_node_that_waits_for_itself():
    with pytest.raises(LabError, match="deadlock: 1 "):
        graph([0], [], [], done=[(0, 0)]).validate()


def test_long_cycles_are_shortened():
    with pytest.raises(LabError, match="deadlock: 20 .* waits for 14 more waits for "):
        graph([0] * 20, [], [], done=[(i, (i + 1) % 20) for i in range(20)]).validate()


@pytest.mark.parametrize(
    ("src", "dst", "n_bytes", "message"),
    [
        ([0], [4], 1, r"flow_dst\[0\] = 4: the legal range is 0 to 3"),
        ([-1], [1], 1, r"flow_src\[0\] = -1"),
        ([2], [2], 1, "flow 0 goes from rank 2 to itself"),
        ([0], [1], -5, r"flow_bytes\[0\] = -5: must not be negative"),
    ],
)
def test_ranges(src, dst, n_bytes, message):
    with pytest.raises(LabError, match=message):
        graph([], src, dst, n_bytes=n_bytes).validate()


def test_huge_and_empty_flows_are_legal():
    dag = graph([], [0, 1], [1, 2], n_bytes=np.array([0, 5_000_000_000]))
    dag.validate()
    assert dag.flow_bytes.tolist() == [0, 5_000_000_000]
