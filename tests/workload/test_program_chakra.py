"""Chakra traces as graphs: what waits for what, who matches whom, and deadlocks with the chain of who waits for whom."""

import numpy as np
import pytest

from sim.errors import ScenarioError
from sim.formats.chakra import read_chakra
from sim.workload.collect import Work
from sim.workload.program_chakra import build
from sim.workload.program_chakra_match import match
from sim.workload.program_chakra_order import compute_order
from sim.workload.program_collectives import Plan
from tests.formats.chakra_files import COMP, RECV, SEND, all_reduce, node, trace
from tests.workload.tiny_player import play

US = 10**6


def work(*ranks, groups=None):
    return read_chakra({f"t.{rank}.et": trace(*nodes) for rank, nodes in enumerate(ranks)}, groups)[0]


def dag(*ranks, plan=Plan(), groups=None):  # noqa: B008
    into = Work()
    build(work(*ranks, groups=groups), plan, into)
    made = into.dag(len(ranks))
    made.validate()
    return made


def ends_us(made, flow_us=0, ack_us=0):
    """End of every trace node's task, in us."""
    _, end, _ = play(made, lambda n_bytes: flow_us * US, ack_us * US)
    return (end[: made.n_tasks] / US).tolist()


def send(id, dst, size=8, deps=(), **more):
    return node(id, SEND, deps, comm_size=size, comm_dst=dst, **more)


def recv(id, src, size=8, deps=(), **more):
    return node(id, RECV, deps, comm_size=size, comm_src=src, **more)


def test_a_chain_over_two_ranks():
    made = dag([node(1, COMP, us=5), send(2, 1, 4096, [1]), node(3, COMP, [2], us=2)], [recv(1, 0, 4096), node(2, COMP, [1], us=7)])
    assert made.flow_bytes.tolist() == [4096] and (made.flow_src[0], made.flow_dst[0]) == (0, 1)
    # the message runs 5 to 15 us; its ACK is back at 18: then the sender goes on, the receiver at 15
    assert ends_us(made, flow_us=10, ack_us=3) == [5, 5, 20, 15, 22]


def test_a_send_does_not_wait_for_its_receive_but_the_receive_for_its_own_dependencies():
    made = dag([send(1, 1)], [node(1, COMP, us=50), recv(2, 0, deps=[1])])
    assert ends_us(made, flow_us=10) == [0, 50, 50]


def test_messages_of_one_pair_go_by_tag_then_by_order():
    made = dag([send(1, 1, 1, comm_tag=7), send(2, 1, 2), send(3, 1, 3)], [recv(1, 0, 2), recv(2, 0, 3), recv(3, 0, 1, comm_tag=7)])
    task, flow = made.done_succ[made.done_ptr[:-1][made.n_tasks :]], made.flow_bytes.tolist()
    assert dict(zip(flow, task.tolist(), strict=True)) == {2: 3, 3: 4, 1: 5}


def test_a_collective_begins_when_all_have_entered_and_ends_by_its_last_arrival():
    made = dag([node(1, COMP, us=5), all_reduce(2, 1000, [1]), node(3, COMP, [2], us=1)], [node(1, COMP, us=30), all_reduce(2, 1000, [1])])
    assert made.n_flows == 4 and set(made.flow_bytes.tolist()) == {500}
    ends = ends_us(made, flow_us=10)
    # rank 0 sends its half 5 to 15, rank 1 its own and the sum of the other 30 to 40, rank 0 the other sum 40 to 50
    assert ends[2] == 40 + 1 and max(ends) == 50


def test_an_all_gather_of_what_each_rank_puts_in_and_a_broadcast_from_its_root():
    made = dag(*[[all_reduce(1, 1000, comm_type=2)] for _ in range(4)])
    assert made.n_flows == 12 and set(made.flow_bytes.tolist()) == {1000}
    made = dag(*[[all_reduce(1, 900, comm_type=5)] for _ in range(3)])
    assert int(made.flow_bytes.sum()) == 1800 and 0 not in made.flow_dst.tolist()


def test_collectives_of_a_group_follow_each_other_those_of_others_do_not():
    def time_us(second):
        made = dag([all_reduce(1, 8, pg_name="a"), all_reduce(2, 8, pg_name=second)], [all_reduce(1, 8, pg_name="a"), all_reduce(2, 8, pg_name=second)])
        return max(ends_us(made, flow_us=10))

    assert time_us("a") == 40 and time_us("b") == 20


def test_groups_of_one_rank_and_barriers():
    assert dag([all_reduce(1, 8, pg_name="a")], [all_reduce(1, 8, pg_name="b")]).n_flows == 0
    made = dag([node(1, 7, comm_type=9)], [node(1, 7, comm_type=9)])
    assert made.flow_bytes.tolist() == [0] * 4


def test_one_compute_node_at_a_time_on_a_gpu_beside_the_cpu():
    made = dag([node(1, COMP, us=5), node(2, COMP, us=5), node(3, COMP, us=8, is_cpu_op=True)])
    assert sorted(ends_us(made)) == [5, 8, 10]


