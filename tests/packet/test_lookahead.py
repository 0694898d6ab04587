"""Windows of lookahead: links of very different delays together, and what changes the shortest of them on the way."""

import pytest

from sim.simulation import Simulation
from tests.packet.lab import US, counter, delivered_ps, fct_ps, port, ps, scenario, simulate

T = 83_840


def test_a_fast_local_link_beside_a_slow_one():
    # 0 -> 1 over 10 ns links, 0 -> 2 over 1 us links, both in turn at host 0's NIC
    links = [(0, 3, 100, 10), (1, 3, 100, 10), (2, 3, 100, 1000)]
    sim = simulate(links, [(0, 1, 50_000), (0, 2, 50_000)], hosts=3)
    assert delivered_ps(sim) == [20_000 + (99 + 1) * T, 10_000 + US + (100 + 1) * T]


def test_a_slow_flow_is_not_changed_by_fast_ones_coming_and_going():
    # hosts 0 and 1 a microsecond away; hosts 2 and 3 ten nanoseconds: a thousand short flows between these
    links = [(0, 4, 100, 1000), (1, 4, 100, 1000), (2, 4, 100, 10), (3, 4, 100, 10)]
    slow = (0, 1, 2_000_000)
    fast = [(2, 3, 1000, 0.1 * i) for i in range(1000)]
    sim = simulate(links, [slow, *fast], hosts=4)
    assert fct_ps(sim)[0] == 4 * US + 2001 * T + 2 * 4_800
    assert set(fct_ps(sim)[1:]) == {40_000 + 2 * T + 2 * 4_800}


@pytest.mark.parametrize("delays_ns", [(1000, 0, 1000), (0, 1000, 0), (1, 1_000_000, 333), (10, 10_000, 0)])
def test_any_mixture_of_delays_along_a_path(delays_ns):
    links = [(0, 2, 100, delays_ns[0]), (2, 3, 400, delays_ns[1]), (3, 1, 100, delays_ns[2])]
    sim = simulate(links, [(0, 1, 20_000)], buffer_mb=1000)
    assert fct_ps(sim) == [2000 * sum(delays_ns) + 21 * T + 20_960 + 2 * 4_800 + 1_200]


def test_packets_left_on_a_fast_path_keep_their_times_when_their_flow_has_moved_away():
    # from 3 on, 200 packets wait for 10 Gb/s and go on over 10 ns links; at 20 us the link before them fails and the flow moves away
    links = [
        (0, 2, 100, 1000), (2, 3, 100, 1000), (3, 4, 10, 10), (4, 5, 100, 10), (5, 6, 100, 10), (6, 1, 100, 10),
        (2, 7, 100, 1000), (7, 8, 100, 1000), (8, 9, 100, 1000), (9, 10, 100, 1000), (10, 1, 100, 1000),
    ]  # fmt: skip
    flow = {
        "src": 0, "dst": 1, "bytes": 200_000,
        "path": ["0", "2", "3", "4", "5", "6", "1"], "ack_path": ["1", "10", "9", "8", "7", "2", "0"],
    }  # fmt: skip
    sim = simulate(links, [flow], faults=[{"kind": "link-down", "a": "2", "b": "3", "at_us": 20}])
    assert counter(sim, "losses") == 0
    # two links of 1 us and four of 10 ns; 83.84 ns twice, 200 x 838.4 ns at 10 Gb/s, 83.84 ns three times
    assert delivered_ps(sim) == [2_040_000 + 2 * T + 200 * 838_400 + 3 * T]


def test_links_made_faster_than_they_were_built():
    # 3 - 4 - 5 was built for 1 Gb/s and is a thousand times as fast; 0's packet is at 5 at 1.1006 us, 2's at 1.10384 us: 0's goes first
    links = [(0, 3, 100, 1000), (3, 4, 1, 0), (4, 5, 1, 0), (5, 1, 100, 1000), (2, 5, 100, 1020)]
    faster = [
        {"kind": "degrade", "a": a, "b": b, "at_us": 0, "rate_factor": 1000.0} for a, b in (("3", "4"), ("4", "5"))
    ]
    sim = simulate(links, [(0, 1, 1000, 1.0), (2, 1, 1000, 1.0)], hosts=3, faults=faster)
    first = US + US + T + 2 * ps(1048, 1000) + T + US
    assert delivered_ps(sim) == [first, first + T]


def test_parallel_lines_carry_what_their_number_allows():
    # four hosts a side, four lines of 25 Gb/s between the switches; how flows share them is the hash's affair
    links = [(host, 8 + host // 4, 100, 1000) for host in range(8)] + [(8, 9, 25, 1000)] * 4
    sim = simulate(links, [(host, host + 4, 25_000) for host in range(4)] * 3, hosts=8)
    lines = sim.case.network.ports_between(8, 9)
    carried = sim.state.port["tx_packets"][lines]
    assert carried.sum() == 300 and (carried % 25 == 0).all()
    assert (carried > 0).sum() >= 2
    # the busiest line works without a gap from the first packet on
    assert max(delivered_ps(sim)) == 3 * US + T + int(carried.max()) * 4 * T + T


def test_four_parallel_lines_are_four_times_as_much_as_one():
    links = [(host, 8 + host // 4, 100, 1000) for host in range(8)] + [(8, 9, 25, 1000)] * 4
    given = scenario(links, [(host, host + 4, 25_000) for host in range(4)], hosts=8)
    for seed in range(100):
        sim = Simulation(given.replace("cluster.ecmp_seed", seed))
        sim.advance(10**9)
        if (sim.state.port["tx_packets"][sim.case.network.ports_between(8, 9)] == 25).all():
            assert max(delivered_ps(sim)) == 3 * US + T + 25 * 4 * T + T
            return
    pytest.fail("no seed spreads four flows over four lines")  # a chance of 1 - 4!/4^4 each


def test_windows_stay_few_where_links_are_long():
    sim = simulate([(0, 2, 100, 1000), (1, 2, 100, 1000)], [(0, 1, 1_000_000)])
    # 88 us in windows of 1 us and a pause frame
    assert counter(sim, "windows") < 100
    assert port(sim, 0, 2)["tx_packets"] == 1000
