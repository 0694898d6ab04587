"""Loss and full buffers: go-back-N, the timeout to the picosecond, and that every run ends with a count."""

import numpy as np
import pytest

from tests.packet.lab import US, WIRE, counter, delivered_ps, fct_ps, port, sent, simulate

STAR = [(0, 2, 100, 1000), (1, 2, 100, 1000)]
T = 83_840
BASE = 4 * US + 2 * T + 2 * 4_800  # one packet and its ACK over two links
TIMEOUT = 500 * US


def outage(a, b, down_us, up_us):
    return [
        {"kind": kind, "a": str(a), "b": str(b), "at_us": at}
        for kind, at in (("link-down", down_us), ("link-up", up_us))
    ]


def lossy(probability):
    return [(0, 2, 100, 1000, probability), (1, 2, 100, 1000)]


def test_a_lost_packet_with_nothing_behind_it_costs_one_timeout():
    # the link fails while the packet is on it, and is back at 10 us; nobody notices until 500 us after it was sent
    sim = simulate(STAR, [(0, 1, 1000)], faults=outage(0, 2, 0.5, 10))
    assert fct_ps(sim) == [TIMEOUT + BASE]
    assert [counter(sim, name) for name in ("losses", "drops", "timeouts", "retransmits")] == [1, 0, 1, 1]
    assert sent(sim, 0, 2)[0] == 2 and sent(sim, 2, 1)[0] == 1


def test_a_tail_lost_with_every_ack_is_timed_from_the_first_send():
    # at 2.2 us the second link has all of packets 1 to 4 on it, and the ACK of packet 0, 32 ns on its way: all five are lost
    sim = simulate(STAR, [(0, 1, 5000)], faults=outage(2, 1, 2.2, 10))
    assert fct_ps(sim) == [TIMEOUT + BASE + 4 * T]
    assert [counter(sim, name) for name in ("losses", "timeouts", "retransmits")] == [5, 1, 5]


def test_the_timeout_counts_from_the_last_progress():
    # all 20 packets have arrived and the first ACK is back, at 4.17728 us, when the link to host 0 fails at 4.2 us
    sim = simulate(STAR, [(0, 1, 20_000)], faults=outage(0, 2, 4.2, 10))
    assert delivered_ps(sim) == [2 * US + 21 * T]
    # the other 19 ACKs are lost on the link, or dropped at the switch; packet 1 is sent again 500 us after the first ACK
    assert counter(sim, "timeouts") == 1 and counter(sim, "retransmits") == 19
    # its repeat is answered by an ACK of everything: one round trip
    assert fct_ps(sim) == [BASE + TIMEOUT + BASE]


def test_a_lost_ack_of_the_last_packet_costs_a_timeout_and_a_repeat():
    # data arrive at 2.16768 us, the ACK is on 1 -> 2 until 3.17248 us
    sim = simulate(STAR, [(0, 1, 1000)], faults=outage(1, 2, 3, 10))
    assert delivered_ps(sim) == [2 * US + 2 * T], "delivered is delivered"
    assert fct_ps(sim) == [TIMEOUT + BASE]


def test_lost_acks_before_a_later_one_cost_nothing():
    # the link back is down for the first of ten ACKs only, and no data are on it then: strictly one way needs two links
    links = [(0, 2, 100, 1000), (2, 1, 100, 1000), (1, 3, 100, 1000), (3, 0, 100, 1000)]
    flow = {"src": 0, "dst": 1, "bytes": 10_000, "path": ["0", "2", "1"], "ack_path": ["1", "3", "0"]}
    sim = simulate(links, [flow], faults=outage(1, 3, 2.2, 2.4))
    assert counter(sim, "losses") > 0
    assert counter(sim, "timeouts") == counter(sim, "retransmits") == 0
    assert fct_ps(sim) == [BASE + 9 * T], "ACKs are cumulative"


