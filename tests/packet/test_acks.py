"""ACKs in the data queue, and ahead of it: what one ACK waits for at a saturated port."""

import pytest

from tests.packet.lab import US, WIRE, fct_ps, port, simulate

STAR = [(host, 4, 100, 1000) for host in range(4)]
INCAST = [(1, 0, 100_000), (2, 0, 100_000)]  # the port to host 0 is busy from 1.08384 us on, one packet per 83.84 ns


def fct_of_probe(**transport):
    """One packet from 0 to 3 beside the incast into 0; its ACK is at the switch at 3.17248 us."""
    return fct_ps(simulate(STAR, [*INCAST, (0, 3, 1000)], hosts=4, **transport))[2]


def test_a_priority_ack_waits_for_the_packet_under_way_only():
    # 1.08384 us + 25 x 83.84 ns = 3.17984 us: then the ACK leaves, 4.8 ns and 1 us from host 0
    assert fct_of_probe(ack_priority="strict") == 3_179_840 + 4_800 + US


def test_a_shared_ack_waits_for_the_whole_queue():
    # by 3.17248 us, 2 x 25 packets have come: it leaves after the 50th, at 1.08384 us + 50 x 83.84 ns
    assert fct_of_probe() == 1_083_840 + 50 * 83_840 + 4_800 + US


def test_priority_acks_are_no_part_of_the_queue():
    flows = [*INCAST, (0, 3, 10_000, 5.0)]  # ten ACKs from 8.17 us on
    shared, strict = (simulate(STAR, flows, hosts=4, ack_priority=kind) for kind in ("shared", "strict"))
    # when the last two of 200 packets come, at 9.38 us, 99 have gone; ten ACKs ahead of them cost less than one packet's time
    assert port(strict, 4, 0)["max_queue"] == 101 * WIRE
    assert port(shared, 4, 0)["max_queue"] == 101 * WIRE + 10 * 60


@pytest.mark.parametrize("ack_every", [1, 4, 10])
def test_acks_of_many_packets_let_more_data_through(ack_every):
    # both directions of one link full: every ACK that host 1 sends delays its own data by 4.8 ns
    flows = [(0, 1, 100_000), (1, 0, 100_000)]
    sim = simulate([(0, 2, 100, 1000), (1, 2, 100, 1000)], flows, ack_every=ack_every)
    acks = sim.state.port["tx_packets"][sim.case.network.ports_between(1, 2)[0]] - 100
    assert acks == 100 // ack_every


@pytest.mark.parametrize("controller", ["hpcc", "dctcp", "swift"])
def test_ack_every_past_the_window_does_not_stop_the_flow(controller):
    # a window of 52 packets and an ACK only every 64: the receiver must answer before the sender runs dry
    simulate([(0, 2, 100, 1000), (1, 2, 100, 1000)], [(0, 1, 1_000_000)], congestion_control=controller, ack_every=64)
