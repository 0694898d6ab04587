"""From the transport section to kernel settings: thresholds per port, buffers that fit, sizes, windows."""

import numpy as np
import pytest

from sim.congestion import hpcc, hpcc_fixed
from sim.congestion.registry import CONTROLLERS
from sim.errors import ScenarioError
from sim.packet.layout import PFC_DYNAMIC, PFC_FIXED, PFC_OFF
from sim.packet.state import headroom_bytes
from sim.scenario import Simulation, Transport
from sim.topology.from_file import network_from_text
from sim.transport import NEVER_MARKS, check_buffers, has_window, kernel_settings, marking_thresholds
from tests.packet.lab import graph

RATES = (25, 100, 400)
NETWORK = network_from_text(graph([(host, 3, gbps, 1000) for host, gbps in enumerate(RATES)], 3))


def settings(network=NETWORK, simulation=None, may_lose=False, **transport):
    return kernel_settings(Transport(**transport), Simulation(**(simulation or {})), network, may_lose=may_lose)


def test_thresholds_scale_with_the_rate_of_the_link():
    kmin, kmax, pmax = marking_thresholds(Transport(congestion_control="dcqcn"), NETWORK)
    # 400 and 1600 kB at 100 Gb/s
    assert kmin.tolist() == [100_000, 100_000, 400_000, 400_000, 1_600_000, 1_600_000]
    assert kmax.tolist() == [400_000, 400_000, 1_600_000, 1_600_000, 6_400_000, 6_400_000]
    assert set(pmax.tolist()) == {0.2}


def test_given_thresholds_hold_at_the_reference_rate():
    given = Transport(ecn_kmin_kb=40, ecn_kmax_kb=80, ecn_pmax=0.7, ecn_reference_gbps=400)
    kmin, kmax, pmax = marking_thresholds(given, NETWORK)
    assert kmin[::2].tolist() == [2_500, 10_000, 40_000]
    assert kmax[::2].tolist() == [5_000, 20_000, 80_000]
    assert set(pmax.tolist()) == {0.7}


def test_a_faster_link_never_marks_earlier():
    for name in CONTROLLERS:
        kmin, kmax, _ = marking_thresholds(Transport(congestion_control=name), NETWORK)
        assert (np.diff(kmin[::2]) >= 0).all() and (np.diff(kmax[::2]) >= 0).all()


def test_dctcp_marks_sharply_and_none_never():
    kmin, kmax, pmax = marking_thresholds(Transport(congestion_control="dctcp"), NETWORK)
    assert kmin.tolist() == kmax.tolist() and kmin[2] == 300_000 and pmax[2] == 1
    kmin, kmax, _ = marking_thresholds(Transport(congestion_control="none"), NETWORK)
    assert set(kmin.tolist()) == set(kmax.tolist()) == {NEVER_MARKS}


def test_one_given_threshold_past_the_others_default_makes_a_sharp_one():
    kmin, kmax, _ = marking_thresholds(Transport(ecn_kmin_kb=2000), NETWORK)
    assert kmin[2] == kmax[2] == 2_000_000
    kmin, kmax, _ = marking_thresholds(Transport(ecn_kmax_kb=50), NETWORK)
    assert kmin[2] == kmax[2] == 50_000


def test_thresholds_given_without_a_controller_mark_all_the_same():
    kmin, kmax, pmax = marking_thresholds(
        Transport(congestion_control="none", ecn_kmin_kb=5, ecn_kmax_kb=10, ecn_pmax=0.5), NETWORK
    )
    assert (kmin[2], kmax[2], pmax[2]) == (5_000, 10_000, 0.5)


def test_headroom_by_hand():
    # 25G and 1 us: 3.125 kB one way; 2 x that + 4 packets of 1048 B; 100G: 3 x 12.5 kB; 400G: 3 x 50 kB
    assert headroom_bytes(NETWORK.port_rate_bps, NETWORK.port_delay_ps, 1048)[::2].tolist() == [6_250 + 4_192, 37_500, 150_000]


def test_a_buffer_too_small_is_refused_with_the_nearest_that_fits():
    # headrooms 10 442 + 37 500 + 150 000 B and reserves of 3 x 4096 B: 210 230 B
    with pytest.raises(
        ScenarioError, match=r"transport.buffer_mb = 0.2: 3 has 3 ports .* take 210 kB; the nearest buffer_mb is 0.22"
    ):
        check_buffers(Transport(buffer_mb=0.2), NETWORK)
    check_buffers(Transport(buffer_mb=0.22), NETWORK)


def test_a_fixed_threshold_too_large_is_refused_with_the_nearest_that_fits():
    # 400 kB - 197.942 kB of headroom over three ports: 67.35 kB each
    with pytest.raises(ScenarioError, match=r"nearest buffer_mb is 0.5, or pfc_xoff_kb = 67"):
        check_buffers(Transport(buffer_mb=0.4, pfc="fixed", pfc_xoff_kb=100), NETWORK)
    check_buffers(Transport(buffer_mb=0.4, pfc="fixed", pfc_xoff_kb=67), NETWORK)


