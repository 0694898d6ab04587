"""Hosts that forward: rings and chains timed by hand, equal to switches where nobody else sends, in turns where the host does."""

import numpy as np
import pytest

from sim.scenario import CONGESTION_CONTROLS
from tests.packet import lab
from tests.packet.lab import ACK, US, WIRE, ps

SLOT = ps(WIRE, 100)  # a full packet at 100 Gb/s
ANSWER = ps(ACK, 100)


def ring(n, gbps=100, ns=1000):
    return [(i, (i + 1) % n, gbps, ns) for i in range(n)]


def through(n, flows, **more):
    return lab.simulate(ring(n), flows, n, hosts_forward=True, **more)


@pytest.mark.parametrize("src, dst", [(0, 2), (2, 0), (1, 3), (3, 1)])
def test_ten_packets_to_the_other_side_of_a_ring_of_four(src, dst):
    """Stored and forwarded once: eleven slots and two delays there, two ACK slots and two delays back."""
    sim = through(4, [(src, dst, 10_000)])
    assert lab.delivered_ps(sim) == [11 * SLOT + 2 * US]
    assert lab.fct_ps(sim) == [11 * SLOT + 2 * US + 2 * ANSWER + 2 * US]


def test_of_two_equal_ways_round_a_ring_all_take_the_rising_one():
    sim = through(4, [(src, (src + 2) % 4, 1000) for src in range(4)])
    assert [lab.sent(sim, i, (i + 1) % 4)[0] for i in range(4)] == [4] * 4  # data of two flows, ACKs of two
    assert [lab.sent(sim, (i + 1) % 4, i)[0] for i in range(4)] == [0] * 4


def test_the_short_way_round_is_taken():
    sim = through(5, [(0, 3, 1000)])
    assert lab.sent(sim, 0, 4) == lab.sent(sim, 4, 3) == (1, WIRE) and lab.sent(sim, 0, 1) == (0, 0)


def test_own_packets_and_those_of_others_take_turns():
    """Host 1 sends 20 packets to host 2 from time 0 on; 10 from host 0 reach it in its 13th slot, and each second slot is theirs until the 27th."""
    sim = through(4, [(0, 2, 10_000), (1, 2, 20_000)])
    assert lab.delivered_ps(sim) == [30 * SLOT + US, 27 * SLOT + US]


def test_what_waits_to_be_forwarded_is_a_queue_that_marks():
    """At 10 Gb/s behind 100: nine packets wait when the tenth has come; the first leaves nothing behind, nor does the last."""
    links = [(0, 1, 100, 1000), (1, 2, 10, 1000)]
    sim = lab.simulate(links, [(0, 2, 10_000)], 3, hosts_forward=True, congestion_control="dctcp", ecn_kmin_kb=0.04, ecn_kmax_kb=0.04, window="none")
    assert lab.port(sim, 1, 2)["max_queue"] == 9 * WIRE
    assert lab.port(sim, 1, 2)["marks"] == lab.counter(sim, "marks") == 8


@pytest.mark.parametrize("control", CONGESTION_CONTROLS)
def test_a_host_that_only_forwards_is_a_switch(control):
    """Two senders through node 1 to a third link: the same times, marks and peaks as through a switch, for every controller."""
    seen = []
    for hosts, middle in ((3, 3), (4, 3)):
        links = [(0, middle, 100, 1000), (1, middle, 100, 500), (2, middle, 25, 1000)]
        flows = [(0, 2, 400_000), (1, 2, 300_000, 3)]
        sim = lab.simulate(links, flows, hosts, hosts_forward=hosts == 4, congestion_control=control, pfc="off", buffer_mb=100)
        out = lab.port(sim, middle, 2)
        seen.append((lab.fct_ps(sim), int(out["max_queue"]), int(out["marks"]), lab.counter(sim, "packet_hops")))
    assert seen[0] == seen[1]


def test_neighbours_do_not_notice_that_hosts_could_forward():
    seen = []
    for forwards in (False, True):
        sim = lab.simulate(ring(6), [(i, (i + 1) % 6, 300_000) for i in range(6)], 6, hosts_forward=forwards, congestion_control="dcqcn")
        seen.append((lab.fct_ps(sim), sim.state.port["tx_packets"].tolist(), lab.queue_peaks(sim).tolist()))
    assert seen[0] == seen[1]


def test_all_to_all_round_a_lossless_ring_ends_without_a_pause():
    """No buffer of a host is bounded, so that no circle of full buffers can stand still."""
    flows = [(src, (src + step) % 8, 100_000) for step in range(1, 8) for src in range(8)]
    sim = through(8, flows, pfc="fixed", pfc_xoff_kb=10.0, buffer_mb=1)
    assert lab.counter(sim, "pauses") == lab.counter(sim, "drops") == 0
    rising = [lab.sent(sim, i, (i + 1) % 8) for i in range(8)]
    data, acks = 100 * (1 + 2 + 3 + 4), 100 * (1 + 2 + 3 + 4)  # of distances 1 to 3 half of all, of distance 4 all go the rising way
    assert rising == [(data + acks, data * WIRE + acks * ACK)] * 8


def test_a_paused_link_holds_back_what_is_forwarded():
    """Host 3 behind host 0, and host 2, send over a switch to host 1, whose link is slow: 0's link is paused, 3's is not."""
    links = [(0, 4, 100, 1000), (1, 4, 10, 1000), (2, 4, 100, 1000), (3, 0, 100, 1000)]
    sim = lab.simulate(links, [(3, 1, 500_000), (2, 1, 500_000)], 4, hosts_forward=True, pfc="fixed", pfc_xoff_kb=20.0, ack_priority="strict")
    assert lab.port(sim, 0, 4)["pauses"] > 0 and lab.port(sim, 3, 0)["pauses"] == 0
    assert lab.counter(sim, "drops") == lab.counter(sim, "losses") == 0
    assert lab.port(sim, 0, 4)["max_queue"] > 100_000, "the memory of host 0 takes what comes meanwhile"


def test_a_link_that_fails_loses_what_waited_for_it_and_the_rest_goes_round():
    fault = {"kind": "link-down", "a": "1", "b": "2", "at_us": 20}
    sim = through(4, [(0, 2, 1_000_000), (1, 2, 1_000_000)], faults=[fault])
    assert lab.counter(sim, "losses") > 0 and lab.sent(sim, 0, 3)[0] > 1000
    assert not np.any(sim.state.port["queue_bytes"])
