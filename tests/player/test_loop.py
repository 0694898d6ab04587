"""Tasks and flows that release each other: by the end of a task, by the last packet, by the last ACK."""

import numpy as np
import pytest

from tests.player.graphs import ACKED, DELIVERED, US, Played, T, simulation
from tests.workload.tiny_player import play


def test_a_flow_between_two_tasks():
    ran = Played([(0, 5 * US), (1, 3 * US)], [(0, 1, 1000)], done=[("t0", "f0"), ("f0", "t1")])
    assert ran["t0"] == (0, 5 * US)
    assert ran["f0"] == (5 * US, 5 * US + DELIVERED)
    assert ran["t1"] == (5 * US + DELIVERED, 8 * US + DELIVERED)
    assert ran.acked == [5 * US + ACKED]
    assert ran.sim.end_ps == 8 * US + DELIVERED, "the task ends at 10.168 us, the last ACK was back at 9.177 us"


def test_a_task_that_waits_for_the_last_ack():
    ran = Played([(0, 3 * US)], [(0, 1, 1000)], acked=[("f0", "t0")])
    assert ran["t0"] == (ACKED, ACKED + 3 * US)


def test_delivery_and_ack_of_one_flow_release_different_nodes():
    ran = Played([(1, US), (0, US)], [(0, 1, 5000)], done=[("f0", "t0")], acked=[("f0", "t1")])
    assert ran["t0"] == (DELIVERED + 4 * T, DELIVERED + 4 * T + US)
    assert ran["t1"] == (ACKED + 4 * T, ACKED + 4 * T + US)


def test_a_node_waits_for_all_before_it():
    ran = Played(
        [(0, 4 * US), (1, US), (2, 7 * US), (3, US)], [(0, 3, 1000), (1, 3, 1000)],
        done=[("t0", "f0"), ("t1", "f1"), ("f0", "t3"), ("f1", "t3"), ("t2", "t3")],
    )  # fmt: skip
    assert ran["f1"] == (US, US + DELIVERED)
    assert ran["t3"] == (7 * US, 8 * US), "task 2 is the last at 7 us; the flows were there at 3.2 and 6.2 us"


def test_a_chain_of_flows_around_a_ring():
    hops = 24
    flows = [(step % 8, (step + 1) % 8, 1000) for step in range(hops)]
    ran = Played([], flows, done=[(f"f{step}", f"f{step + 1}") for step in range(hops - 1)])
    # every flow starts with the arrival of the one before, and its packet follows that one's ACK of 4.8 ns
    assert [ran[f"f{step}"][0] for step in range(1, hops)] == [
        DELIVERED + step * (DELIVERED + 4_800) for step in range(hops - 1)
    ]
    assert ran.acked[-1] == ran[f"f{hops - 1}"][0] + 4_800 + ACKED


def test_one_task_releases_a_thousand():
    ran = Played([(0, US)] + [(1, i) for i in range(1000)], done=[("t0", f"t{i + 1}") for i in range(1000)])
    assert [ran[f"t{i + 1}"] for i in range(1000)] == [(US, US + i) for i in range(1000)]


def test_an_earliest_start_holds_besides_the_edges():
    starts = {"t1": 9 * US, "t2": US, "f0": 20 * US, "f1": 0}
    ran = Played(
        [(0, 5 * US), (0, US), (0, US)], [(0, 1, 1000), (0, 1, 1000)], starts=starts,
        done=[("t0", "t1"), ("t0", "t2"), ("t0", "f0"), ("t0", "f1")],
    )  # fmt: skip
    assert ran["t1"][0] == 9 * US
    assert ran["t2"][0] == 5 * US
    assert ran["f0"][0] == 20 * US
    assert ran["f1"][0] == 5 * US


def test_a_flow_without_bytes_releases_after_its_paths_delay():
    ran = Played([(0, US), (1, US), (0, US)], [(0, 1, 0)], done=[("t0", "f0"), ("f0", "t1")], acked=[("f0", "t2")])
    assert ran["f0"] == (US, 3 * US)
    assert ran["t1"] == (3 * US, 4 * US)
    assert ran["t2"] == (5 * US, 6 * US)


def test_tasks_of_no_length_pass_in_one_instant():
    ran = Played([(0, US)] + [(0, 0)] * 50 + [(0, US)], done=[(f"t{i}", f"t{i + 1}") for i in range(51)])
    assert ran["t50"] == (US, US)
    assert ran["t51"] == (US, 2 * US)


def test_flows_released_at_one_instant_enter_in_order_of_their_number():
    # both tasks end at 1 us, the one that releases flow 1 is the first in every list
    ran = Played([(0, US), (0, US)], [(0, 1, 1000), (0, 2, 1000)], done=[("t0", "f1"), ("t1", "f0")])
    assert ran["f0"] == (US, US + DELIVERED)
    assert ran["f1"] == (US, US + DELIVERED + T)


