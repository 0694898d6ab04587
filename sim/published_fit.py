"""The one number fitted for each GPU and precision: the share of peak that large matrix products reach.

Each iteration row alone needs some share to come out exactly; the fit is the median of those, so that no single row and no
source with odd software decides. Everything else in the model of a step has a source of its own.
"""

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from sim.catalogue.gpus import GPUS
from sim.published_jobs import Job
from sim.published_rates import generation
from sim.published_step import step

LOWEST, HIGHEST = 0.02, 1.5  # beyond: the row says nothing about arithmetic
HALVINGS = 40
ROWS_FITTED = 200  # of one GPU and precision at most
ROWS_NEEDED = 2  # to fit a GPU that the reference table does not have
UNKNOWN_EFFICIENCY = 0.6  # where nothing at all is published


@dataclass(frozen=True)
class Fitted:
    """Efficiency of one GPU and precision."""

    efficiency: float
    rows: int
    lowest: float  # that a row alone needs
    highest: float
    origin: str  # where the rows come from


def needed(job: Job, seconds: float, bf16_efficiency: float | None) -> float | None:
    """The efficiency with which a job takes so many seconds; None if no share of peak does. `bf16_efficiency` None: the same."""

    def takes(efficiency: float) -> float:
        return step(job, efficiency, bf16_efficiency or efficiency).seconds

    if not takes(HIGHEST) < seconds < takes(LOWEST):
        return None
    low, high = math.log(LOWEST), math.log(HIGHEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if takes(math.exp(middle)) < seconds else (middle, high)
    return math.exp((low + high) / 2)


def fit(measured: Iterable[tuple[Job, float]], origin: str, known: dict[str, Fitted] | None = None) -> dict[str, Fitted]:
    """Efficiencies by `Job.key` of jobs with their published seconds, bf16 first: parts of an fp8 step stay in bf16."""
    fitted = dict(known or {})
    groups: dict[str, list[tuple[Job, float]]] = {}
    for job, seconds in measured:
        groups.setdefault(job.key, []).append((job, seconds))
    for key in sorted(set(groups) - set(fitted), key=lambda key: (not key.endswith(" bf16"), key)):
        shares = [needed(job, seconds, bf16_efficiency(fitted, job)) for job, seconds in groups[key][:ROWS_FITTED]]
        shares = [share for share in shares if share is not None]
        if shares:
            fitted[key] = Fitted(statistics.median(shares), len(shares), min(shares), max(shares), origin)
    return fitted


def extended(fitted: dict[str, Fitted], measured: list[tuple[Job, float]], origin: str) -> dict[str, Fitted]:
    """`fitted`, and for other GPUs what rows of another table say if there are enough of them, else a kin's efficiency."""
    counts: dict[str, int] = {}
    for job, _ in measured:
        counts[job.key] = counts.get(job.key, 0) + 1
    enough = [(job, seconds) for job, seconds in measured if counts[job.key] >= ROWS_NEEDED]
    found = fit(enough, origin, fitted)
    for job, _ in measured:
        if job.key not in found:
            found[job.key] = _borrowed(found, job)
    return found


def _borrowed(fitted: dict[str, Fitted], job: Job) -> Fitted:
    kin = [key for key in fitted if key.endswith(f" {job.precision}")]
    same = [key for key in kin if generation(GPUS[key.split()[0]]) == generation(job.gpu)]
    for key in [*same, *kin]:
        return Fitted(fitted[key].efficiency, 0, fitted[key].lowest, fitted[key].highest, f"as {key}")
    return Fitted(UNKNOWN_EFFICIENCY, 0, UNKNOWN_EFFICIENCY, UNKNOWN_EFFICIENCY, "assumed")


def bf16_efficiency(fitted: dict[str, Fitted], job: Job) -> float | None:
    """Of products that stay in bf16 on a job's GPU; None: that of the job itself."""
    found = fitted.get(f"{job.gpu.name} bf16")
    return found.efficiency if found is not None and job.precision != "bf16" else None
