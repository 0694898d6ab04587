"""PFC: when an ingress is paused and resumed, that nothing is lost, and that the bottleneck never idles."""

import pytest

from tests.packet.lab import US, WIRE, counter, delivered_ps, fct_ps, port, sent, simulate

STAR = [(host, 3, 100, 1000) for host in range(3)]
SLOW = [(0, 2, 100, 1000), (2, 1, 25, 1000)]  # packets come every 83.84 ns and go every 335.36 ns
T, TS = 83_840, 335_360
FIRST = T + US  # when the first packet is at the switch and goes on
PAUSE = 3_440 + US  # a frame of 43 B to host 0


def test_fixed_threshold_one_pause_by_hand():
    # When packet k is there, (k - 1)//4 + 1 have gone: 13 - 3 = 10 are in at k = 12, which makes xoff = 10 packets.
    paused = FIRST + 12 * T + PAUSE
    # By then host 0 has begun packet 36 (3.09336 us / 83.84 ns = 36.9); xon = 10480 - 3072 B: 7 packets, once 30 of 37 have gone.
    resumed = FIRST + 29 * TS + PAUSE
    sim = simulate(SLOW, [(0, 1, 47_000)], pfc="fixed", pfc_xoff_kb=10 * WIRE / 1000)
    assert port(sim, 0, 2)["pauses"] == 1
    assert port(sim, 0, 2)["paused_ps"] == resumed - paused == 8_719_360
    # the other 10 packets come while one still waits: the slow port never stops
    assert fct_ps(sim) == [4 * US + T + 47 * TS + 19_200 + 4_800]
    # when packet 36 is there, 35//4 + 1 = 9 have gone
    assert port(sim, 2, 1)["max_queue"] == (37 - 9) * WIRE


def test_dynamic_threshold_one_pause_by_hand():
    # Buffer: headroom 3 x 12.5 kB for the 100G port, 6.25 kB + 4 packets for the 25G port, reserves 2 x 4096 B, and a pool of 30 000 B.
    buffer = 37_500 + (6_250 + 4 * WIRE) + 2 * 4096 + 30_000
    # The 100G ingress, 4 x the slowest NIC, may take half of what is left: the 14th packet in would make 10 576 B beyond the reserve,
    # over (30 000 - 9528)/2 = 10 236 B: headroom, and a pause. 19 - 5 = 14 are in at k = 18.
    paused = FIRST + 18 * T + PAUSE
    # Host 0 has then begun packet 42. Resumed when beyond + 3072 fits: at 11 packets, 7432 + 3072 <= (30 000 - 7432)/2; 32 of 43 gone.
    resumed = FIRST + 31 * TS + PAUSE
    sim = simulate(SLOW, [(0, 1, 53_000)], buffer_mb=buffer / 1e6)
    assert port(sim, 0, 2)["pauses"] == 1
    assert port(sim, 0, 2)["paused_ps"] == resumed - paused == 8_887_040
    assert fct_ps(sim) == [4 * US + T + 53 * TS + 19_200 + 4_800]


@pytest.mark.parametrize(
    "transport",
    [
        {"pfc": "fixed", "pfc_xoff_kb": 100.0},
        {"pfc": "fixed", "pfc_xoff_kb": 100.0, "pfc_xon_kb": 60.0},
        {"pfc": "fixed", "pfc_xoff_kb": 100.0, "ack_priority": "strict"},
        {"pfc": "dynamic", "buffer_mb": 1.2},
    ],
)
def test_two_into_one_loses_nothing_and_keeps_the_port_busy(transport):
    n = 400
    sim = simulate(STAR, [(0, 2, n * 1000), (1, 2, n * 1000)], hosts=3, **transport)
    assert counter(sim, "drops") == counter(sim, "losses") == counter(sim, "retransmits") == 0
    assert max(delivered_ps(sim)) == 2 * US + (2 * n + 1) * T
    pauses = int(port(sim, 0, 3)["pauses"] + port(sim, 1, 3)["pauses"])
    assert pauses == counter(sim, "pauses") > 0
    # every pause has its resume; both are frames of 43 B beside the ACKs
    assert sum(sent(sim, 3, host)[0] for host in (0, 1)) == 2 * n + 2 * pauses
    assert sum(sent(sim, 3, host)[1] for host in (0, 1)) == 2 * n * 60 + 2 * pauses * 43
    assert not sim.state.port["paused"].any() and not sim.state.port["ingress_paused"].any()


def test_the_series_adds_up_to_the_pauses():
    sim = simulate(STAR, [(0, 2, 400_000), (1, 2, 400_000)], hosts=3, pfc="fixed", pfc_xoff_kb=50)
    assert sim.state.bins["paused_ps"].sum() == sim.state.port["paused_ps"].sum() > 0


def test_buffers_are_empty_at_the_end():
    sim = simulate(STAR, [(0, 2, 400_000), (1, 2, 400_000)], hosts=3, pfc="fixed", pfc_xoff_kb=50)
    for name in ("ingress_bytes", "headroom_used", "queue_bytes"):
        assert not sim.state.port[name].any(), name
    assert not sim.state.node["used_bytes"].any()


def test_pauses_spread_upstream_and_hold_back_the_innocent():
    # 0 and 1 behind switch 4, 2 and 3 behind switch 5; 0 and 2 send to 3: the trunk is paused, and 1 to 2 waits with it
    links = [(0, 4, 100, 1000), (1, 4, 100, 1000), (4, 5, 100, 1000), (2, 5, 100, 1000), (3, 5, 100, 1000)]
    victim = (1, 2, 100_000)
    alone = fct_ps(simulate(links, [victim], hosts=4))[0]
    flows = [(0, 3, 400_000), (2, 3, 400_000), victim]
    free = simulate(links, flows, hosts=4)
    held = simulate(links, flows, hosts=4, pfc="fixed", pfc_xoff_kb=30)
    assert counter(free, "pauses") == 0
    assert port(held, 4, 5)["pauses"] > 0
    assert counter(held, "drops") == 0
    # unpaused, the victim only shares the trunk half and half with 0; paused, both halves run at half of that or less
    assert alone < fct_ps(free)[2] < fct_ps(held)[2]


def test_the_pool_of_packets_holds_pause_frames_too():
    # one lone flow over two links of 100 us, each packet and no more pauses its ingress: 2 frames for every packet
    sim = simulate(
        [(0, 2, 100, 100_000), (1, 2, 100, 100_000)], [(0, 1, 4_000_000)], ends=None,
        pfc="fixed", pfc_xoff_kb=1.0, pfc_xon_kb=0.0, buffer_mb=100,
    )  # fmt: skip
    low = 0
    while not sim.advance(1):
        low = min(low, int(sim.state.g[0]["free_packets"]))
    assert low == 0, f"{-low} packets too many were taken from the pool"
