"""Whatever the scenario: it ends with a report, nothing is lost from the books, and no way of running it changes a bit."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

from sim.errors import ScenarioError
from sim.packet.layout import PAUSE_FRAME_BYTES
from tests.walls.random_scenarios import scenarios
from tests.walls.runs import arrays, differences, run, simulation

SLICE = 1_000_000
LIVELOCK = 200  # times the packet-hops of a run without loss, and as many slices for its pauses
pytestmark = pytest.mark.timeout(
    240, method="thread"
)  # a compiled loop that never ends cannot be interrupted otherwise


def ended(data):
    """The simulation of `data`, run to its end within bounds."""
    try:
        sim = simulation(data)
    except ScenarioError as refused:
        assert "buffer" in str(refused)
        assume(False)
    most = LIVELOCK * (sim.case.packet_hops + 1000)
    while not sim.advance(SLICE):
        assert sim.progress().packet_hops < most, "packets circle for ever"
    return sim


def kinds(data):
    return {fault["kind"] for fault in data["faults"]}


def check_status(sim, data, found):
    may_stop = kinds(data) & {"loss", "link-down"} or found["drops"]
    assert sim.status in (("finished", "deadlock") if may_stop else ("finished",)), sim.result().notices
    unfinished = found["acked_ps"] < 0
    assert unfinished.any() == (sim.status == "deadlock")


def check_books(sim, found):
    """What holds in every run: flows' bytes, and ports' totals against their curves."""
    size, done = sim.table.size_bytes, found["acked_ps"] >= 0
    assert np.array_equal(found["flow_acked_bytes"][done], size[done])
    assert (found["flow_acked_bytes"] <= size).all()
    delivered, started = found["end_ps"][-size.size :], found["start_ps"][-size.size :]
    assert (delivered[done] <= found["acked_ps"][done]).all() and (delivered[done] >= started[done]).all()
    assert found["packet_hops"] == found["port_tx_packets"].sum()
    assert found["ecn_marks"] == found["port_marks"].sum()
    for name in ("tx_bytes", "marks"):
        assert np.array_equal(found[f"series_{name}"].sum(axis=1), found[f"port_{name}"]), name
    assert np.array_equal(found["series_max_queue_bytes"].max(axis=1), found["port_max_queue_bytes"])
    still = sim.state.port["paused"] > 0  # what such a port waits for at the end is in its total only
    assert np.array_equal(found["series_paused_ps"].sum(axis=1)[~still], found["port_paused_ps"][~still])


def check_lossless(sim, found):
    """Where nothing is lost every port sends exactly what paths and sizes say, besides pause frames and ACKs asked for.

    A sender whose window is closed may ask for an ACK before `ack_every` packets are complete.
    """
    table, transport = sim.table, sim.case.settings
    packets = -(-table.size_bytes // transport.payload_bytes)
    acks = -(-packets // transport.ack_every)
    ports = sim.case.network.n_ports

    def on_ports(ptr, crossed, weight):
        return np.bincount(crossed, weights=np.repeat(weight, np.diff(ptr)), minlength=ports).astype(np.int64)

    data, ack = (table.data_ptr, table.data_ports), (table.ack_ptr, table.ack_ports)
    more = found["port_tx_packets"] - on_ports(*data, packets) - on_ports(*ack, acks)
    rest = found["port_tx_bytes"] - on_ports(*ack, acks * transport.ack_bytes)
    rest -= on_ports(*data, table.size_bytes + packets * transport.header_bytes)
    asked, left = np.divmod(rest - PAUSE_FRAME_BYTES * more, transport.ack_bytes - PAUSE_FRAME_BYTES)
    assert not left.any() and (asked >= 0).all() and (asked <= on_ports(*ack, packets - acks)).all()
    assert (more >= asked).all()
    if np.array_equal(more, asked):
        state = sim.state
        assert state.g[0]["free_packets"] == state.packet.size
        for left in (
            state.port["queue_bytes"],
            state.port["ingress_bytes"],
            state.port["flows"],
            state.node["used_bytes"],
        ):
            assert not left.any()


@settings(max_examples=250, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(scenarios())
def test_any_scenario_ends_and_adds_up(data):
    sim = ended(data)
    found = arrays(sim)
    check_status(sim, data, found)
    check_books(sim, found)
    lost = found["drops"] or found["losses"] or found["retransmits"]
    if not lost and not kinds(data) & {"link-down", "link-up"}:
        check_lossless(sim, found)


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(scenarios())
def test_any_scenario_runs_the_same_in_slices_and_with_care(data):
    found = arrays(ended(data))
    assert differences(found, run(data, 1)) == {}
    assert differences(found, run(data, 97)) == {}
    assert differences(found, run(data, careful=True)) == {}


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(scenarios(faults=False))
def test_no_flow_is_faster_than_alone_on_idle_links(data):
    assume(data["simulation"]["resolution"] == "1ps")
    sim = ended(data)
    found = arrays(sim)
    flows = sim.table.size_bytes.size
    fct = found["acked_ps"] - found["start_ps"][-flows:]
    floors = sim.table.size_bytes // sim.case.settings.payload_bytes + 2 * found["ack_ptr"][-1]
    assert (fct >= found["ideal_fct_ps"] - floors)[found["acked_ps"] >= 0].all()
