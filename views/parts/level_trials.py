"""Levels of trust compared, controller by controller: the runs needed, and a row for each that is there."""

import pandas as pd

from sim.accuracy import error_bar_coverage, fct_error, iteration_error, speedup_cpu
from sim.errors import LabError
from sim.scenario import CONGESTION_CONTROLS
from views.parts import modes, trials
from views.parts.fields import spell
from views.parts.trials import Trial

SEPARATOR = " "
PACKET = "packet"
LEFT_OUT = ("none",)  # a controller that does not control has nothing to be approximated


def scenarios(result) -> dict:
    """The result's scenario under every controller that it can have."""
    found = {}
    for control in CONGESTION_CONTROLS:
        if control not in LEFT_OUT:
            try:
                found[control] = result.scenario.replace("transport.congestion_control", control)
            except LabError:
                continue
    return found


def runs(result) -> list[Trial]:
    """Packet mode and wormhole mode at each level, for each controller."""
    found = []
    for control, scenario in scenarios(result).items():
        found.append(Trial(f"{control}{SEPARATOR}{PACKET}", scenario, {"mode": "packet"}))
        found += [
            Trial(f"{control}{SEPARATOR}{level}", scenario, {"mode": "wormhole", "level": level}) for level in modes.choices("level")
        ]
    return found


def label(name: str) -> str | None:
    """How one of these trials is called on the page, None for any other trial."""
    control, _, what = name.partition(SEPARATOR)
    return f"{spell(control)}, {modes.LEVELS.get(what, 'packet mode').lower()}" if what else None


def table(result) -> pd.DataFrame:
    """One row per controller and level whose run, and packet mode's, are there; errors are shares."""
    desk, of, rows = trials.desk(), result.scenario.digest(), []
    for control in CONGESTION_CONTROLS:
        packet = desk.find(of, f"{control}{SEPARATOR}{PACKET}")
        for level in modes.choices("level"):
            one = desk.find(of, f"{control}{SEPARATOR}{level}")
            if packet is None or one is None:
                continue
            hops, error = one.summary["packet_hops"], fct_error(one, packet)
            rows.append(
                {
                    "controller": spell(control),
                    "level": level,
                    "mean_error": float("nan") if error is None else error["mean"],
                    "max_error": float("nan") if error is None else error["max"],
                    "iteration_error": iteration_error(one, packet),
                    "error_bar_coverage": error_bar_coverage(one, packet),
                    "simulated": hops["executed"] / max(1, hops["executed"] + hops["replayed"] + hops["skipped"]),
                    "speedup": speedup_cpu(one, packet),
                }
            )
    return pd.DataFrame(rows)
