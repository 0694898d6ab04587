"""Windows of lookahead: links of very different delays together, and what changes the shortest of them on the way."""

import pytest

from tests.packet.lab import US, counter, delivered_ps, fct_ps, simulate

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


def test_what_waits_beyond_the_calendar_is_not_forgotten_when_an_idle_network_wakes():
    # without delays the calendar reaches 100 ns: flow 0 is on its 1 us link, far ahead, when flow 1 starts at 1 us
    links = [(0, 3, 1, 0), (1, 3, 100, 0), (2, 3, 1, 1000)]
    sim = simulate(links, [(1, 2, 1), (0, 1, 1, 1.0)], hosts=3)
    data_ns, last_ns = 49 * 0.08, 49 * 8
    assert delivered_ps(sim) == [int((data_ns + last_ns) * 1000) + US, US + int((last_ns + data_ns) * 1000)]
