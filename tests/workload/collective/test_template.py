"""Templates put to work: tasks among the messages, series that follow each other, counting without building."""

import numpy as np
import pytest

from sim.workload.blocks import FLOW_BASE, FlowKind, TaskKind
from sim.workload.collect import Tally, Work
from sim.workload.collective.registry import LANES, template
from sim.workload.collective.template import instantiate, send
from tests.workload.tiny_player import play

EVERY = [(collective, algorithm) for collective, algorithm in LANES if algorithm != "nvls"]


def placed(work, plan, series=1, groups=1):
    hosts = np.arange(groups * plan.n).reshape(groups, plan.n)
    return instantiate(work, plan, hosts, np.full(series, 8000), 1, FlowKind.COLLECTIVE, names=lambda k, g: f"{k} of group {g}")


def test_meetings_become_tasks_that_take_no_time():
    work = Work()
    at = placed(work, template("all-reduce", "direct", 4), groups=2).node
    dag = work.dag(8)
    assert at.shape == (1, 2, 12 + 4 + 12)
    assert (at[0, 1, 12:16] == np.arange(4, 8)).all() and (at[0, 1, :12] >= FLOW_BASE).all()
    assert dag.task_rank.tolist() == list(range(8)) and (dag.task_kind == TaskKind.WAIT).all() and not dag.task_duration_ps.any()


@pytest.mark.parametrize(("collective", "algorithm"), EVERY)
def test_nobody_begins_before_it_is_done_with_the_one_before(collective, algorithm):
    plan = template(collective, algorithm, 6, 2)
    work = Work()
    at = placed(work, plan, series=3)
    at.follow(work)
    dag = work.dag(6)
    dag.validate()
    rng = np.random.default_rng(1)
    start, end, _ = play(dag, flow_ps=lambda size: int(rng.integers(1, 1000)))
    done = np.zeros((3, 6))
    node = np.where(at.node >= FLOW_BASE, at.node - FLOW_BASE + dag.n_tasks, at.node)[:, 0]
    for series in range(3):
        np.maximum.at(done[series], plan.last_member, end[node[series]][plan.last_message])
    for series in range(1, 3):
        assert (start[node[series]][plan.opening] >= done[series - 1][plan.src[plan.opening]]).all()


def test_opening_rows():
    assert template("all-reduce", "ring", 4).opening.tolist() == [0, 1, 2, 3]
    assert template("all-to-all", "direct", 3).opening.tolist() == list(range(6))
    halving = template("all-reduce", "halving-doubling", 3)
    assert halving.src[halving.opening].tolist() == [0, 1, 2] and halving.step[halving.opening].tolist() == [0, 1, 1]
    tree = template("all-reduce", "double-binary-tree", 4)
    assert set(tree.src[tree.opening].tolist()) == {0, 1, 2, 3}


@pytest.mark.parametrize(("collective", "algorithm"), EVERY)
def test_a_tally_counts_what_would_be_built(collective, algorithm):
    work, tally = Work(), Tally()
    for counts in (work, tally):
        placed(counts, template(collective, algorithm, 8, 4), series=2, groups=3).follow(counts)
    assert (tally.n_tasks, tally.n_flows) == (work.n_tasks, work.n_flows)
    (counted,) = tally.counted
    sent = np.broadcast_to(counted.n_bytes, (2, *counted.src.shape)).sum()
    assert sent == work.flows().n_bytes.sum() and np.array_equal(np.unique(counted.src), np.unique(work.flows().src))


def test_a_single_message_is_a_template_too():
    plan = send()
    assert (plan.carried()[1].tolist(), plan.opening.tolist()) == ([0], [0])
