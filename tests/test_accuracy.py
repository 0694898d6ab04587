"""Errors between results: against numbers by hand on made-up runs, zero between real runs at level exact."""

import dataclasses
import json

import numpy as np
import pytest

from sim.accuracy import (
    comparison,
    differing,
    error_bar_coverage,
    fct_error,
    fct_errors,
    iteration_error,
    rtt_nrmse,
    speedup_cpu,
)  # fmt: skip
from sim.modes import make_simulation
from sim.preset import load_preset
from sim.result import Result
from tests import fabricate


@pytest.fixture(scope="module")
def packet():
    """Four flows that start at 0 and take 100, 200, 300 and 400 us; each would take 100 us alone."""
    raw = fabricate.raw_run(fabricate.scenario())
    return Result(with_fct(raw, [100, 200, 300, 400], ideal_fct_ps=np.full(4, 100 * 10**6)))


def with_fct(raw, fct_us, **changes):
    acked_ps = np.array(fct_us, np.int64) * 10**6
    return dataclasses.replace(raw, acked_ps=acked_ps, end_ps_last=int(acked_ps.max()), **changes)


def changed(packet, fct_us, **changes):
    return Result(with_fct(packet.raw, fct_us, **changes))


def test_errors_are_relative_to_packet_mode(packet):
    other = changed(packet, [110, 200, 270, 500])
    assert fct_errors(other, packet).tolist() == pytest.approx([0.1, 0, 0.1, 0.25])
    assert fct_error(other, packet) == pytest.approx({"mean": 0.1125, "p50": 0.1, "p99": 0.2455, "max": 0.25})
    assert iteration_error(other, packet) == pytest.approx(0.25) == iteration_error(changed(packet, [100, 200, 300, 300]), packet)


def test_only_flows_that_finished_in_both_count(packet):
    other = changed(packet, [110, 200, 270, 500])
    other.raw.acked_ps[3] = -1
    assert len(fct_errors(other, packet)) == 3 == len(fct_errors(packet, other))
    other.raw.acked_ps[:] = -1
    assert fct_error(other, packet) is None is rtt_nrmse(other, packet)


def test_no_iteration_error_without_two_ends(packet):
    assert iteration_error(changed(packet, [100, 200, 300, 400], status="time limit"), packet) is None


def test_round_trips_are_those_of_messages_in_units_of_idle_ones(packet):
    other = changed(packet, [120, 200, 300, 440])
    expected = np.sqrt((0.2**2 + 0.4**2) / 4) / 2.5  # slowdowns 1.2, 2, 3, 4.4 against 1, 2, 3, 4
    assert rtt_nrmse(other, packet) == pytest.approx(expected)
    assert rtt_nrmse(packet, packet) == 0


@pytest.mark.parametrize("name", ["acked_ps", "start_ps", "port_max_queue_bytes", "port_marks", "port_pauses", "flow_marks"])
def test_one_unit_anywhere_is_a_difference(packet, name):
    array = getattr(packet.raw, name).copy()
    array[-1] += 1
    other = Result(dataclasses.replace(packet.raw, **{name: array}))
    assert differing(other, packet) == {name: 1} and differing(packet, packet) == {}
    assert not comparison(other, packet)["identical"] and comparison(packet, packet)["identical"]


def test_error_bars_cover_a_share_of_the_flows(packet):
    other = changed(packet, [110, 200, 270, 500])
    assert error_bar_coverage(other, packet) is None, "no error bars at level exact"
    other = changed(packet, [110, 200, 270, 500], level="bounded")
    other.flows["fct_err_s"] = [11e-6, 0.0, 29e-6, np.nan]
    assert error_bar_coverage(other, packet) == pytest.approx(2 / 3)


def test_speedup_leaves_compiling_and_building_out(packet):
    other = changed(packet, [100, 200, 300, 400], cpu_s={"compile": 9.0, "build": 5.0, "kernel": 0.02, "orchestrate": 0.01, "total": 14.03})
    assert speedup_cpu(other, packet) == pytest.approx(0.6 / 0.03)


def test_real_runs_at_level_exact_are_identical():
    results = {mode: make_simulation(load_preset("gpt-small-16"), mode).run() for mode in ("wormhole", "packet", "flow")}
    found = comparison(**results)
    assert found["identical"] and found["differing"] == {} and found["error_bar_coverage"] is None
    assert found["fct_error"] == {"mean": 0, "p50": 0, "p99": 0, "max": 0}
    assert found["iteration_error"] == found["rtt_nrmse"] == 0 < found["flow_fct_error"]["mean"] < 0.01
    assert [found[mode]["mode"] for mode in results] == list(results) and found["speedup_cpu"] > 0
    json.dumps(found, allow_nan=False)
