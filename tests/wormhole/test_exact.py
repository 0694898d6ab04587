"""The claim of level exact: every time, count and queue maximum equals packet mode's, whatever the scenario."""

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from sim.case import case_of
from sim.errors import ScenarioError
from sim.scenario import Scenario
from sim.wormhole_simulation import WormholeSimulation
from tests.walls import runs
from tests.walls.random_scenarios import scenarios
from tests.walls.runs import arrays, differences, finish

NO_GUARD = 1 << 60
CURVES = "series_"  # episodes' bytes are spread evenly over the time bins
pytestmark = pytest.mark.timeout(240, method="thread")


def wormhole(data, **options):
    """A finished run of scenario data with the wormhole kernel."""
    return finish(WormholeSimulation(case_of(Scenario.from_data(data)), **{"guard": NO_GUARD, **options}))


def compare(data, budget=runs.ENOUGH, **options):
    """What differs between packet mode and the wormhole kernel; the latter's run."""
    packet = finish(runs.simulation(data))
    found = finish(WormholeSimulation(case_of(Scenario.from_data(data)), **{"guard": NO_GUARD, **options}), budget)
    first, second = (
        {name: values for name, values in arrays(sim).items() if not name.startswith(CURVES) and name != "bin_ps"}
        for sim in (packet, found)
    )
    return differences(first, second), found


@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(scenarios(), st.sampled_from(((True, True), (True, False), (False, True))))
def test_any_scenario_equals_packet_mode(data, switches):
    replay, skip = switches
    try:
        different, _ = compare(data, replay=replay, skip=skip)
    except ScenarioError:
        assume(False)
    assert different == {}