def test_compute_goes_on_while_a_collective_runs():
    first = [node(1, COMP, us=1), all_reduce(2, 10**9, [1]), node(3, COMP, [2], us=5), node(4, COMP, [1], us=100)]
    found = work(first, [all_reduce(1, 10**9)])
    assert compute_order(found, match(found))[0] == [0, 3, 2]


def test_compute_order_is_kept_by_the_graph_and_follows_dependencies():
    rng = np.random.default_rng(3)
    nodes = [node(n, COMP, sorted({int(x) for x in rng.integers(0, n, 2)}) if n else (), us=int(rng.integers(1, 9))) for n in range(30)]
    made = dag(nodes)
    start, end, _ = play(made)
    order = np.argsort(start, kind="stable")
    assert (start[order][1:] >= end[order][:-1]).all()


def test_dimensions_of_the_network():
    made = dag(*[[all_reduce(1, 1200)] for _ in range(6)], plan=Plan((2, 3)))
    pairs = set(zip(made.flow_src.tolist(), made.flow_dst.tolist(), strict=True))
    assert all((a // 2 == b // 2) != (a % 2 == b % 2) for a, b in pairs)
    assert int(made.flow_bytes.sum()) == 2 * 5 * 1200


def refused(*ranks):
    with pytest.raises(ScenarioError) as caught:
        dag(*ranks)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_collectives_of_one_group_in_different_orders():
    text = refused([all_reduce(1, 8, name="x"), all_reduce(2, 8, [1], 2, name="y")], [all_reduce(1, 8, comm_type=2, name="y"), all_reduce(2, 8, [1], name="x")])
    assert text.startswith("deadlock: all-reduce 'x' (node 1, group of all ranks) on rank 0 waits for rank 1, which waits in all-gather 'y' (node 1")
    assert "for rank 0: all ranks of the group of all ranks must enter the same collectives in the same order, but number 1 differs" in text


def test_collectives_of_two_groups_in_different_orders():
    one = [all_reduce(1, 8, pg_name="a", name="x"), all_reduce(2, 8, [1], pg_name="b", name="y")]
    other = [all_reduce(1, 8, pg_name="b", name="y"), all_reduce(2, 8, [1], pg_name="a", name="x")]
    text = refused(one, other)
    assert text.startswith("deadlock: ") and text.count(" waits for ") == 2
    for who in ("all-reduce 'y' (node 2, group b) on rank 0", "all-reduce 'x' (node 2, group a) on rank 1"):
        assert who in text
    named = text.removeprefix("deadlock: ").split(" waits for ")
    assert named[0] == named[-1]


def test_receives_that_wait_for_each_other():
    text = refused([recv(1, 1), send(2, 1, deps=[1])], [recv(1, 0), send(2, 0, deps=[1])])
    assert text.startswith("deadlock: ") and "RECV 'n1' (node 1) on rank 0" in text and "SEND 'n2' (node 2) on rank 1" in text


def test_a_circle_within_a_rank():
    text = refused([node(1, COMP, [2]), node(2, COMP, [1])])
    assert text == "deadlock: " + " waits for ".join(f"COMP 'n{n}' (node {n}) on rank 0" for n in (1, 2, 1))


@pytest.mark.parametrize(
    "ranks, words",
    [
        ([[send(1, 1)], []], "SEND 'n1' (node 1) on rank 0 waits for ever: rank 1 has no RECV for it; from rank 0 to 1 with tag 0 there are 1 SENDs and"),
        ([[], [recv(1, 0)]], "RECV 'n1' (node 1) on rank 1 waits for ever: rank 0 has no SEND for it"),
        ([[send(1, 1, comm_tag=1)], [recv(1, 0, comm_tag=2)]], "with tag 1 there are 1 SENDs and 0 RECVs"),
        ([[send(1, 1, 8)], [recv(1, 0, 9)]], "has 8 bytes, RECV 'n1' (node 1) on rank 1 9: comm_size must be equal"),
        ([[all_reduce(1, 8)], []], "all-reduce 'n1' (node 1, group of all ranks) on rank 0 waits for ever for rank 1, which enters 0 collectives"),
        ([[all_reduce(1, 8)], [all_reduce(1, 9)]], "are one all-reduce with different bytes: 8 and 9"),
    ],
)
def test_ranks_that_do_not_agree(ranks, words):
    assert words in refused(*ranks)


def test_a_graph_of_very_many_messages_is_refused(monkeypatch):
    monkeypatch.setattr("sim.workload.program_chakra.MAX_NODES", 10)
    with pytest.raises(ScenarioError, match="these traces make 14 tasks and messages; at most 10"):
        dag([node(0, COMP), *[all_reduce(n, 8) for n in (1, 2)]], [all_reduce(n, 8) for n in (1, 2)] + [node(0, COMP)])
