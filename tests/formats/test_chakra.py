"""Chakra traces: what a node says, whole numbers of any type, and every way to be refused."""

import pytest
from hypothesis import given, settings

from sim.errors import FormatError, ScenarioError
from sim.formats.chakra import ordered, read_chakra
from sim.formats.chakra_node import Roofline
from sim.workload.program_chakra_work import COLLECTIVE, COMPUTE, RECV, SEND, from_text, one_all_reduce, to_text
from tests.formats import chakra_files as files
from tests.formats.chakra_files import COLL, COMP, all_reduce, node, trace
from tests.formats.mutate import mutated_bytes, one_line_or_answer


def two_ranks(*nodes, other=()):
    return {"t.0.et": trace(*nodes), "t.1.et": trace(*other)}


def pair():
    return {
        "t.0.et": trace(node(1, COMP, us=5), all_reduce(2, 1000, [1]), node(3, files.SEND, [2], comm_size_u=77, comm_dst=1, comm_tag=5)),
        "t.1.et": trace(node(1, COMP, us=3_000_000), all_reduce(2, 1000, [1]), node(3, files.RECV, ctrl=[2], comm_size=77, comm_src=0, comm_tag=5)),
    }


def test_two_ranks():
    work, said = read_chakra(pair())
    assert work.nodes_of_rank.tolist() == [3, 3] and work.id.tolist() == [1, 2, 3, 1, 2, 3]
    assert work.kind.tolist() == [COMPUTE, COLLECTIVE, SEND, COMPUTE, COLLECTIVE, RECV]
    assert work.duration_ps.tolist() == [5_000_000, 0, 0, 3 * 10**12, 0, 0] and work.n_bytes.tolist() == [0, 1000, 77, 0, 1000, 77]
    assert work.peer.tolist() == [-1, -1, 1, -1, -1, 0] and work.tag.tolist() == [0, 0, 5, 0, 0, 5]
    assert work.n_deps.tolist() == [0, 1, 1, 0, 1, 1] and work.deps.tolist() == [0, 1, 3, 4]
    assert work.groups == [""] and work.members == [[0, 1]] and said == []


def test_comm_size_as_int64_or_uint64_and_beyond_32_bits():
    for attribute in ("comm_size", "comm_size_u"):
        work, _ = read_chakra({"t.0.et": trace(node(0, COLL, comm_type=0, **{attribute: 5_000_000_000}))})
        assert work.n_bytes.tolist() == [5_000_000_000]


def test_ids_of_the_upper_half_of_64_bits():
    last = 2**64 - 1
    work, _ = read_chakra({"t.0.et": trace(node(2**63, COMP, us=1), node(last, COMP, [2**63], us=2), node(0, COMP, [last], us=3))})
    assert work.id.tolist() == [2**63, last, 0] and work.deps.tolist() == [0, 1]
    assert from_text(to_text(work)).id.tolist() == work.id.tolist() and f"node {last})" in work.describe(1, 0)
    with pytest.raises(FormatError, match=f"node {last}: id {last} stands twice in this file"):
        read_chakra({"t.0.et": trace(node(last, COMP), node(last, COMP))})


def test_files_go_by_their_number_not_by_their_name():
    assert ordered([f"t.{rank}.et" for rank in (10, 2, 0, 1, 3, 4, 5, 6, 7, 8, 9)]) == [f"t.{rank}.et" for rank in range(11)]


def test_process_groups_by_name_and_by_file():
    two = {f"t.{rank}.et": trace(all_reduce(1, 8, pg_name="a" if rank < 2 else "b"), all_reduce(2, 8)) for rank in range(4)}
    work, _ = read_chakra(two)
    assert work.groups == ["", "a", "b"] and work.members == [[0, 1, 2, 3], [0, 1], [2, 3]]
    given, _ = read_chakra(two, ("g.json", '{"a": [1, 0], "b": [2, 3], "c": [0]}'))
    assert given.members == work.members


def test_compute_by_operations():
    traced = {"t.0.et": trace(node(0, COMP, us=7, num_ops=3000, tensor_size=500), node(1, COMP, num_ops=3000, tensor_size=500), node(2, COMP))}
    work, said = read_chakra(traced)
    assert work.duration_ps.tolist() == [7_000_000, 0, 0] and said == ["2 COMP nodes have neither a duration nor operations: they take no time"]
    work, said = read_chakra(traced, roofline=Roofline(1e9, 1e8, False))
    assert work.duration_ps.tolist() == [7_000_000, 5_000_000, 0] and said[1].startswith("1 COMP nodes are timed by their operations")
    assert read_chakra(traced, roofline=Roofline(1e9, 1e9, True))[0].duration_ps.tolist() == [3_000_000, 3_000_000, 0]


def test_other_collectives():
    types = {0: 0, 2: 1, 5: 4, 6: 3, 7: 2, 8: 2}
    work, said = read_chakra({"t.0.et": trace(*(node(n, COLL, comm_type=n, comm_size=9) for n in types), node(9, COLL, comm_type=9))})
    assert work.collective.tolist() == [*types.values(), 5] and work.n_bytes.tolist() == [9] * 6 + [0]
    assert said == ["comm_size of 1 all-gathers is taken as what each rank contributes, as ASTRA-sim does"]


def test_the_canonical_text_says_the_same():
    work, _ = read_chakra(pair())
    assert to_text(from_text(to_text(work))) == to_text(work)
    assert from_text(to_text(one_all_reduce(8, 64))).members == [list(range(8))]


