"""Modes by name: one face, the same tables."""

import pytest

from sim.errors import RunError
from sim.modes import MODES, make_simulation
from tests.packet.lab import scenario

GIVEN = scenario([(0, 2, 100, 1000), (2, 1, 100, 1000)], [(0, 1, 10_000)])


def test_every_mode_gives_the_same_tables_of_a_lone_flow():
    results = {mode: make_simulation(GIVEN, mode).run() for mode in MODES}
    assert {mode: result.summary["mode"] for mode, result in results.items()} == {mode: mode for mode in MODES}
    packet = results["packet"]
    for result in results.values():
        assert result.summary.keys() == packet.summary.keys()
        assert result.flows["fct_s"].tolist() == pytest.approx(packet.flows["fct_s"].tolist(), rel=1e-6)
        for name in ("flows", "tasks", "ports", "critical_path"):
            assert list(getattr(result, name)) == list(getattr(packet, name))
        assert result.ports[["tx_bytes", "tx_packets"]].equals(packet.ports[["tx_bytes", "tx_packets"]])


def test_a_mode_that_is_none_is_refused():
    with pytest.raises(RunError, match="'flo' is not a mode: did you mean 'flow'?"):
        make_simulation(GIVEN, "flo")