def test_a_hole_is_told_at_once_and_all_behind_it_is_sent_again():
    # down from 0.6 to 0.7 us: all packets that had left by then, 0 to 7, are on the first link and lost; 8 arrives out of order
    sim = simulate(STAR, [(0, 1, 100_000)], faults=outage(0, 2, 0.6, 0.7))
    lost = 8
    assert counter(sim, "losses") == lost
    assert counter(sim, "timeouts") == 0
    # packet 8 leaves at 0.7 us (the eighth was cut off, the NIC free again when the link is up) and its NACK is back after a round trip
    nack_at = 700_000 + BASE
    # what went out meanwhile: one packet per T from 0.7 us on, the 51st begins just before the NACK is in
    again = lost + -(-BASE // T)
    assert counter(sim, "retransmits") == again
    first = 700_000 + (again - lost) * T  # when the packet under way has left
    assert first >= nack_at
    assert fct_ps(sim) == [first + 99 * T + BASE]


@pytest.mark.parametrize("probability", [0.01, 0.3])
def test_random_loss_ends_and_is_counted(probability):
    sim = simulate(lossy(probability), [(0, 1, 300_000)], retransmit_timeout_us=50)
    assert counter(sim, "losses") > 0
    assert counter(sim, "retransmits") >= counter(sim, "losses") // 3
    assert int(sim.plan.flow["retransmits"][0]) == counter(sim, "retransmits")
    # every packet that left host 0 was one of the 300 or a repeat
    assert sent(sim, 0, 2)[0] == 300 + counter(sim, "retransmits") == counter(sim, "data_packets")
    assert port(sim, 0, 2)["drops"] + port(sim, 2, 0)["drops"] == counter(sim, "losses")


def test_loss_is_as_frequent_as_asked():
    # 3000 packets and their ACKs cross the lossy link in both directions
    sim = simulate(lossy(0.02), [(0, 1, 3_000_000)], retransmit_timeout_us=50)
    crossed = sent(sim, 0, 2)[0] + sent(sim, 2, 0)[0]
    share = counter(sim, "losses") / crossed
    assert share == pytest.approx(0.02, abs=4 * np.sqrt(0.02 * 0.98 / crossed))


def test_the_same_seed_loses_the_same_packets():
    runs = [simulate(lossy(0.1), [(0, 1, 200_000)], simulation={"seed": seed}) for seed in (5, 5, 6)]
    assert fct_ps(runs[0]) == fct_ps(runs[1])
    assert counter(runs[0], "losses") == counter(runs[1], "losses")
    assert fct_ps(runs[0]) != fct_ps(runs[2])


def test_a_full_buffer_drops_the_packet_that_finds_no_room():
    # three packets meet at an idle port at 1.08384 us: one goes, one waits and fills the buffer of 1048 B, the third is dropped
    links = [(host, 4, 100, 1000) for host in range(4)]
    sim = simulate(links, [(0, 3, 1000), (1, 3, 1000), (2, 3, 1000)], hosts=4, pfc="off", buffer_mb=WIRE / 1e6)
    assert fct_ps(sim) == [BASE, BASE + T, TIMEOUT + BASE]
    assert counter(sim, "drops") == port(sim, 4, 3)["drops"] == 1
    assert counter(sim, "timeouts") == 1


def test_a_small_buffer_at_a_bottleneck_drops_and_ends():
    # from 100 to 25 Gb/s with room for 10 packets: 14 - 4 = 10 are in when packet 13 is there, packet 14 is the first to be dropped
    links = [(0, 2, 100, 1000), (2, 1, 25, 1000)]
    few = simulate(links, [(0, 1, 14_000)], pfc="off", buffer_mb=10 * WIRE / 1e6)
    assert counter(few, "drops") == 0
    more = simulate(links, [(0, 1, 15_000)], pfc="off", buffer_mb=10 * WIRE / 1e6)
    assert [counter(more, name) for name in ("drops", "timeouts", "retransmits")] == [1, 1, 1]
    many = simulate(links, [(0, 1, 300_000)], pfc="off", buffer_mb=10 * WIRE / 1e6)
    assert counter(many, "drops") > 100
    assert sent(many, 2, 1)[0] + counter(many, "drops") == sent(many, 0, 2)[0] == 300 + counter(many, "retransmits")
    assert sent(many, 2, 1)[1] >= 300 * WIRE
    assert many.state.port["max_queue"].max() == 10 * WIRE


def test_an_incast_into_a_small_buffer_ends_with_every_byte():
    links = [(host, 9, 100, 1000) for host in range(9)]
    sim = simulate(links, [(host, 8, 50_000) for host in range(8)], hosts=9, pfc="off", buffer_mb=0.05)
    assert counter(sim, "drops") > 0 and counter(sim, "retransmits") > 0
    assert not sim.state.node["used_bytes"].any() and not sim.state.port["ingress_bytes"].any()
    assert sim.result().flows["bytes_left"].sum() == 0


def test_a_queue_pair_gives_up_after_seven_timeouts_and_the_run_says_so():
    sim = simulate(STAR, [(0, 1, 1000)], ends="deadlock", faults=[outage(2, 1, 0.5, 1)[0]], retransmit_timeout_us=100)
    assert counter(sim, "timeouts") == 7
    assert sent(sim, 0, 2)[0] == 8
    text = " ".join(sim.result().notices)
    assert "flow 0 has 1 packets unacknowledged" in text and "7 timeouts" in text
    assert sim.result().flows["bytes_left"].tolist() == [1000]


def test_a_link_back_before_the_seventh_timeout_is_in_time():
    sim = simulate(STAR, [(0, 1, 1000)], faults=outage(2, 1, 0.5, 650), retransmit_timeout_us=100)
    assert counter(sim, "timeouts") == 7
    assert fct_ps(sim) == [7 * 100 * US + BASE]
