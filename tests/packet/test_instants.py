"""Many things in one picosecond: order of entry decides, and nothing is lost or counted twice."""

from tests.packet.lab import US, counter, delivered_ps, fct_ps, simulate

T = 83_840
BASE = 4 * US + 2 * T + 2 * 4_800


def star(hosts, delay_ns=1000):
    return [(host, hosts, 100, delay_ns) for host in range(hosts)]


def test_thirty_two_to_one_at_one_instant_go_in_order_of_entry():
    sim = simulate(star(33), [(host, 32, 1000) for host in range(32)], hosts=33)
    assert delivered_ps(sim) == [2 * US + (2 + place) * T for place in range(32)]


def test_order_of_entry_is_the_order_of_the_list_not_of_the_hosts():
    senders = [7, 2, 9, 0, 5]
    sim = simulate(star(11), [(host, 10, 1000) for host in senders], hosts=11)
    assert delivered_ps(sim) == [2 * US + (2 + place) * T for place in range(5)]


def test_a_permutation_of_thirty_two_ends_in_one_instant():
    sim = simulate(star(32), [(host, (host + 5) % 32, 1000) for host in range(32)], hosts=32)
    assert fct_ps(sim) == [BASE] * 32
    assert counter(sim, "packet_hops") == 32 * 4


def test_all_pairs_at_once():
    # every host sends one packet to each of seven others, in the same order of turns: port j gets packet r from host j - 1 - r
    flows = [(src, (src + 1 + turn) % 8, 1000) for turn in range(7) for src in range(8)]
    sim = simulate(star(8), flows, hosts=8)
    assert delivered_ps(sim) == [2 * US + (2 + turn) * T for turn in range(7) for _ in range(8)]


def test_the_earlier_sent_of_two_that_arrive_together_goes_first():
    # from 0 over 2 us and from 1 over 1 us, started so that both are at the switch at 2.08384 us: 0's packet was sent first
    links = [(0, 3, 100, 2000), (1, 3, 100, 1000), (2, 3, 100, 1000)]
    sim = simulate(links, [(1, 2, 1000, 1.0), (0, 2, 1000)], hosts=3)
    assert [int(t) for t in delivered_ps(sim)] == [3 * US + 2 * T, 3 * US + 3 * T], (
        "sorted by start: 0's flow is the first"
    )


def test_a_longer_packet_on_a_faster_link_meets_a_short_one():
    # 1048 B at 100 Gb/s in 83.84 ns and 4192 B at 400 Gb/s in 83.84 ns: same start, same arrival; the first of the list goes first
    links = [(0, 3, 400, 1000), (1, 3, 100, 1000), (2, 3, 100, 1000)]
    sim = simulate(links, [(1, 2, 1000), (0, 2, 4144)], hosts=3, payload_bytes=4144)
    assert delivered_ps(sim) == [2 * US + 2 * T, 2 * US + T + T + 4 * T]


def test_hundreds_of_starts_and_ends_at_one_instant():
    # 300 flows of no bytes and 300 of one packet between two hosts, all at 1 us
    flows = [(0, 1, 0, 1.0)] * 300 + [(0, 1, 1000, 1.0)] * 300
    sim = simulate(star(2), flows)
    assert fct_ps(sim)[:300] == [4 * US] * 300
    assert delivered_ps(sim)[300:] == [3 * US + (2 + i) * T for i in range(300)]


def test_a_flow_may_start_at_any_picosecond():
    sim = simulate(star(3), [(0, 1, 1000, 0.000001), (2, 1, 1000, 0.000002), (0, 2, 1000, 12_345.678901)], hosts=3)
    assert delivered_ps(sim) == [1 + 2 * US + 2 * T, 1 + 2 * US + 3 * T, 12_345_678_901 + 2 * US + 2 * T]


def test_a_flow_that_starts_after_fifty_days():
    sim = simulate(star(2), [(0, 1, 1000, 4.0e12), (0, 1, 1000, 4.4e12)])
    assert fct_ps(sim) == [BASE, BASE]
