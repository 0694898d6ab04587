"""Links that fail, recover, slow down or lose packets at a time: where flows go, what they lose, that runs end."""

import numpy as np
import pytest

from sim.packet.layout import NEVER
from tests.packet.lab import US, counter, delivered_ps, fct_ps, port, sent, simulate

T = 83_840  # a full packet at 100 Gb/s
ACK = 4_800

# hosts 0 and 1; leaves 2 and 3; spines 4 (1 us a link) and 5 (1 us a link); a third way over 6 - 7 is one hop longer
SPINES = [
    (0, 2, 100, 1000),
    (1, 3, 100, 1000),
    (2, 4, 100, 1000),
    (4, 3, 100, 1000),
    (2, 5, 100, 1000),
    (5, 3, 100, 1000),
]
DETOUR = [(0, 2, 100, 1000), (1, 3, 100, 1000), (2, 3, 100, 1000), (2, 4, 100, 1000), (4, 3, 100, 1000)]
STAR = [(0, 2, 100, 1000), (1, 2, 100, 1000)]


def link(kind, a, b, at_us, **value):
    return {"kind": kind, "a": str(a), "b": str(b), "at_us": at_us, **value}


def by_spine(spine, size, start_us=0.0, back=None):
    """A flow from 0 to 1 over one spine, its ACKs over another."""
    back = back or spine
    return {
        "src": 0, "dst": 1, "bytes": size, "start_us": start_us,
        "path": ["0", "2", str(spine), "3", "1"], "ack_path": ["1", "3", str(back), "2", "0"],
    }  # fmt: skip


def test_a_new_flow_goes_around_a_failed_link():
    sim = simulate(DETOUR, [(0, 1, 10_000, 5.0)], faults=[link("link-down", 2, 3, 1)])
    # four links instead of three, both ways: 8 us, 10 + 3 packets, four ACKs
    assert fct_ps(sim) == [8 * US + 13 * T + 4 * ACK]
    assert sent(sim, 2, 3) == (0, 0) and sent(sim, 2, 4)[0] == 10 and sent(sim, 4, 2)[0] == 10
    assert counter(sim, "losses") == counter(sim, "drops") == 0


def test_a_fault_at_the_start_of_a_flow_comes_first():
    sim = simulate(DETOUR, [(0, 1, 10_000)], faults=[link("link-down", 2, 3, 0)])
    assert fct_ps(sim) == [8 * US + 13 * T + 4 * ACK]
    sim = simulate(DETOUR, [(0, 1, 10_000, 3.0)], faults=[link("link-down", 2, 3, 3.0)])
    assert fct_ps(sim) == [8 * US + 13 * T + 4 * ACK]
    assert counter(sim, "losses") == counter(sim, "drops") == 0


def test_an_active_flow_moves_and_loses_what_was_under_way():
    # Data over 4, ACKs over 5. At 10 us 2 - 4 fails: packets 0 to 93 have reached 4 (2.16768 us + k T), 94 to 106 are on the link
    # (from 1.08384 us + k T on), and 107 to 119, sent before 10 us, find the port down. Packet 120 leaves at 120 T, over 5.
    sim = simulate(SPINES, [by_spine(4, 1_000_000, back=5)], faults=[link("link-down", 2, 4, 10)])
    assert (counter(sim, "losses"), counter(sim, "drops"), counter(sim, "timeouts")) == (13 + 13, 0, 0)
    # Its NACK is back a round trip of 8 us + 4 T + 19.2 ns later, at 18.41536 us; by 220 T = 18.4448 us host 0 goes back from 220 to 94.
    assert counter(sim, "retransmits") == 220 - 94
    assert fct_ps(sim) == [(220 + 905) * T + 8 * US + 4 * T + 4 * ACK]
    assert sent(sim, 2, 4)[0] == 107
    assert sent(sim, 2, 5)[0] == (120 + 100 + 906) - 120


def test_flows_on_other_links_do_not_notice():
    flows = [by_spine(4, 200_000), by_spine(5, 200_000, start_us=40)]
    undisturbed = fct_ps(simulate(SPINES, flows))[1]
    sim = simulate(SPINES, flows, faults=[link("link-down", 4, 3, 50), link("link-up", 4, 3, 52)])
    assert fct_ps(sim)[1] == undisturbed


def test_a_link_that_comes_back_is_used_again():
    faults = [link("link-down", 2, 3, 10), link("link-up", 2, 3, 100)]
    sim = simulate(DETOUR, [(0, 1, 3_000_000), (0, 1, 1000, 150.0)], faults=faults)
    # the second flow starts beside the first, over three links again
    assert sent(sim, 2, 3)[0] > 1200, "before 10 us about 100 packets, after 100 us the rest"
    assert 900 < sent(sim, 2, 4)[0] < 1200, "90 us, one packet per 83.84 ns"
    assert counter(sim, "timeouts") == 0