@pytest.mark.parametrize("transport", [{"pfc": "dynamic"}, {"pfc": "fixed", "pfc_xoff_kb": 5}])
@pytest.mark.parametrize("buffer_mb", [0.01, 0.1, 0.2])
def test_the_nearest_that_is_offered_is_accepted(buffer_mb, transport):
    with pytest.raises(ScenarioError) as refused:
        check_buffers(Transport(buffer_mb=buffer_mb, **transport), NETWORK)
    nearest = float(str(refused.value).split("nearest buffer_mb is ")[1].split(",")[0])
    check_buffers(Transport(buffer_mb=nearest, **transport), NETWORK)


def test_without_pfc_any_buffer_will_do():
    check_buffers(Transport(buffer_mb=0.001, pfc="off"), NETWORK)


def test_hosts_wired_together_need_no_buffer():
    check_buffers(Transport(buffer_mb=0.001), network_from_text(graph([(0, 1, 400, 1000)], 2)))


@pytest.mark.parametrize(
    ("controller", "data", "ack"),
    [("none", 48, 60), ("dcqcn", 48, 60), ("dctcp", 48, 60), ("timely", 56, 60), ("swift", 56, 60), ("hpcc", 90, 88)],
)
def test_telemetry_travels_with_the_packets(controller, data, ack):
    made = settings(congestion_control=controller)
    assert (made.payload_bytes, made.header_bytes, made.ack_bytes) == (1000, data, ack)


def test_choices_become_kernel_settings():
    made = settings(
        ack_priority="strict", ack_every=7, pfc="fixed", pfc_xoff_kb=20, buffer_mb=16, retransmit_timeout_us=250,
        simulation={"resolution": "1ns", "seed": 9, "sample_bins": 64},
    )  # fmt: skip
    assert made.ack_priority and made.ack_every == 7
    assert (made.pfc, made.xoff_bytes, made.xon_bytes, made.buffer_bytes) == (
        PFC_FIXED,
        20_000,
        20_000 - 3_072,
        16_000_000,
    )
    assert made.timeout_ps == 250_000_000
    assert made.whole_ns and made.seed == 9 and made.bins == 64
    assert settings().pfc == PFC_DYNAMIC and settings(pfc="off").pfc == PFC_OFF


def test_resume_threshold():
    assert settings(pfc="fixed", pfc_xoff_kb=20, pfc_xon_kb=5).xon_bytes == 5_000
    assert settings(pfc="fixed", pfc_xoff_kb=20, pfc_xon_kb=0).xon_bytes == 0
    assert settings(pfc="fixed", pfc_xoff_kb=2).xon_bytes == 0, "never below empty"


def test_packets_are_timed_only_where_one_can_be_lost():
    lossy = network_from_text(graph([(0, 2, 100, 1000, 0.01), (1, 2, 100, 1000)], 2))
    assert not settings().has_loss
    assert settings(may_lose=True).has_loss and settings(pfc="off").has_loss and settings(lossy).has_loss


def test_telemetry_exact_or_in_the_reference_units():
    exact, coarse = settings(congestion_control="hpcc"), settings(congestion_control="hpcc", int_telemetry="ns3")
    assert exact.telemetry and not settings().telemetry
    assert (exact.telemetry_tx_quantum, exact.telemetry_queue_quantum) == (1, 1)
    assert (coarse.telemetry_tx_quantum, coarse.telemetry_queue_quantum) == (512, 320)  # 128 and 80 B, times 4


def test_the_arithmetic_of_hpcc_follows_its_telemetry():
    def chosen(**transport):
        made = settings(congestion_control="hpcc", **transport)
        return made.controller, made.telemetry_tx_quantum, made.telemetry_queue_quantum

    assert chosen() == chosen(hpcc_arithmetic="fixed") == (hpcc_fixed.NUMBER, 1, 1)
    assert chosen(hpcc_arithmetic="float") == (hpcc.NUMBER, 1, 1)
    assert chosen(int_telemetry="ns3") == chosen(int_telemetry="ns3", hpcc_arithmetic="float") == (hpcc.NUMBER, 512, 320)


def test_a_parameter_of_another_name_is_answered():
    with pytest.raises(
        ScenarioError,
        match=r"transport.parameters.additve_mbps: timely has no such parameter; did you mean 'additive_mbps'\?",
    ):
        settings(congestion_control="timely", parameters={"additve_mbps": 5})


@pytest.mark.parametrize(
    ("controller", "own"),
    [("none", False), ("dcqcn", False), ("timely", False), ("hpcc", True), ("dctcp", True), ("swift", False)],
)
def test_windows(controller, own):
    assert has_window(Transport(congestion_control=controller)) == own
    assert has_window(Transport(congestion_control=controller, window="bdp"))
    assert not has_window(Transport(congestion_control=controller, window="none"))
