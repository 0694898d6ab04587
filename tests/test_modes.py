"""Modes by name: one face, the same tables."""

import pytest

from sim.errors import RunError
from sim.modes import LEVELS, MODES, make_simulation
from sim.preset import load_preset
from sim.scenario import Simulation
from sim.wormhole import database
from tests.packet.lab import scenario

GIVEN = scenario([(0, 2, 100, 1000), (2, 1, 100, 1000)], [(0, 1, 10_000)])


def test_every_mode_gives_the_same_tables_of_a_lone_flow():
    results = {mode: make_simulation(GIVEN, mode).run() for mode in MODES}
    assert {mode: result.summary["mode"] for mode, result in results.items()} == {mode: mode for mode in MODES}
    packet = results["packet"]
    for result in results.values():
        assert result.summary.keys() == packet.summary.keys()
        assert result.flows["fct_s"].tolist() == pytest.approx(packet.flows["fct_s"].tolist(), rel=1e-6)
        for name in ("flows", "tasks", "ports", "critical_path", "episodes", "partitions", "patterns"):
            assert list(getattr(result, name)) == list(getattr(packet, name))
        assert result.ports[["tx_bytes", "tx_packets"]].equals(packet.ports[["tx_bytes", "tx_packets"]])


def test_a_mode_that_is_none_is_refused():
    with pytest.raises(RunError, match="'flo' is not a mode: did you mean 'flow'?"):
        make_simulation(GIVEN, "flo")


def test_levels_matter_in_mode_wormhole_only():
    assert {level: make_simulation(GIVEN, "wormhole", level=level).run().summary["level"] for level in LEVELS} == {level: level for level in LEVELS}
    assert make_simulation(GIVEN, "packet", level="paper").run().summary["level"] is None


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_gives_the_same_tables_of_a_lone_flow(level):
    packet, result = make_simulation(GIVEN, "packet").run(), make_simulation(GIVEN, "wormhole", level=level).run()
    assert result.summary.keys() == packet.summary.keys()
    assert result.flows["fct_s"].tolist() == pytest.approx(packet.flows["fct_s"].tolist(), rel=0.01)
    for name in ("flows", "tasks", "ports", "critical_path", "episodes", "partitions", "patterns"):
        assert list(getattr(result, name)) == list(getattr(packet, name))
    assert result.ports[["tx_bytes", "tx_packets"]].equals(packet.ports[["tx_bytes", "tx_packets"]])


def test_a_level_that_is_none_is_refused():
    with pytest.raises(RunError, match="'exat' is not a level: did you mean 'exact'?"):
        make_simulation(GIVEN, "packet", level="exat")


def test_scenarios_name_the_same_modes_and_levels():
    fields = Simulation.model_fields
    assert fields["mode"].annotation.__args__ == tuple(MODES) and fields["mode"].default == "wormhole"
    assert fields["level"].annotation.__args__ == tuple(LEVELS) and fields["level"].default == "exact"


def test_a_clock_of_nanoseconds_is_run_by_packets_and_says_so():
    data = GIVEN.replace("simulation.resolution", "1ns")
    packet, wormhole = (make_simulation(data, mode).run() for mode in ("packet", "wormhole"))
    hops = wormhole.summary["packet_hops"]
    assert hops["executed"] == hops["total"] == packet.summary["packet_hops"]["total"]
    assert wormhole.raw.acked_ps.tolist() == packet.raw.acked_ps.tolist()
    assert any("Every packet was simulated" in notice for notice in wormhole.notices)
    assert len(wormhole.episodes) == len(wormhole.partitions) == len(wormhole.patterns) == 0


def test_the_memo_of_the_user_lies_in_the_cache_directory(monkeypatch, tmp_path):
    monkeypatch.setattr(database, "default_path", lambda: tmp_path / "memo.sqlite")
    executed = []
    for _ in range(2):
        run = make_simulation(load_preset("gpt-small-16"), "wormhole", memo="user")
        while not run.advance(10_000_000):
            pass
        run.keep()
        executed.append(run.result().summary["packet_hops"]["executed"])
    assert executed[0] > 0 == executed[1]
    assert (tmp_path / "memo.sqlite").exists()
