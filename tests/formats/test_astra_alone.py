"""What stands in for traces on an ASTRA-sim network: an all-reduce of bounded size, or messages between neighbours."""

import json

import pytest

from sim.estimate import estimate
from sim.formats.astra_alone import MAX_MESSAGES, why_not
from sim.formats.astra_network import AstraNetwork
from sim.formats.importing import import_with_notices
from sim.workload.program_collectives import Plan, template


def network(*dimensions):
    shapes, npus = zip(*dimensions, strict=True)
    ones = [1] * len(npus)
    return f"topology: [{', '.join(shapes)}]\nnpus_count: {list(npus)}\nbandwidth: {ones}\nlatency: {ones}\n".encode()


def taken(*dimensions, algorithms=None):
    system = {"s.json": json.dumps({"all-reduce-implementation": algorithms}).encode()} if algorithms else {}
    scenario, said = import_with_notices("astra", {"n.yml": network(*dimensions), **system})
    assert sum("no trace is given" in line for line in said) == 1
    return scenario, next(line for line in said if "no trace is given" in line)


def test_an_all_reduce_where_it_is_small():
    scenario, said = taken(("Ring", 8))
    assert estimate(scenario).flows == 2 * 8 * 7 and said == "no trace is given: one all-reduce of 64 MB over all 8 NPUs is put in its place"


def test_neighbours_where_an_all_reduce_is_too_large():
    scenario, said = taken(("Ring", 3000))
    assert scenario.traffic.pattern == "ring" and scenario.program is None and "would be up to 17,994,000 messages: every NPU sends 1 MB" in said
    assert estimate(scenario).flows == 3000


@pytest.mark.parametrize("algorithm", ["halvingDoubling", "direct"])
def test_neighbours_where_an_algorithm_needs_too_long_paths(algorithm):
    scenario, said = taken(("Ring", 600), algorithms=[algorithm])
    assert scenario.traffic.pattern == "ring" and "would need paths of up to 300 links" in said


def test_dimension_by_dimension_more_npus_fit():
    """32 x 32 x 8: 8192 NPUs, each with 31 + 31 + 7 messages there and back, are 1,130,496; 16 x 16 x 16 are 4096 x 90."""
    assert taken(("FullyConnected", 16), ("Ring", 16), ("Switch", 16))[0].program is not None
    assert "up to 1,130,496 messages" in taken(("Switch", 32), ("Ring", 32), ("Switch", 8))[1]


@pytest.mark.parametrize("algorithm", ["ring", "direct", "halving-doubling", "double-binary-tree"])
@pytest.mark.parametrize("n", [2, 3, 5, 8, 12, 31, 32, 33, 600])
def test_what_is_let_through_is_no_larger_than_said(algorithm, n):
    one = AstraNetwork(("Switch",), (n,), (10**9,), (0,))
    assert why_not(one, {"all_reduce": (algorithm,)}) == ""
    assert len(template(Plan(algorithms=(("all-reduce", (algorithm,)),)), "all-reduce", ((0, n),))) <= MAX_MESSAGES


def test_every_split_has_messages_of_its_own():
    one = AstraNetwork(("Switch",), (512,), (10**9,), (0,))
    assert why_not(one, {"splits": 1}) == "" and why_not(one, {"splits": 4}) == "would be up to 2,093,056 messages"
    scenario, _ = import_with_notices("astra", {"n.yml": network(("Switch", 512)), "s.json": b'{"preferred-dataset-splits": 1024}'})
    assert scenario.traffic.pattern == "ring"
