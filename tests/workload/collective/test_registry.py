"""Every algorithm does what its collective promises: executed symbolically, for members, servers, chunks and channels as they come."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sim.errors import ScenarioError
from sim.scenario_collective import ALGORITHMS, WITH_CHANNELS
from sim.workload.collective.registry import LANES, template
from tests.workload.collective.symbolic import prove


@st.composite
def cases(draw, algorithm: str):
    local = draw(st.integers(2 if algorithm == "nvls" else 1, 4))
    nodes = draw(st.integers(2 if local == 1 else 1, 13 // local))
    channels = draw(st.integers(1, min(3, local) if local > 1 else 2)) if algorithm in WITH_CHANNELS else 1
    return local * nodes, local, draw(st.integers(1, 3)), channels


@pytest.mark.parametrize(("collective", "algorithm"), LANES)
def test_every_contribution_arrives_exactly_once(collective, algorithm):
    @settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
    @given(cases(algorithm))
    def holds(case):
        n, local, chunks, channels = case
        lanes = len(LANES[collective, algorithm](n, local, channels))
        prove(template(collective, algorithm, n, local, chunks, channels), collective, local, chunks, lanes)

    holds()


@pytest.mark.parametrize(("collective", "algorithm"), LANES)
def test_the_smallest_groups_work(collective, algorithm):
    local = 2 if algorithm == "nvls" else 1
    prove(template(collective, algorithm, 2, local), collective, local, lanes=len(LANES[collective, algorithm](2, local, 1)))


def test_the_choices_of_a_scenario_are_what_there_is():
    assert {(collective, name) for collective, names in ALGORITHMS.items() for name in names} == set(LANES)


def broken(which: str):
    whole = template("all-reduce", "halving-doubling", 8)
    if which == "an edge is missing":
        return replace(whole, before=whole.before[1:], then=whole.then[1:])
    if which == "a message goes astray":
        return replace(whole, dst=np.where(np.arange(len(whole)) == 3, (whole.dst + 1) % 8, whole.dst))
    if which == "a sum is added twice":
        return replace(whole, adds=np.ones(len(whole), bool))
    if which == "nobody waits for its own share":
        return replace(whole, own=np.zeros(len(whole), bool))
    if which == "a message is too large":
        return replace(whole, part=whole.part + (np.arange(len(whole)) == 0))
    return replace(whole, last_member=np.arange(8), last_message=np.arange(8))


@pytest.mark.parametrize(
    "which",
    ["an edge is missing", "a message goes astray", "a sum is added twice", "nobody waits for its own share", "a message is too large", "it ends too soon"],
)
def test_the_proof_finds_what_is_wrong(which):
    with pytest.raises(AssertionError):
        prove(broken(which), "all-reduce")


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (("all-reduce", "rings", 8), "algorithm = 'rings' is no algorithm for all-reduce: did you mean 'ring'? known: ring, halving-doubling, "
                                     "double-binary-tree, direct, hierarchical, nvls"),
        (("all-to-all", "ring", 8), "algorithm = 'ring' is for all-reduce and reduce-scatter and all-gather and broadcast, not for all-to-all: "
                                    "known: direct, pxn, hierarchical"),
        (("allreduce", "ring", 8), "collective = 'allreduce' is not one of the choices: did you mean 'all-reduce'? known: all-reduce, reduce-scatter, "
                                   "all-gather, all-to-all, broadcast"),
        (("all-reduce", "direct", 8, 4, 1, 2), "channels = 2: direct has no channels, only ring and double-binary-tree have; the nearest is 1"),
        (("all-reduce", "ring", 8, 4, 1, 5), "channels = 5: must be at most the 4 members in a server, one NIC for each channel; the nearest is 4"),
        (("all-reduce", "hierarchical", 10, 4), "all-reduce among 10 members, 4 in each server: must be whole servers; the nearest are 8 and 12"),
        (("all-reduce", "ring", 1), "all-reduce among 1 members: must be at least 2; the nearest is 2"),
        (("all-reduce", "nvls", 4, 1), "all-reduce by nvls with 1 member in each server: the NVSwitch needs at least 2; the nearest is hierarchical"),
        (("all-reduce", "ring", 4, 1, 0), "chunks = 0, channels = 1, local = 1: must all be at least 1; the nearest is 1"),
    ],
)  # fmt: skip
def test_what_does_not_exist_is_refused_with_the_nearest_that_does(given, line):
    with pytest.raises(ScenarioError) as refused:
        template(*given)
    assert str(refused.value) == line
