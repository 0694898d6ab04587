"""Memory holds what is in flight, not what was sent; room is made when it runs out, without a trace in the result."""

import numpy as np

from sim.packet import state as memory
from sim.simulation import Simulation
from tests.packet.lab import counter, fct_ps, scenario, simulate

STAR = [(host, 3, 100, 1000) for host in range(3)]


def test_fifty_megabytes_need_no_more_room_than_what_is_in_flight():
    sim = simulate(STAR, [(0, 1, 50_000_000)], hosts=3)
    assert counter(sim, "data_packets") == 50_000
    assert sim.state.packet.size == 4096
    assert int(sim.state.g[0]["free_packets"]) == 4096, "all of them are back"


def test_a_long_queue_makes_the_pool_grow():
    sim = simulate(STAR, [(0, 2, 10_000_000), (1, 2, 10_000_000)], hosts=3, pfc="off")
    # half of what was sent waits in the end: 10 000 packets
    assert 8192 < sim.state.packet.size <= 16_384
    assert int(sim.state.g[0]["free_packets"]) == sim.state.packet.size


def test_slots_are_used_again_by_later_flows():
    sim = simulate(STAR, [(0, 1, 1000, 10.0 * i) for i in range(1000)], hosts=3)
    assert sim.state.flow.size == 256
    assert int(sim.state.g[0]["free_flows"]) == 256
    assert len(set(fct_ps(sim))) == 1


def test_more_flows_at_once_than_slots():
    sim = simulate(STAR, [(0, 1, 1000)] * 1000, hosts=3)
    assert 1000 <= sim.state.flow.size < 2000
    assert sim.plan.flow["acked"][:1000].min() > 0


def test_what_is_sent_again_within_a_window_finds_room():
    # 4050 packets of 2 B leave in 0.65 us and wait for a link that takes 16 us for each; in the middle of a window of 1 us, when nothing
    # was left to send, the timer goes off and 3000 are sent again
    slow = {"kind": "degrade", "a": "2", "b": "1", "at_us": 0.0, "rate_factor": 0.001}
    given = dict(pfc="off", payload_bytes=1, header_bytes=1, window="none", retransmit_timeout_us=20.5)
    sim = simulate([(0, 2, 100, 1000), (2, 1, 1, 1000)], [(0, 1, 4050)], faults=[slow], ends=None, **given)
    while counter(sim, "timeouts") < 2:
        sim.advance(1)
        assert sim.state.g[0]["free_packets"] > 0
        assert sim.state.g[0]["free_packets"] == sim.state.packet.size - sim.state.flow["in_flight"].sum()


def test_growing_in_the_middle_changes_nothing():
    given = scenario(STAR, [(0, 2, 300_000), (1, 2, 300_000), (2, 0, 50_000)], hosts=3, congestion_control="hpcc")
    plain, grown = Simulation(given), Simulation(given)
    while not plain.advance(10**9):
        pass
    step = 0
    while not grown.advance(97):
        step += 1
        if step in (3, 7):
            grown.state = memory.grow_packets(grown.state)
        if step in (2, 9):
            grown.state = memory.grow_flows(grown.state, 5)
    assert fct_ps(grown) == fct_ps(plain)
    for name in ("tx_bytes", "max_queue", "marks"):
        assert np.array_equal(grown.state.port[name], plain.state.port[name]), name
