"""A NIC with several queue pairs: turns, order of entry, who waits for whom on the wire."""

from tests.packet.lab import US, WIRE, delivered_ps, fct_ps, ps, simulate

STAR = [(host, 9, 100, 1000) for host in range(9)]
T = 83_840  # a full packet at 100 Gb/s
BASE = 4 * US + T + 2 * 4_800  # two links and the ACK's way back, without the NIC's own serialisation


def star(flows, **options):
    return simulate(STAR, flows, hosts=9, **options)


def test_two_flows_of_one_pair_take_turns():
    # packets go 0 1 0 1 ...: the last ones are the 19th and the 20th on the wire
    assert fct_ps(star([(0, 1, 10_000), (0, 1, 10_000)])) == [BASE + 19 * T, BASE + 20 * T]


def test_two_flows_to_two_hosts_share_the_wire_alike():
    assert fct_ps(star([(0, 1, 10_000), (0, 2, 10_000)])) == [BASE + 19 * T, BASE + 20 * T]


def test_three_queue_pairs_in_round_robin():
    # A A A, B, C C go as A B C A C A: last ones 6th, 2nd and 5th
    assert fct_ps(star([(0, 1, 3000), (0, 2, 1000), (0, 3, 2000)])) == [BASE + 6 * T, BASE + 2 * T, BASE + 5 * T]


def test_a_late_queue_pair_waits_for_its_turn():
    sim = star([(0, 1, 4000), (0, 2, 2000), (0, 3, 2000, 0.01)])
    # A leaves at 0; at 83.84 ns B's turn, then C's, which came at 10 ns: A B C A B C A A
    assert delivered_ps(sim) == [2 * US + (at + 1) * T for at in (8, 5, 6)]


def test_a_flow_that_has_ended_leaves_the_round():
    sim = star([(0, 1, 1000), (0, 2, 3000), (0, 3, 3000)])
    # A B C B C B C
    assert delivered_ps(sim) == [2 * US + (at + 1) * T for at in (1, 6, 7)]


def test_a_hundred_queue_pairs_each_get_a_hundredth():
    sim = star([(0, 1 + i % 8, 2000) for i in range(100)])
    assert delivered_ps(sim) == [2 * US + (101 + i + 1) * T for i in range(100)]


def test_short_packets_take_turns_by_packet_not_by_byte():
    sim = star([(0, 1, 2), (0, 2, 2000)], payload_bytes=1000)
    # the first is of 50 B, 4 ns; then two of 83.84 ns
    assert delivered_ps(sim) == [2 * US + 2 * ps(50, 100), 2 * US + 4_000 + 2 * T + T]


def test_the_nic_sends_acks_before_data():
    sim = star([(0, 1, 5000), (1, 0, 60_000)])
    # data reach host 1 at 2.16768 us + k T, while it sends; its own packets end at 25 T = 2.096 us and 26 T = 2.17984 us:
    # there the first ACK leaves, then a data packet, the second ACK, ...: the fifth leaves at 26 T + 4 (T + 4.8 ns)
    last_ack = 26 * T + 4 * (T + 4_800)
    # at the switch the data packet ahead of it is still going out: it starts T after that one's arrival
    assert fct_ps(sim)[0] == last_ack + US + T + 4_800 + US


def test_a_flow_starting_when_another_completes_finds_an_idle_nic():
    alone = BASE + T
    sim = star([(0, 1, 1000), (0, 1, 1000, alone / US)])
    assert sim.plan.node["started"][1] == sim.plan.flow["acked"][0] == alone
    assert fct_ps(sim) == [alone, alone]


def test_a_flow_starting_the_instant_the_wire_falls_free():
    # A's only packet leaves the NIC at 83.84 ns; B starts at that very picosecond
    sim = star([(0, 1, 1000), (0, 1, 1000, 0.08384), (0, 1, 1000, 0.083841)])
    assert fct_ps(sim) == [BASE + T, BASE + T, BASE + 2 * T - 1]


def test_window_of_one_bandwidth_delay_product_holds_the_queue():
    links = [(0, 2, 100, 1000), (2, 1, 25, 1000)]
    free = simulate(links, [(0, 1, 400_000)])
    held = simulate(links, [(0, 1, 400_000)], window="bdp")
    # base RTT 4 us + 80 ns + 320 ns: 55 000 B at 100 Gb/s, 55 packets; 12 or so of them are on their way
    assert held.case.table.window_bytes.tolist() == [55_000]
    assert free.state.port["max_queue"].max() == 300 * WIRE
    assert 40 * WIRE < held.state.port["max_queue"].max() < 50 * WIRE
    assert fct_ps(held) == fct_ps(free) == [4 * US + T + 400 * 335_360 + 19_200 + 4_800]