def test_packets_that_overtake_others_after_a_move_are_put_in_order():
    # the way over 4 takes 100 us longer; back on the short way, packets overtake a thousand of their elders
    links = [(0, 2, 100, 1000), (1, 3, 100, 1000), (2, 3, 100, 1000), (2, 4, 100, 50_000), (4, 3, 100, 50_000)]
    faults = [link("link-down", 2, 3, 0), link("link-up", 2, 3, 200)]
    sim = simulate(links, [(0, 1, 4_000_000)], faults=faults)
    assert counter(sim, "losses") == counter(sim, "drops") == 0, "nothing was on the link when it failed"
    assert counter(sim, "retransmits") > 0
    assert sent(sim, 3, 1)[0] == 4000 + counter(sim, "retransmits"), "all arrive, out of order or twice"


def test_queued_packets_of_a_failed_port_are_lost_with_it():
    # From 100 to 25 Gb/s, all 40 packets are at the switch at 4.35 us. At 5 us 12 have gone on ((5 - 1.08384)/0.33536 = 11.7),
    # 8 of them to the end (2.4192 us + k x 335.36 ns), and 5 of their ACKs are at the switch (3.4384 us + k x 335.36 ns).
    sim = simulate(
        [(0, 2, 100, 1000), (2, 1, 25, 1000)],
        [(0, 1, 40_000)],
        faults=[link("link-down", 2, 1, 5), link("link-up", 2, 1, 6)],
    )
    assert counter(sim, "losses") == (12 - 8) + (8 - 5) + (40 - 12)
    assert counter(sim, "drops") == 0
    # The fifth ACK is back at 4.77984 + 1.0048 us; 500 us later packets 5 to 39 are sent again, 5 to 7 of them for nothing.
    again = 4_779_840 + 1_004_800 + 500 * US
    assert fct_ps(sim) == [again + 4 * US + T + 35 * 335_360 + 19_200 + ACK]
    assert (counter(sim, "timeouts"), counter(sim, "retransmits")) == (1, 35)


def test_what_is_lost_at_a_failed_port_is_not_called_a_full_buffer():
    sim = simulate(STAR, [(0, 1, 1_000_000)], faults=[link("link-down", 2, 1, 10), link("link-up", 2, 1, 12)])
    text = " ".join(sim.result().notices)
    assert counter(sim, "losses") > 0 and "full buffers" not in text.replace("(0 by full buffers", ""), text


@pytest.mark.parametrize("factor", [0.5, 0.25, 0.1])
def test_a_degraded_link_carries_its_share(factor):
    sim = simulate(STAR, [(0, 1, 100_000)], faults=[link("degrade", 2, 1, 0, rate_factor=factor)])
    slow = round(T / factor)
    # both directions of the link are slower: data and ACK
    assert fct_ps(sim) == [4 * US + T + 100 * slow + round(ACK / factor) + ACK]


def test_a_link_degraded_on_the_way():
    sim = simulate(STAR, [(0, 1, 100_000)], faults=[link("degrade", 2, 1, 5.0, rate_factor=0.5)])
    # until 5 us the port starts one packet per T from 1.08384 us on: 47 ((5 - 1.08384)/0.08384 = 46.7), the 47th to its end at full speed
    end_of_fast = 1_083_840 + 47 * T
    assert delivered_ps(sim) == [end_of_fast + 53 * 2 * T + US]
    assert fct_ps(sim) == [end_of_fast + 53 * 2 * T + US + 2 * ACK + US + ACK + US]


def test_a_degraded_link_recovers():
    faults = [link("degrade", 2, 1, 0, rate_factor=0.1), link("degrade", 2, 1, 10, rate_factor=1.0)]
    sim = simulate(STAR, [(0, 1, 100_000)], faults=faults)
    # until 10 us one packet per 838.4 ns: 11 begun, the 11th ends at 1.08384 + 9.2224 us; the other 89 at full speed
    assert delivered_ps(sim) == [1_083_840 + 11 * 10 * T + 89 * T + US]


@pytest.mark.parametrize("controller", ["none", "dcqcn", "dctcp"])
def test_a_flow_that_began_on_a_degraded_nic_is_as_fast_as_it_once_it_recovers(controller):
    faults = [link("degrade", 0, 2, 0, rate_factor=0.1), link("degrade", 0, 2, 10, rate_factor=1.0)]
    sim = simulate(STAR, [(0, 1, 100_000, 1.0)], faults=faults, congestion_control=controller)
    # the NIC begins 11 packets from 1 to 10 us, one per 838.4 ns, then the other 89 at full speed
    assert delivered_ps(sim) == [US + 11 * 10 * T + 89 * T + 2 * US + T]


