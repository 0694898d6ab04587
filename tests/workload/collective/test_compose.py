"""Templates made of templates: chunks in order, data split over lanes, stages that follow each other."""

import numpy as np
import pytest

from sim.workload.blocks import FlowKind
from sim.workload.collect import Work
from sim.workload.collective import nvls, ring
from sim.workload.collective.compose import beside, chunked, in_turn, on_groups
from sim.workload.collective.registry import template
from sim.workload.collective.template import instantiate
from tests.workload.tiny_player import play


def edges(plan):
    return set(zip(plan.before.tolist(), plan.then.tolist()))


def test_a_chain_in_three_chunks_by_hand():
    """0 -> 1 -> 2: rows 0 and 1 are the first chunk, half as large; each connection has two chunks under way."""
    plan = chunked(ring.broadcast(3), 3)
    assert plan.src.tolist() == [0, 1] * 3 and plan.part.tolist() == [1, 1, 2, 2, 2, 2] and set(plan.parts.tolist()) == {5}
    assert edges(plan) == {(0, 1), (2, 3), (4, 5), (0, 4), (1, 5)}
    assert plan.draw.tolist() == [0, 0, 1, 1, 0, 0], "what repeats draws alike, two that are under way do not"


def test_one_chunk_changes_nothing():
    plan = ring.all_reduce(4)
    assert chunked(plan, 1) is plan and beside([plan]) is plan


def test_a_chunk_goes_on_when_it_has_come_whatever_the_others_do():
    plan = chunked(ring.all_gather(3), 2)  # rows 0..5 first chunk of two steps, 6..11 second
    assert {(2, 3), (0, 4), (1, 5), (8, 9), (6, 10), (7, 11)} <= edges(plan)
    assert all((before < 6) == (then < 6) for before, then in edges(plan))


def test_the_switch_works_on_one_chunk_at_a_time():
    plan = chunked(nvls.all_reduce(2, 2), 3)  # rows 0, 1 meet, 2, 3 read, 4, 5 write
    assert {(2, 8), (8, 14), (4, 10), (10, 16)} <= edges(plan) and (0, 6) not in edges(plan)


def test_lanes_do_not_wait_for_each_other():
    plan = beside([ring.reduce_scatter(3), ring.reduce_scatter(3, np.array([0, 2, 1]))])
    assert len(plan) == 12 and set(plan.parts.tolist()) == {6}
    assert all((before < 6) == (then < 6) for before, then in edges(plan))
    assert plan.block[:6].max() < 3 <= plan.block[6:].min()
    assert set(plan.draw[:6].tolist()).isdisjoint(plan.draw[6:].tolist()), "they share NICs: no common marks"


def test_stages_follow_member_by_member():
    plan = in_turn(ring.reduce_scatter(2), ring.all_gather(2))
    assert edges(plan) == {(1, 2), (0, 3)}, "member 0 has its sum when message 1 has come"
    assert plan.step.tolist() == [0, 0, 1, 1]
    assert in_turn(ring.all_gather(1), ring.all_gather(2)) is not None and len(in_turn(ring.all_gather(2), ring.all_gather(1))) == 2


def test_a_template_on_groups():
    plan = on_groups(ring.all_gather(2), np.array([[0, 2], [1, 3]]), 4, first=np.array([0, 1]), scale=2, share=2)
    assert plan.src.tolist() == [0, 2, 1, 3] and plan.dst.tolist() == [2, 0, 3, 1]
    assert plan.block.tolist() == [0, 2, 1, 3] and set(plan.parts.tolist()) == {4}


@pytest.mark.parametrize(("chunks", "steps"), [(1, 12.0), (4, 6.0), (16, 4.0)])
def test_chunks_fill_the_tree(chunks, steps):
    """Where a connection takes 1 s for all of the data, 6 levels up and down take 12/2 s as a whole, and ever less in chunks."""
    work = Work()
    plan = template("all-reduce", "double-binary-tree", 64, chunks=chunks)
    instantiate(work, plan, np.arange(64)[None], np.array([10**6]), 1, FlowKind.COLLECTIVE)
    _, end, _ = play(work.dag(64), flow_ps=lambda size: size)
    assert end.max() / 10**6 * 2 <= steps + 1e-3
