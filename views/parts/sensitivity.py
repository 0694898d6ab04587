"""The published test for steadiness under other theta and l: the runs of a grid on one scenario, and a row for each that is there."""

from types import SimpleNamespace

import pandas as pd

from sim.accuracy import fct_error
from views.parts import trials
from views.parts.trials import Trial

THETAS = (0.01, 0.02, 0.05, 0.10)  # range over mean below which a rate is steady; published: 5 %
SAMPLES = (100, 500, 2000)  # of 1 us; published: 2000
CELLS = len(THETAS) * len(SAMPLES)
NAME = "theta"


def name_of(theta: float, samples: int) -> str:
    """What the trial of one cell is called."""
    return f"{NAME} {theta:g} {samples}"


def runs(result) -> list[Trial]:
    """Level paper with every theta and l of the grid, the most eager first; of each run only what the chart needs is kept."""
    found = []
    for samples in SAMPLES:
        for theta in reversed(THETAS):
            given = result.scenario.replace_all({"simulation.paper_theta": theta, "simulation.paper_samples": samples})
            found.append(Trial(name_of(theta, samples), given, {"mode": "wormhole", "level": "paper"}, keep=slim))
    return found


def slim(result):
    """What errors and shares are worked out from."""
    raw = result.raw
    small = SimpleNamespace(acked_ps=raw.acked_ps, start_ps=raw.start_ps, dag=SimpleNamespace(n_tasks=raw.dag.n_tasks))
    return SimpleNamespace(raw=small, summary=result.summary, finished=result.finished)


def label(name: str) -> str | None:
    """How one of these trials is called on the page, None for any other trial."""
    what, _, cell = name.partition(" ")
    if what != NAME:
        return None
    theta, samples = cell.split()
    return f"θ {100 * float(theta):g} %, l {samples}"


def table(result, packet) -> pd.DataFrame:
    """One row per cell whose run is there, against packet mode; errors and parts of the packet-hops are shares."""
    desk, of, rows = trials.desk(), result.scenario.digest(), []
    for samples in SAMPLES:
        for theta in THETAS:
            one = desk.find(of, name_of(theta, samples))
            error = None if one is None or packet is None else fct_error(one, packet)
            if error is None:
                continue
            hops = one.summary["packet_hops"]
            shares = {how: hops[how] / max(1, hops["executed"] + hops["replayed"] + hops["skipped"]) for how in ("executed", "replayed", "skipped")}
            rows.append({"theta": theta, "samples": samples, "mean_error": error["mean"], **shares})
    return pd.DataFrame(rows)
