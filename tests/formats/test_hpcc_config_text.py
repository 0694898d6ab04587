"""Configurations written: read again they give the same transport, and what they do not carry is named."""

import pytest

from sim.errors import FormatError
from sim.formats.hpcc import case_of_texts
from sim.formats.hpcc_config import read_config
from sim.formats.hpcc_config_text import config_text, values_of
from sim.scenario import Transport
from sim.topology.from_file import network_from_text
from sim.transport import has_window, marking_thresholds

GRAPH = "4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 400Gbps 1us 0\n"
NETWORK = network_from_text(GRAPH)
FLOW = "1\n0 1 3 100 1000 0\n"
SAME = dict(int_telemetry="ns3", window="bdp", pfc="dynamic", buffer_mb=16 * 1.048576)


@pytest.mark.parametrize(
    "given",
    [
        dict(congestion_control="hpcc", ecn_kmin_kb=100.0, ecn_kmax_kb=400.0, ecn_pmax=0.2, parameters={"target": 0.9, "additive_mbps": 50.0}),
        dict(congestion_control="dcqcn", payload_bytes=4000, ack_every=2, parameters={"gain": 0.01, "recovery_stages": 5.0}),
        dict(congestion_control="timely", window="none"),
        dict(congestion_control="dctcp", parameters={"additive_mbps": 1000.0}),
    ],
)
def test_what_is_written_is_read(given):
    transport = Transport(**{**SAME, **given})
    text, left = config_text(transport, NETWORK, 3.0)
    case = case_of_texts(("t", GRAPH), ("f", FLOW), ("c", text))
    assert left == [] and read_config(text).stop_s == 3.0
    assert case.transport.congestion_control == transport.congestion_control and case.transport.payload_bytes == transport.payload_bytes
    assert values_of(case.transport) == pytest.approx(values_of(transport)) and has_window(case.transport) == has_window(transport)
    for mine, its in zip(marking_thresholds(transport, NETWORK), (case.kmin_bytes, case.kmax_bytes, case.pmax), strict=True):
        if transport.congestion_control != "timely":
            assert mine.tolist() == pytest.approx(its.tolist())


def test_what_is_not_carried_is_named():
    transport = Transport(**{**SAME, "int_telemetry": "exact", "header_bytes": 60, "pfc": "off", "congestion_control": "timely", "parameters": {"beta": 0.5}})
    assert config_text(transport, NETWORK, 3.0)[1] == ["header_bytes", "pfc", "int_telemetry", "parameters.beta"]
    assert config_text(Transport(**{**SAME, "buffer_mb": 0.2}), NETWORK, 3.0)[1] == ["buffer_mb"]


def test_controllers_that_the_simulator_does_not_have():
    with pytest.raises(FormatError, match="congestion_control 'swift' is not in the HPCC simulator: dcqcn, hpcc, timely, dctcp are"):
        config_text(Transport(congestion_control="swift"), NETWORK, 3.0)