def one(*nodes):
    return {"t.0.et": trace(*nodes)}


@pytest.mark.parametrize(
    "traces, words",
    [
        ({"t.et": b"x"}, ["t.et: must be named <prefix>.<rank>.et"]),
        ({"a.0.et": trace(), "b.1.et": trace()}, ["b.1.et: its prefix is 'b'"]),
        ({"t.0.et": trace(), "t.2.et": trace()}, ["t.1.et is missing: 2 files are given, up to rank 2"]),
        ({"t.0.et": trace(), "t.00.et": trace()}, ["rank 0 is given twice"]),
        ({"t.0.et": b""}, ["t.0.et: is empty"]),
        ({"t.0.et": trace()[:3]}, ["t.0.et: message 0 at byte 0: is damaged or cut short"]),
        ({"t.0.et": trace(node(1, COMP))[:-2]}, ["t.0.et: message 1 at byte 8: is damaged or cut short"]),
        ({"t.0.et": trace(node(1, COMP))[8:]}, ["t.0.et: message 0 at byte 0: is a node: must be the GlobalMetadata"]),
        (one(node(1, COMP), node(1, COMP)), ["message 2 at byte", "node 1: id 1 stands twice"]),
        (one(node(1, COMP, [1])), ["node 1: depends on itself"]),
        (one(node(1, COMP, [9])), ["t.0.et: node 1 depends on node 9, which is not in this file of 1 nodes"]),
        (one(node(1, 8)), ["node 1: type 8 is not known: 1 (METADATA)", "7 (COLL)"]),
        (one(node(1, COLL, comm_size=1)), ["node 1: attribute comm_type is missing; attributes are 'comm_size'"]),
        (one(node(1, COLL, comm_type=0)), ["node 1: attribute comm_size is missing"]),
        (one(node(1, COLL, comm_type=1, comm_size=1)), ["comm_type 1 is not simulated; known: 0 (all-reduce)"]),
        (one(node(1, COLL, comm_type=0, comm_size=-5)), ["comm_size -5: must be from 0", "the nearest is 0"]),
        (one(node(1, COLL, comm_type=0, comm_size="8")), ["comm_size is given as string_val: must be a whole number"]),
        (one(node(1, COLL, comm_type=0, comm_size=8, pg_name=True)), ["pg_name is given as bool_val: must be text"]),
        (two_ranks(node(1, files.SEND, comm_size=1, comm_dst=5)), ["t.0.et: message 1", "comm_dst 5: must be from 0 to 1; the nearest is 1"]),
        (two_ranks(node(1, files.SEND, comm_size=1, comm_dst=0)), ["comm_dst 0: SEND of rank 0 to itself"]),
        (two_ranks(node(1, files.SEND, comm_size=1, comm_dst=1, comm_src=1)), ["comm_src 1: this is the file of rank 0; the nearest is 0"]),
        (two_ranks(node(1, files.RECV, comm_size=1)), ["attribute comm_src is missing"]),
        (one(node(1, COMP, us=2 * 10**12)), ["takes 2e+06 s: must be at most 1000000 s"]),
    ],
)
def test_refused_in_one_line(traces, words):
    with pytest.raises(FormatError) as caught:
        read_chakra(traces)
    assert "\n" not in str(caught.value) and all(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize(
    "groups, words",
    [
        ('{"b": [0]}', "pg_name 'a' is not in g.json: .*known: b"),
        ('{"a": [0, 2]}', "g.json:1: group 'a': must be a list of ranks from 0 to 1"),
        ('{"a": [0, 0]}', "has a rank twice"),
        ('{"a": [0]}', "t.1.et: rank 1 uses group 'a', whose ranks are \\[0\\] in g.json"),
        ("[", "g.json:1: is not JSON"),
    ],
)
def test_process_groups_refused(groups, words):
    traces = {f"t.{rank}.et": trace(all_reduce(1, 8, pg_name="a")) for rank in range(2)}
    with pytest.raises(FormatError, match=words):
        read_chakra(traces, ("g.json", groups))


@pytest.mark.parametrize(
    "change, words",
    [
        (('"kind":[0', '"kind":[9'), r"kind\[0\] = 9: must be from 0 to 3"), (('"deps":[0', '"deps":[5'), "depends on one of another rank"),
        (('"deps":[0,', '"deps":['), "deps has 3 entries, 4 are needed"), (('"peer":[-1,-1,1', '"peer":[-1,-1,0'), "node 2: peer is no other rank"),
        (('"group":[-1,0', '"group":[-1,7'), "node 1: its group is missing"), (('"members":[[0,1', '"members":[[0,0'), "has a rank twice"),
        (('"names":["n1"', '"names":[1'), "names must be a list of words"), (('"nodes_of_rank":[3,3]', '"nodes_of_rank":[]'), "0 ranks"),
    ],
)  # fmt: skip
def test_a_canonical_text_that_was_tampered_with(change, words):
    text = to_text(read_chakra(pair())[0])
    assert change[0] in text
    with pytest.raises(ScenarioError, match=words):
        from_text(text.replace(*change, 1))


@settings(max_examples=200, deadline=None)
@given(mutated_bytes(pair()["t.0.et"]), mutated_bytes(pair()["t.1.et"]))
def test_any_damage_ends_in_one_line_or_in_a_work_graph(first, second):
    found = one_line_or_answer(lambda: read_chakra({"t.0.et": first, "t.1.et": second}))
    if found:
        assert to_text(from_text(to_text(found[0]))) == to_text(found[0])
