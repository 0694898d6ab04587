"""htsim triggers as a graph: what starts when what is done."""

from sim.formats.htsim_cm import read_cm
from sim.workload.collect import Work
from sim.workload.program_htsim import build
from tests.workload.tiny_player import play

NS = 1000


def starts_ns(text, flow_ns=10, ack_ns=3):
    work, _ = read_cm(text)
    into = Work()
    build(work, into)
    made = into.dag(work.nodes)
    made.validate()
    start, _, _ = play(made, lambda n_bytes: flow_ns * NS, ack_ns * NS)
    return (start[made.n_tasks :] / NS).tolist()


def matrix(*connections, triggers=()):
    return "\n".join([f"Nodes 4\nConnections {len(connections)}\nTriggers {len(triggers)}", *connections, *triggers]) + "\n"


def test_send_done_is_the_last_ack_recv_done_the_last_byte():
    one = "0->1 id 1 start 5000 size 9 {}_done_trigger 1"
    two = "1->2 id 2 trigger 1 size 9"
    assert starts_ns(matrix(one.format("send"), two, triggers=["trigger id 1 oneshot"])) == [5, 18]
    assert starts_ns(matrix(one.format("recv"), two, triggers=["trigger id 1 oneshot"])) == [5, 15]


def test_a_oneshot_starts_all_its_connections():
    rows = ["0->1 id 1 start 0 size 9 recv_done_trigger 4", "1->2 id 2 trigger 4 size 9", "2->3 id 3 trigger 4 size 9"]
    assert starts_ns(matrix(*rows, triggers=["trigger id 4 oneshot"])) == [0, 10, 10]


def test_a_barrier_waits_for_all():
    rows = ["0->1 id 1 start 0 size 9 recv_done_trigger 4", "1->2 id 2 start 7000 size 9 send_done_trigger 4", "2->3 id 3 trigger 4 size 9"]
    assert starts_ns(matrix(*rows, triggers=["trigger id 4 barrier count 2"])) == [0, 7, 20]


def test_of_more_activations_than_are_waited_for_the_first_of_the_file_count():
    rows = [f"0->{n} id {n} start {n}000 size 9 {'send' if n == 2 else 'recv'}_done_trigger 4" for n in (3, 2, 1)] + ["1->2 id 9 trigger 4 size 9"]
    assert starts_ns(matrix(*rows, triggers=["trigger id 4 oneshot"])) == [3, 2, 1, 13]
    assert starts_ns(matrix(*rows, triggers=["trigger id 4 barrier count 2"])) == [3, 2, 1, 15]
    assert starts_ns(matrix(*rows[1:], triggers=["trigger id 4 oneshot"])) == [2, 1, 15]


def test_a_multishot_starts_one_connection_each_time():
    rows = [
        "0->1 id 1 start 0 size 9 recv_done_trigger 4", "0->2 id 2 start 7000 size 9 recv_done_trigger 4",
        "1->2 id 3 trigger 4 size 9", "2->3 id 4 trigger 4 size 9",
    ]  # fmt: skip
    assert starts_ns(matrix(*rows, triggers=["trigger id 4 multishot"])) == [0, 7, 10, 17]


def test_a_chain_of_multishots_limits_what_is_under_way():
    rows = [f"0->1 id {n} {'start 0' if n == 1 else 'trigger 4'} size 9" + " recv_done_trigger 4" * (n < 4) for n in (1, 2, 3, 4)]
    assert starts_ns(matrix(*rows, triggers=["trigger id 4 multishot"])) == [0, 10, 20, 30]


def test_no_trigger_at_all():
    assert starts_ns(matrix("0->1 id 1 start 2000 size 9", "1->2 id 2 start 0 size 9")) == [0, 2]
