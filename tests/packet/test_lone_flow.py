"""One flow on an idle path: completion times to the picosecond, by store and forward with real ACKs."""

import pytest

from tests.packet.lab import ACK, US, WIRE, counter, delivered_ps, fct_ps, ps, sent, simulate


def chain(links, gbps=100, delay_ns=1000):
    """Host 0, then `links` - 1 switches, then host 1."""
    nodes = [0, *range(2, 1 + links), 1]
    return [(a, b, gbps, delay_ns) for a, b in zip(nodes, nodes[1:], strict=False)]


def unloaded_ps(packets, links, gbps=100, delay_ns=1000, wire=WIRE, ack=ACK):
    return 2 * links * delay_ns * 1000 + (packets + links - 1) * ps(wire, gbps) + links * ps(ack, gbps)


@pytest.mark.parametrize("gbps", [1, 25, 100, 400, 800, 3600])
@pytest.mark.parametrize("packets", [1, 10, 100])
@pytest.mark.parametrize("links", [1, 2, 4])
def test_whole_packets(links, packets, gbps):
    sim = simulate(chain(links, gbps), [(0, 1, packets * 1000)])
    assert fct_ps(sim) == [unloaded_ps(packets, links, gbps)]
    assert delivered_ps(sim) == [links * US + (packets + links - 1) * ps(WIRE, gbps)]


def test_numbers_one_can_check_without_the_code():
    # 4 us of delay, 100 + 1 packets of 83.84 ns, two ACKs of 4.8 ns
    assert fct_ps(simulate(chain(2), [(0, 1, 100_000)])) == [12_477_440]
    # 8 us, 1 + 3 packets of 20.96 ns, four ACKs of 1.2 ns
    assert fct_ps(simulate(chain(4, gbps=400), [(0, 1, 1000)])) == [8_088_640]


@pytest.mark.parametrize("size", [1, 4, 999])
def test_less_than_one_packet(size):
    sim = simulate(chain(2), [(0, 1, size)])
    assert fct_ps(sim) == [unloaded_ps(1, 2, wire=size + 48)]
    assert sent(sim, 0, 2) == (1, size + 48) and sent(sim, 1, 2) == (1, 60)


@pytest.mark.parametrize("links", [2, 4])
def test_a_short_last_packet_follows_the_full_one_before_it(links):
    # 10 full packets and one of 1 + 48 B, 3.92 ns; at every hop it waits for the tenth to have left.
    # It arrives 3.92 ns after the tenth, whose ACK of 4.8 ns is still going out
    want = 2 * links * US + (10 + links - 1) * 83_840 + 4_800 + links * 4_800
    assert fct_ps(simulate(chain(links), [(0, 1, 10_001)])) == [want]


def test_from_a_fast_link_to_a_slow_one():
    sim = simulate([(0, 2, 100, 1000), (2, 1, 25, 1000)], [(0, 1, 20_000)])
    # the first packet takes 83.84 ns to the switch, then 20 x 335.36 ns; the ACK 19.2 ns and 4.8 ns
    assert fct_ps(sim) == [4 * US + 83_840 + 20 * 335_360 + 19_200 + 4_800]
    # at the slow port packet k arrives when k/4 of those before have left: 20 - 5 wait at the end
    assert sim.state.port["max_queue"].max() == 15 * WIRE


def test_from_a_slow_link_to_a_fast_one():
    sim = simulate([(0, 2, 25, 1000), (2, 1, 100, 1000)], [(0, 1, 20_000)])
    assert fct_ps(sim) == [4 * US + 20 * 335_360 + 83_840 + 4_800 + 19_200]
    assert sim.state.port["max_queue"].max() == WIRE, "every packet is gone before the next is there"


