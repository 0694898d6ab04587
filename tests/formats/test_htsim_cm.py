"""htsim connection matrices: flows, triggers, the same again when written, and every way to be refused."""

import pytest
from hypothesis import given, settings

from sim.errors import FormatError, ScenarioError
from sim.formats.htsim_cm import cm_text, is_htsim_cm, read_cm
from sim.formats.text import text_of
from sim.workload.program_htsim_work import from_text, to_text
from tests.formats.mutate import mutated_texts, one_line_or_answer

MATRIX = """Nodes 4
Connections 4
Triggers 2
0->1 id 1 start 0 size 2000000 send_done_trigger 1
1->2 id 2 start 5000000 size 5000000000 recv_done_trigger 1
2->3 id 3 trigger 1 size 4 send_done_trigger 7
3->0 id 9 trigger 7 size 0
trigger id 1 barrier count 2
trigger id 7 oneshot
"""
PLAIN = "Nodes 4\nConnections 3\n0->1 start 7 size 1\n1->2 start 0 size 2\n2->3 start 7 size 3\n"


def test_connections_and_triggers():
    work, said = read_cm(MATRIX)
    assert work.nodes == 4 and work.src.tolist() == [0, 1, 2, 3] and work.dst.tolist() == [1, 2, 3, 0] and work.id.tolist() == [1, 2, 3, 9]
    assert work.n_bytes.tolist() == [2_000_000, 5_000_000_000, 4, 0] and work.start_ps.tolist() == [0, 5_000_000, 0, 0]
    assert work.trigger.tolist() == [-1, -1, 0, 1] and work.send_done.tolist() == [0, -1, 1, -1] and work.recv_done.tolist() == [-1, 0, -1, -1]
    assert work.trigger_id.tolist() == [1, 7] and work.trigger_kind.tolist() == [2, 0] and work.trigger_count.tolist() == [2, 0]
    assert said == ["flows of 0 bytes are done after their path's delay: 1"]


def test_flows_without_triggers_are_sorted_by_their_start():
    work, said = read_cm(PLAIN)
    assert work.n_bytes.tolist() == [2, 1, 3] and said == ["connections were not in order of their start and have been sorted"]


def test_written_and_read_again_it_says_the_same():
    work, _ = read_cm(MATRIX)
    assert cm_text(work) == MATRIX and cm_text(from_text(to_text(work))) == MATRIX
    assert cm_text(read_cm(cm_text(read_cm(PLAIN)[0]))[0]) == cm_text(read_cm(PLAIN)[0])


def test_comments_and_line_ends():
    text = text_of(("# made by hand\r\n" + MATRIX.replace("\n", "\r\n")).encode(), "m")
    assert cm_text(read_cm(text)[0]) == MATRIX


def test_a_multishot_says_how_it_is_taken():
    text = "Nodes 3\nConnections 2\nTriggers 1\n0->1 start 0 size 1 send_done_trigger 5\n1->2 trigger 5 size 1\ntrigger id 5 multishot\n"
    assert read_cm(text)[1][0].startswith("multishot triggers start their connections in the order of the file")


def test_recognised():
    assert is_htsim_cm(MATRIX) and not is_htsim_cm("Nodes 4\nTiers 2\n")


@pytest.mark.parametrize(
    "text, words",
    [
        ("# nothing\n", ["m: is empty"]),
        (MATRIX.replace("Nodes 4\n", ""), ["m:1: Nodes is missing"]),
        (MATRIX.replace("Nodes 4", "Nodes 1"), ["m:1: Nodes '1'", "from 2 to 65536; the nearest is 2"]),
        (MATRIX.replace("Nodes 4", "Nodes 4 4"), ["m:1: 2 values: must be Nodes with one number"]),
        (MATRIX.replace("Triggers 2", "Nodes 4"), ["m:3: Nodes stands twice, first in line 1"]),
        (MATRIX.replace("Connections 4", "Connections 3"), ["m:2: 3 connections announced, 4 found; the nearest that works is to write Connections 4"]),
        (MATRIX.replace("Triggers 2", "Triggers 20"), ["m:3: 20 triggers announced, 2 found"]),
        (MATRIX.replace("Triggers 2\n", ""), ["m: Triggers is missing: 0 triggers announced, 2 found"]),
        (MATRIX.replace("2->3", "2->40"), ["m:6: dst of 2->40 '40': must be a whole number from 0 to 3; the nearest is 3"]),
        (MATRIX.replace("2->3", "2->2"), ["m:6: 2->2: a connection cannot go to itself"]),
        (MATRIX.replace("2->3", "2-3"), ["m:6: '2-3'", "a connection is: 0->1 id 1"]),
        (MATRIX.replace("Triggers", "Triggrs"), ["m:3: 'Triggrs': did you mean 'Triggers'?"]),
        (MATRIX.replace("size 4", "size"), ["m:6: 7 has no value; a connection is"]),
        (MATRIX.replace("size 4 ", "size 4B "), ["m:6: size '4B': must be a whole number"]),
        (MATRIX.replace("size 4 ", ""), ["m:6: size is missing"]),
        (MATRIX.replace("start 0 ", ""), ["m:4: needs either start or trigger"]),
        (MATRIX.replace("start 0 ", "start 0 trigger 1 "), ["m:4: needs either start or trigger"]),
        (MATRIX.replace("start 0 ", "start 0 start 1 "), ["m:4: start stands twice"]),
        (MATRIX.replace("start 0 ", "strt 0 "), ["m:4: 'strt' is not a key of a connection: did you mean 'start'?"]),
        (MATRIX.replace("id 9", "id 3"), ["m:7: id 3 stands twice, first in line 6"]),
        (MATRIX.replace("id 9 trigger 7", "id 9 trigger 8"), ["m:7: there is no trigger 8: ", "known: 1, 7"]),
        (MATRIX.replace("id 7 oneshot", "id 7 oneshoot"), ["m:9: trigger kind 'oneshoot': did you mean 'oneshot'?"]),
        (MATRIX.replace("id 7 oneshot", "id 1 oneshot"), ["m:9: trigger 1 stands twice"]),
        (MATRIX.replace("barrier count 2", "barrier 2"), ["m:8:", "barrier count 4"]),
        (MATRIX.replace("barrier count 2", "barrier count 3"), ["m: trigger 1 barrier waits for 3 activations, 2 connections activate it", "count 2"]),
        (MATRIX.replace(" send_done_trigger 7", ""), ["m: trigger 7 oneshot starts 1 connections, but no connection activates it"]),
    ],
)
def test_refused_in_one_line(text, words):
    with pytest.raises(FormatError) as caught:
        read_cm(text, "m")
    assert "\n" not in str(caught.value) and all(word in str(caught.value) for word in words), caught.value