def test_a_task_that_ends_with_an_arrival_in_the_same_picosecond():
    ran = Played(
        [(1, DELIVERED), (1, US)], [(0, 1, 1000), (1, 2, 1000), (1, 3, 1000)],
        done=[("t0", "f2"), ("f0", "f1"), ("f0", "t1"), ("t0", "t1")],
    )  # fmt: skip
    assert ran["t1"][0] == DELIVERED
    assert ran["f1"][0] == ran["f2"][0] == DELIVERED
    # host 1 sends its ACK first (4.8 ns), then flow 1, then flow 2
    assert (ran["f1"][1], ran["f2"][1]) == (2 * DELIVERED + 4_800, 2 * DELIVERED + 4_800 + T)


def test_durations_beyond_two_to_the_31_nanoseconds():
    long = 3_000_000_000_000  # 3 s, over 2^31 ns
    ran = Played([(0, long), (0, 5 * long)], [(0, 1, 1000)], done=[("t0", "f0"), ("t0", "t1")])
    assert ran["f0"] == (long, long + DELIVERED)
    assert ran["t1"] == (long, 6 * long)


def random_tasks(count, seed):
    """Tasks with random lengths (many equal) and random edges to later ones."""
    draw = np.random.default_rng(seed)
    tasks = [
        (int(rank), int(ps)) for rank, ps in zip(draw.integers(0, 8, count), draw.integers(0, 20, count), strict=True)
    ]
    before = draw.integers(0, count - 1, 3 * count)
    after = before + 1 + draw.integers(0, 30, 3 * count)
    pairs = sorted({(int(a), int(b)) for a, b in zip(before, after, strict=True) if b < count})
    return tasks, [(f"t{a}", f"t{b}") for a, b in pairs]


@pytest.mark.parametrize("seed", range(4))
def test_a_thousand_random_tasks_as_the_slow_player_plays_them(seed):
    tasks, done = random_tasks(1000, seed)
    ran = Played(tasks, done=done)
    start, end, _ = play(ran.sim.case.dag)
    assert np.array_equal(ran.sim.plan.node["started"][:1000], start)
    assert np.array_equal(ran.sim.plan.node["ended"][:1000], end)


def test_slices_of_one_hop_change_nothing():
    graph = ([(0, 5 * US), (1, 3 * US)], [(0, 1, 5000), (0, 2, 3000), (1, 2, 0)])
    done = [("t0", "f0"), ("f0", "t1"), ("t1", "f2")]
    whole, sliced = Played(*graph, done=done), Played(*graph, done=done, budget=1)
    for name in ("t0", "t1", "f0", "f1", "f2"):
        assert whole[name] == sliced[name]
    assert whole.acked == sliced.acked


def test_a_circle_is_a_deadlock_that_names_who_waits_for_whom():
    ran = Played(
        [(0, US), (0, US), (1, US)], [(0, 1, 1000), (1, 0, 1000)], ends="deadlock",
        done=[("t1", "f0"), ("f0", "t2"), ("t2", "f1"), ("f1", "t1")],
    )  # fmt: skip
    assert ran["t0"] == (0, US), "what does not wait has run"
    assert ran["t1"] == ran["f0"] == (-1, -1)
    text = " ".join(ran.sim.result().notices)
    assert "4 tasks and flows wait for each other" in text
    assert "waits for" in text and "flow 0" in text and "flow 1" in text, text


def test_ranks_that_enter_two_exchanges_in_different_orders():
    # rank 0 sends the first, then the second; rank 1 wants to have sent the second before it lets the first one through
    ran = Played(
        [(0, US), (1, US)], [(0, 1, 1000), (1, 0, 1000)], ends="deadlock",
        acked=[("f1", "t0"), ("f0", "t1")], done=[("t0", "f0"), ("t1", "f1")],
    )  # fmt: skip
    text = " ".join(ran.sim.result().notices)
    assert "waits for" in text and "rank 0" in text and "rank 1" in text, text


def test_those_behind_a_circle_are_not_part_of_it():
    # t2 and t3 only wait for the circle of t0 and t1
    ran = Played([(0, US)] * 4, done=[("t0", "t1"), ("t1", "t0"), ("t1", "t2"), ("t2", "t3")], ends="deadlock")
    text = " ".join(ran.sim.result().notices)
    assert "waits for" in text, text


def test_tasks_alone_need_no_network():
    sim = simulation([(0, US), (0, 2 * US)], done=[("t0", "t1")])
    assert sim.advance() and sim.status == "finished"
    assert sim.end_ps == 3 * US
    assert sim.progress().fraction == 1
    assert sim.result().tasks["end_s"].tolist() == [1e-6, 3e-6]
