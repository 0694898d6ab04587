"""The ways to simulate a scenario, by name: every way has the face of `sim.simulation.Simulation` and the same tables."""

from sim.case import Case
from sim.errors import RunError, did_you_mean
from sim.flow_level import FlowLevel
from sim.scenario import Scenario
from sim.simulation import Simulation

MODES = {"packet": "every packet is simulated", "flow": "max-min fair rates, no packets"}


def make_simulation(scenario: Scenario | Case, mode: str = "packet") -> Simulation | FlowLevel:
    """A run of `scenario` that has not begun, in one of MODES."""
    if mode == "packet":
        return Simulation(scenario)
    if mode == "flow":
        return FlowLevel(scenario)
    raise RunError(f"{mode!r} is not a mode: {did_you_mean(mode, MODES)}")