def test_a_rate_that_is_no_whole_number_of_picoseconds_per_byte():
    sim = simulate(STAR, [(0, 1, 10_000)], faults=[link("degrade", 2, 1, 0, rate_factor=0.3)])
    # 30 Gb/s: 279 466.67 ps a packet, rounded down; 16 ns an ACK
    assert fct_ps(sim) == [4 * US + T + 10 * 279_466 + 16_000 + ACK]


def test_loss_from_a_time_on():
    quiet = simulate(STAR, [(0, 1, 500_000)], faults=[link("loss", 0, 2, 1000, probability=0.5)])
    assert fct_ps(quiet) == [4 * US + 501 * T + 2 * ACK], "the flow is over by then"
    sim = simulate(STAR, [(0, 1, 500_000)], faults=[link("loss", 0, 2, 20, probability=0.1)], retransmit_timeout_us=50)
    assert counter(sim, "losses") > 0 and counter(sim, "retransmits") >= counter(sim, "losses") // 3
    healed = simulate(
        STAR,
        [(0, 1, 500_000)],
        faults=[link("loss", 0, 2, 20, probability=0.1), link("loss", 0, 2, 25, probability=0.0)],
    )
    assert 0 < counter(healed, "losses") < 40, "5 us are 60 packets and their ACKs"


def test_loss_hits_only_from_its_time_on():
    sim = simulate(
        STAR, [(0, 1, 1000), (0, 1, 1000, 100.0)], faults=[link("loss", 0, 2, 50, probability=0.999)], ends=None
    )
    while not sim.advance():
        pass
    assert fct_ps(sim)[0] == 4 * US + 2 * T + 2 * ACK
    assert sim.status == "deadlock" and counter(sim, "losses") >= 7


def test_a_partitioned_network_ends_and_says_what_happened():
    sim = simulate(
        STAR, [(0, 1, 1_000_000)], ends="deadlock", faults=[link("link-down", 2, 1, 10)], retransmit_timeout_us=100
    )
    result = sim.result()
    text = " ".join(result.notices)
    assert "1 flows lost their only path to a failed link" in text
    assert "the run cannot go on" in text
    assert 0 < result.flows["bytes_left"][0] < 1_000_000
    assert result.summary["iteration_s"] is None and result.summary["timeouts"] == 7


def test_a_host_cut_off_before_its_flow_starts():
    sim = simulate(
        STAR, [(0, 1, 1000, 50.0)], ends="deadlock", faults=[link("link-down", 0, 2, 10)], retransmit_timeout_us=100
    )
    assert sent(sim, 0, 2) == (0, 0)
    assert any("lost their only path" in notice for notice in sim.result().notices)


def test_a_host_cut_off_for_a_while_sends_when_it_is_back():
    faults = [link("link-down", 0, 2, 10), link("link-up", 0, 2, 200)]
    sim = simulate(STAR, [(0, 1, 1000, 50.0)], faults=faults)
    assert delivered_ps(sim) == [200 * US + 2 * US + 2 * T]


def test_all_others_go_on_when_one_is_cut_off():
    links = [(host, 4, 100, 1000) for host in range(4)]
    sim = simulate(
        links,
        [(0, 1, 100_000), (2, 3, 100_000)],
        hosts=4,
        ends="deadlock",
        faults=[link("link-down", 1, 4, 5)],
        retransmit_timeout_us=100,
    )
    assert fct_ps(sim)[1] == 4 * US + 101 * T + 2 * ACK
    assert sim.result().flows["bytes_left"].tolist()[1] == 0


def test_flows_that_have_ended_are_not_said_to_have_lost_their_path():
    # flow 0 is over by 5 us; its link fails at 50 us, while flow 1 is busy elsewhere
    links = [(host, 4, 100, 1000) for host in range(4)]
    sim = simulate(links, [(0, 1, 1000), (2, 3, 2_000_000)], hosts=4, faults=[link("link-down", 1, 4, 50)])
    assert not any("lost their only path" in notice for notice in sim.result().notices)


def test_a_fault_after_the_end_changes_nothing():
    sim = simulate(STAR, [(0, 1, 1000)], faults=[link("link-down", 0, 2, 1_000_000)])
    assert fct_ps(sim) == [4 * US + 2 * T + 2 * ACK]
    assert sim.result().end_s < 1e-5


