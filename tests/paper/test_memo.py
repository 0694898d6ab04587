"""The memo: graphs and rates are its key and nothing else is; what it keeps is bounded."""

import numpy as np
import pytest

from sim.paper import memo as memos
from sim.paper.memo import Memo
from tests.paper.test_outcome import MANY, Scripted, outcome_of

RING = [[1, 2, 11, 12], [2, 3, 12, 13], [3, 1, 13, 11]]
LINE = 100e9


def maker(made):
    def make():
        made.append(outcome_of(Scripted([100] * 3), need=(1e9,) * 3)[0])
        return made[-1]

    return make


def test_a_repeat_is_a_hit():
    memo, made = Memo(0.05), []
    one, _, hit = memo.look_up(RING, [LINE] * 3, maker(made))
    other, order, again = memo.look_up(RING, [LINE] * 3, maker(made))
    assert (hit, again) == (False, True) and one is other is made[0] and order.tolist() == [0, 1, 2]
    assert (memo.hits, memo.misses, memo.patterns) == (1, 1, 1)


def test_ports_and_the_order_of_flows_are_only_names():
    memo, made = Memo(0.05), []
    memo.look_up(RING, [LINE, LINE, 50e9], maker(made))
    renamed = [[20, 30, 70, 60], [10, 20, 50, 70], [30, 10, 60, 50]]
    _, order, hit = memo.look_up(renamed, [LINE, 50e9, LINE], maker(made))
    assert hit and order[2] == 1, "the slow flow of the one is that of the other"
    _, again, hit = memo.look_up(renamed, [LINE, 50e9, LINE], maker(made))
    assert hit and again.tolist() == order.tolist() and len(made) == 1


def test_lengths_and_positions_of_paths_are_not_in_the_key():
    """Three ports more on each path and the shared port elsewhere: the same conflict graph. That is the published key."""
    memo, made = Memo(0.05), []
    memo.look_up([[1, 9], [2, 9]], [LINE] * 2, maker(made))
    assert memo.look_up([[9, 1, 3, 4, 5], [6, 7, 8, 2, 9]], [LINE] * 2, maker(made))[2]
    assert not memo.look_up([[1, 9, 8], [2, 9, 8]], [LINE] * 2, maker(made))[2], "two shared ports are another weight"


@pytest.mark.parametrize(("other", "hit"), [(99e9, True), (103e9, False), (92e9, False)])
def test_rates_within_about_theta_are_equal(other, hit):
    memo, made = Memo(0.05), []
    memo.look_up([[1]], [LINE], maker(made))
    assert memo.look_up([[2, 3]], [other], maker(made))[2] == hit


def test_without_replay_nothing_is_known():
    memo, made = Memo(0.05, replay=False), []
    for _ in range(2):
        memo.look_up([[1]], [LINE], maker(made))
    assert (memo.hits, memo.misses, len(made)) == (0, 2, 2)


def test_few_packet_simulations_are_kept(monkeypatch):
    monkeypatch.setattr(memos, "MOST_LIVE", 2)
    memo, made = Memo(0.05), []
    for shared in range(4):
        outcome, *_ = memo.look_up([[*range(shared + 1), 100 + i] for i in range(3)], [LINE] * 3, maker(made))
        memo.grow(outcome, MANY)
        outcome.users -= shared < 3
    assert [outcome.transient is not None for outcome in made] == [False, False, True, True]
    made[2].users = 1
    memo.grow(memo.look_up([[1]], [LINE], maker(made))[0], MANY)
    assert [outcome.transient is not None for outcome in made] == [False, False, True, True, True], "what somebody waits for is kept"
    memo.drop_all()
    assert all(outcome.transient is None for outcome in made)


def test_what_was_used_least_recently_is_forgotten(monkeypatch):
    memo, made = Memo(0.05), []
    paths = [[[*range(shared + 1), 100 + i] for i in range(3)] for shared in range(4)]
    for some in paths:
        outcome, *_ = memo.look_up(some, [LINE] * 3, maker(made))
        memo.grow(outcome, MANY)
        memo.let_go(outcome)
    memo.look_up(paths[0], [LINE] * 3, maker(made))
    monkeypatch.setattr(memos, "MOST_BYTES", memo.nbytes // 2)
    memo.grow(made[3], MANY)
    known = [memo.look_up(some, [LINE] * 3, maker([]))[2] for some in paths]
    assert known[0] and not known[1] and made[1].nbytes == 0 < made[0].nbytes


def test_a_large_graph_is_known_by_its_structure_only(monkeypatch):
    monkeypatch.setattr(memos, "MOST_PAIRS", 2)
    memo, made = Memo(0.05), []
    assert [memo.look_up(RING, [LINE] * 3, maker(made))[2] for _ in range(2)] == [False, True]
    assert not memo.look_up([RING[1], RING[0], RING[2]], np.array([LINE] * 3).tolist(), maker(made))[2]
