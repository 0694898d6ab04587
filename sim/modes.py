"""The ways to simulate a scenario, by name: every way has the face of `sim.simulation.Simulation` and the same tables."""

from sim.case import Case
from sim.errors import RunError, did_you_mean
from sim.flow_level import FlowLevel
from sim.paper.level import PaperLevel
from sim.scenario import Scenario
from sim.simulation import Simulation
from sim.wormhole.database import Database
from sim.wormhole_simulation import WormholeSimulation

MODES = {
    "wormhole": "what repeats is replayed, steady stretches are skipped",
    "packet": "every packet is simulated",
    "flow": "max-min fair rates, no packets",
}
LEVELS = {
    "exact": "to the bit what packet mode gives",
    "bounded": "statistically steady stretches are skipped too, with an error bar on every flow",
    "paper": "the published method: conflict graphs with rates as keys",
}
BUILT_LEVELS = tuple(LEVELS)


def refuse_unknown(mode: str, level: str = "exact") -> None:
    """RunError for a mode or a level that there is not; levels matter in mode wormhole only."""
    if mode not in MODES:
        raise RunError(f"{mode!r} is not a mode: {did_you_mean(mode, MODES)}")
    if level not in LEVELS:
        raise RunError(f"{level!r} is not a level: {did_you_mean(level, LEVELS)}")


def make_simulation(
    work: Scenario | Case, mode: str = "packet", *, level: str = "exact", replay=True, skip=True, memo=None, threads=None
) -> Simulation | FlowLevel | PaperLevel:
    """A run of `work` that has not begun.

    Parameters
    ----------
    mode, level
        One of MODES, one of LEVELS.
    replay, skip
        Whether mode wormhole plays known outcomes back, and skips exactly periodic stretches.
    memo
        What earlier runs in mode wormhole have learnt: the path of a database, "user" for the one in the user's cache directory, a
        store, or None or "none" to begin with nothing.
        What this run learns is added by `keep()`. Only level exact has a use for it.
    threads
        How many find out ahead what becomes of partitions, in mode wormhole, level exact; all cores up to 16 unless given. Results do not depend on it.
    """
    refuse_unknown(mode, level)
    if mode == "packet":
        return Simulation(work)
    if mode == "flow":
        return FlowLevel(work)
    if level == "paper":
        return PaperLevel(work, replay=replay, skip=skip)
    if isinstance(memo, str):
        memo = None if memo == "none" else Database(None if memo == "user" else memo)
    return WormholeSimulation(work, replay=replay, skip=skip, memo=memo, level=level, threads=threads)