def test_a_narrow_place_in_the_middle_and_different_delays():
    sim = simulate([(0, 2, 400, 100), (2, 3, 40, 5000), (3, 1, 100, 20)], [(0, 1, 7000)])
    # delays 2 x 5.12 us; 20.96 ns, 7 x 209.6 ns, 83.84 ns; ACK 4.8, 12 and 1.2 ns
    assert fct_ps(sim) == [10_240_000 + 20_960 + 7 * 209_600 + 83_840 + 4_800 + 12_000 + 1_200]


def test_ten_nanosecond_links():
    assert fct_ps(simulate(chain(4, delay_ns=10), [(0, 1, 50_000)])) == [unloaded_ps(50, 4, delay_ns=10)]


def test_links_without_any_delay():
    assert fct_ps(simulate(chain(3, delay_ns=0), [(0, 1, 50_000)])) == [unloaded_ps(50, 3, delay_ns=0)]


def test_one_ten_millisecond_link_among_short_ones():
    links = [(0, 2, 100, 5), (2, 3, 100, 10_000_000), (3, 1, 100, 5000)]
    sim = simulate(links, [(0, 1, 3_000_000)], buffer_mb=400)
    # 2 x 10.005005 ms; 3000 + 2 packets; three ACKs
    assert fct_ps(sim) == [20_010_010_000 + 3002 * 83_840 + 3 * 4_800]
    assert any("large bandwidth-delay product" in notice for notice in sim.case.notices)


def test_one_ten_millisecond_link_works_as_it_stands():
    simulate([(0, 2, 100, 5000), (2, 3, 100, 10_000_000), (3, 1, 100, 5000)], [(0, 1, 3_000_000)])


def test_other_sizes_of_packets():
    sim = simulate(chain(2), [(0, 1, 10_000)], payload_bytes=4096, header_bytes=100, ack_bytes=84)
    # 4096 + 4096 + 1808 B; the last one waits at the switch for the second
    assert fct_ps(sim) == [4 * US + 3 * ps(4196, 100) + ps(1908, 100) + 2 * ps(84, 100)]


@pytest.mark.parametrize(("ack_every", "acks"), [(1, 10), (4, 3), (10, 1), (1024, 1)])
def test_ack_every(ack_every, acks):
    sim = simulate(chain(2), [(0, 1, 10_000)], ack_every=ack_every)
    # with 4: after packets 4, 8 and the last; the last packet is acknowledged at once
    assert sent(sim, 1, 2) == (acks, 60 * acks)
    assert fct_ps(sim) == [unloaded_ps(10, 2)]


def test_a_flow_of_five_gigabytes():
    sim = simulate(chain(2, gbps=400), [(0, 1, 5_000_000_000)], payload_bytes=50_000)
    assert fct_ps(sim) == [4 * US + 100_001 * ps(50_048, 400) + 2 * 1_200]


def test_a_flow_without_bytes_takes_its_paths_delay_and_sends_nothing():
    sim = simulate(chain(2), [(0, 1, 0)])
    assert (fct_ps(sim), delivered_ps(sim)) == ([4 * US], [2 * US])
    assert counter(sim, "packet_hops") == 0
    assert any("0 bytes" in notice for notice in sim.case.notices)


def test_hosts_wired_to_each_other():
    sim = simulate([(0, 1, 200, 500)], [(0, 1, 5000), (1, 0, 5000)])
    # 5 x 41.92 ns and 500 ns there; its ACK goes first of all at the other end, when the packet under way has left
    arrives = 500_000 + 5 * 41_920
    assert delivered_ps(sim) == [arrives, arrives]


@pytest.mark.parametrize(
    ("payload", "header", "ack"), [(1000, 48, 43), (1000, 48, 1), (1, 0, 1), (60, 0, 60), (20, 1, 2)]
)
def test_packets_shorter_than_a_pause_frame_on_links_without_delay(payload, header, ack):
    sim = simulate(
        chain(2, delay_ns=0), [(0, 1, 20 * payload)], payload_bytes=payload, header_bytes=header, ack_bytes=ack
    )
    assert fct_ps(sim) == [unloaded_ps(20, 2, delay_ns=0, wire=payload + header, ack=ack)]
