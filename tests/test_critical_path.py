"""Critical paths by hand on small graphs, and on whole iterations."""

import numpy as np
import pytest

from sim.catalogue.gpus import GPUS
from sim.critical_path import WaitedFor, critical_path, shares
from sim.errors import RunError
from sim.workload.blocks import Edges, FlowKind, Flows, TaskKind, Tasks
from sim.workload.dag import assemble
from sim.workload.iteration import Machine, iteration
from sim.workload.strategy import Strategy
from sim.workload.transformer import Shape
from tests.workload.tiny_player import play


def graph(durations, ranks, flows, done, acked=(), kinds=None):
    n = len(durations)
    zeros = np.zeros(n, np.int64)
    kind = np.array(kinds if kinds is not None else [TaskKind.FORWARD] * n, np.int8)
    tasks = Tasks(np.array(ranks, np.int32), kind, np.array(durations, np.int64), zeros, zeros.astype(np.int16), zeros.astype(np.int16))
    src, dst, size, start = np.array(flows, np.int64).reshape(-1, 4).T
    edges = []
    for pairs in (done, acked):
        edges.append(Edges())
        for before, after in pairs:
            edges[-1].add(np.array([before]), np.array([after]))
    return assemble(tasks, Flows.of(src, dst, size, FlowKind.PP, draw_key=0, start_ps=start), *edges, (), n_ranks=4)


def test_diamond_by_hand():
    """Task 0 (5) releases 1 (10) and 2 (20); 3 (1) waits for both."""
    dag = graph([5, 10, 20, 1], [0, 0, 1, 1], [], [(0, 1), (0, 2), (1, 3), (2, 3)])
    times = play(dag)
    path = critical_path(dag, *times)
    assert path.nodes.tolist() == [0, 2, 3]
    assert path.start_ps.tolist() == [0, 5, 25]
    assert path.release_ps.tolist() == [5, 25, 26]
    assert path.waited_for.tolist() == [WaitedFor.NOTHING, WaitedFor.TASK, WaitedFor.TASK]
    assert path.length_ps == 26
    assert np.asarray(path).tolist() == [0, 2, 3]


def test_arrival_and_ack_are_told_apart():
    """Task 0 releases flow 2 (7 ps, ACK 3 ps later); task 1 waits for its arrival, flow 3 for its ACK."""
    dag = graph([5, 1], [0, 1], [(0, 1, 7, 0), (0, 1, 7, 0)], [(0, 2), (2, 1)], acked=[(2, 3)])
    start, end, acked = play(dag, flow_ps=lambda n_bytes: n_bytes, ack_ps=3)
    path = critical_path(dag, start, end, acked)
    assert path.nodes.tolist() == [0, 2, 3]
    assert path.waited_for.tolist() == [WaitedFor.NOTHING, WaitedFor.TASK, WaitedFor.ACK]
    assert path.release_ps.tolist() == [5, 15, 22]
    dag = graph([5, 90], [0, 1], [(0, 1, 7, 0), (0, 1, 7, 0)], [(0, 2), (2, 1)], acked=[(2, 3)])
    path = critical_path(dag, *play(dag, flow_ps=lambda n_bytes: n_bytes, ack_ps=3))
    assert path.nodes.tolist() == [0, 2, 1]
    assert path.waited_for[-1] == WaitedFor.ARRIVAL


def test_a_start_time_leaves_idle_time_that_is_counted():
    dag = graph([5], [0], [(0, 1, 7, 100)], [(0, 1)])
    start, end, acked = play(dag, flow_ps=lambda n_bytes: n_bytes)
    path = critical_path(dag, start, end, acked)
    assert path.waited_for[-1] == WaitedFor.START_TIME
    assert path.idle_ps.tolist() == [0, 95]
    parts = shares(dag, path, end)
    assert (parts["compute"], parts["PP"], parts["idle"]) == (5, 7, 95)
    assert sum(parts.values()) == path.length_ps == 107


def test_a_cancelled_run_ends_at_what_was_done_last():
    dag = graph([5, 10, 20], [0, 0, 1], [(0, 1, 7, 0)], [(0, 1), (1, 2), (2, 3)])
    path = critical_path(dag, np.array([0, 5, 15, -1]), np.array([5, 15, -1, -1]), np.array([-1]))
    assert path.nodes.tolist() == [0, 1]
    assert path.length_ps == 15


def test_nothing_done_is_an_empty_path():
    dag = graph([5], [0], [], [])
    path = critical_path(dag, np.array([-1]), np.array([-1]), np.array([], int))
    assert len(path) == 0
    assert sum(shares(dag, path, np.array([-1])).values()) == path.length_ps == 0


def test_wrong_lengths_are_refused():
    dag = graph([5], [0], [], [])
    with pytest.raises(RunError, match="end_ps has 2 entries, the graph needs 1"):
        critical_path(dag, np.array([0]), np.array([5, 6]), np.array([], int))


NO_HEAD = Shape(layers=8, hidden=1024, heads=8, ffn_hidden=4096, vocabulary=1, sequence=2048)


@pytest.mark.parametrize(("pp", "micro_batches"), [(1, 3), (2, 2), (4, 4), (4, 8)])
def test_bubble_on_a_network_that_takes_no_time(pp, micro_batches):
    strategy = Strategy(2, pp, 1, micro_batches=micro_batches)
    dag = iteration(NO_HEAD, strategy, Machine(GPUS["H100-SXM"], 3600 * 10**9, strategy.world, 8))
    times = play(dag)
    path = critical_path(dag, *times)
    parts = shares(dag, path, times[1])
    assert parts["bubble"] / (parts["compute"] + parts["TP"]) == pytest.approx((pp - 1) / micro_batches, rel=1e-2)
    assert sum(parts.values()) == times[1].max()


@pytest.mark.parametrize("optimizer", ["distributed", "all-reduce"])
def test_parts_add_up_and_every_step_starts_when_the_one_before_releases(optimizer):
    strategy = Strategy(2, 2, 4, micro_batches=2, bucket_parameters=5_000_000, optimizer=optimizer)
    dag = iteration(NO_HEAD, strategy, Machine(GPUS["H100-SXM"], 3600 * 10**9, strategy.world, 8))
    start, end, acked = play(dag, flow_ps=lambda n_bytes: 2_000_000 + 20 * n_bytes, ack_ps=2_000_000)
    path = critical_path(dag, start, end, acked)
    assert (path.start_ps[1:] == path.release_ps[:-1]).all()
    assert path.start_ps[0] == 0
    parts = shares(dag, path, end)
    assert sum(parts.values()) == path.length_ps == end.max()
    assert parts["DP"] > 0
    assert parts["optimizer"] > 0
    assert min(parts.values()) >= 0