def test_ids_of_64_bits():
    large = MATRIX.replace("id 9 trigger 7", f"id {2**63 - 1} trigger {2**32}").replace("send_done_trigger 7", f"send_done_trigger {2**32}")
    work, _ = read_cm(large.replace("trigger id 7", f"trigger id {2**32}"))
    assert work.id.max() == 2**63 - 1 and 2**32 in work.trigger_id
    assert cm_text(from_text(to_text(work))) == cm_text(work)


def test_a_canonical_text_that_was_tampered_with():
    text = to_text(read_cm(MATRIX)[0])
    for change, words in ((('"src":[0', '"src":[1'), "goes to itself"), (('"send_done":[0', '"send_done":[2'), "send_done 2: must be below 2")):
        with pytest.raises(ScenarioError, match=words):
            from_text(text.replace(*change))


@settings(max_examples=200, deadline=None)
@given(mutated_texts(MATRIX))
def test_any_damage_ends_in_one_line_or_in_a_matrix(content):
    found = one_line_or_answer(lambda: read_cm(text_of(content, "m"), "m"))
    if found:
        assert cm_text(read_cm(cm_text(found[0]))[0]) == cm_text(found[0]) == cm_text(from_text(to_text(found[0])))


def three(trigger, *more):
    rows = ["0->1 id 1 start 0 size 9 send_done_trigger 1", "1->2 id 2 start 0 size 9 send_done_trigger 1", "2->3 id 3 trigger 1 size 9", *more]
    return "\n".join(["Nodes 4", f"Connections {len(rows)}", "Triggers 1", *rows, f"trigger id 1 {trigger}"]) + "\n"


@pytest.mark.parametrize("trigger", ["oneshot", "barrier count 1"])
def test_a_trigger_that_is_activated_more_often_than_it_waits_for_says_which_count(trigger):
    work, said = read_cm(three(trigger), "m")
    assert len(work.src) == 3 and len(said) == 1
    assert said[0].startswith(f"m: trigger 1 {trigger.split()[0]} is activated by 2 connections: the first 1 in the order of the file fire it")


def test_connections_of_a_multishot_beyond_its_activations_are_left_out_and_named():
    work, said = read_cm(three("multishot", "3->0 id 4 trigger 1 size 9", "3->1 id 5 trigger 1 size 9", "3->2 id 6 trigger 1 size 9"), "m")
    assert work.id.tolist() == [1, 2, 3, 4]
    assert said[0].startswith("m: 2 connections never start and are left out") and said[0].endswith("id 5, 6")


def test_what_is_left_out_activates_nothing():
    """Of the chain each connection that starts lets the next go; 9 would be started by the second of them that is left out."""
    work, _ = read_cm(
        "Nodes 4\nConnections 5\nTriggers 2\n0->1 id 1 start 0 size 9 recv_done_trigger 1\n0->1 id 2 trigger 1 size 9\n"
        "0->1 id 3 trigger 1 size 9 recv_done_trigger 2\n1->2 id 4 start 0 size 9 recv_done_trigger 2\n1->2 id 8 trigger 2 size 9\n"
        "trigger id 1 multishot\ntrigger id 2 multishot\n"
    )
    assert work.id.tolist() == [1, 2, 4, 8]