def test_the_same_link_may_fail_twice_and_come_up_twice():
    faults = [
        link("link-down", 2, 3, 10),
        link("link-down", 2, 3, 11),
        link("link-up", 2, 3, 20),
        link("link-up", 2, 3, 21),
    ]
    sim = simulate(DETOUR, [(0, 1, 1_000_000)], faults=faults)
    once = simulate(DETOUR, [(0, 1, 1_000_000)], faults=[faults[0], faults[2]])
    assert fct_ps(sim) == fct_ps(once)


def test_a_paused_port_whose_link_fails_is_free_when_it_comes_back():
    # the pause of a lone flow from 100 to 25 Gb/s begins at 3.09 us; the paused link fails at 5 us
    links = [(0, 2, 100, 1000), (2, 1, 25, 1000)]
    faults = [link("link-down", 0, 2, 5), link("link-up", 0, 2, 30)]
    sim = simulate(links, [(0, 1, 100_000)], faults=faults, pfc="fixed", pfc_xoff_kb=10.48)
    assert port(sim, 0, 2)["paused"] == 0 and not sim.state.port["ingress_paused"].any()
    assert not sim.state.port["ingress_bytes"].any() and not sim.state.node["used_bytes"].any()
    assert not sim.state.node["paused_ingresses"].any()


def test_all_parallel_lines_between_two_nodes_fail_together():
    links = [
        (0, 2, 100, 1000),
        (1, 3, 100, 1000),
        (2, 3, 25, 1000),
        (2, 3, 25, 1000),
        (2, 4, 100, 1000),
        (4, 3, 100, 1000),
    ]
    sim = simulate(links, [(0, 1, 10_000, 5.0)] * 4, faults=[link("link-down", 2, 3, 1)])
    assert sent(sim, 2, 3) == (0, 0) and sent(sim, 2, 4)[0] == 40


def test_controllers_survive_a_change_of_path():
    for controller in ("dcqcn", "hpcc", "timely", "dctcp", "swift"):
        faults = [link("link-down", 2, 3, 20), link("link-up", 2, 3, 60)]
        sim = simulate(DETOUR, [(0, 1, 2_000_000), (0, 1, 500_000)], faults=faults, congestion_control=controller)
        assert np.isfinite(sim.result().flows["fct_s"]).all()
        assert max(fct_ps(sim)) < 3 * 2500 * T, controller


def test_a_flow_that_had_given_up_and_hears_again_waits_for_its_timer_again():
    # From 1 us on the last link takes 8 ms for a packet and 0.5 ms for an ACK: seven timeouts of 20 us pass before the first one comes.
    slow = link("degrade", 1, 2, 1, rate_factor=0.001)
    sim = simulate(STAR, [(0, 1, 200_000)], faults=[slow], ends=None, pfc="off", buffer_mb=0.05, retransmit_timeout_us=20.0, window="bdp")
    while not sim.advance(1):
        flow = sim.state.flow[0]
        if counter(sim, "timeouts") >= 7 and flow["acked_packets"] > 0:
            break
        given_up = flow["timeouts"] == 7
        assert not given_up or port(sim, 0, 2)["timeout_at"] == NEVER
    assert flow["acked_packets"] < flow["next_packet"]
    assert port(sim, 0, 2)["timeout_at"] < NEVER


def test_a_cut_that_was_due_before_a_nic_got_slower_comes_before_it():
    # Flow 0's first marked packet is acknowledged before its link fails at 5 us; its cut is due 4 us later, while nothing can be sent: from
    # 100 to about 50 Gb/s. At 10 us the NIC falls to 25 Gb/s, and the flow with it, but it is not cut to 12.5 Gb/s then.
    links = [(0, 3, 100, 200), (1, 3, 100, 200), (2, 3, 100, 200)]
    faults = [link("link-down", 0, 3, 5), link("degrade", 0, 3, 10, rate_factor=0.25), link("link-up", 0, 3, 13)]
    given = dict(hosts=3, congestion_control="dcqcn", ecn_kmin_kb=3, ecn_kmax_kb=4, ecn_pmax=1.0, ends=None)
    sim = simulate(links, [(0, 2, 500_000), (1, 2, 500_000)], faults=faults, **given)
    while len(sim.faults.pending) > 1:
        assert len(sim.faults.pending) > 2 or sim.state.flow[0]["dcqcn_mark_decrease"] == 1
        sim.advance(1)
    assert (int(sim.state.flow[0]["rate_bps"]), int(sim.state.flow[0]["dcqcn_mark_decrease"])) == (25 * 10**9, 0)
