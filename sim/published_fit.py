"""The one number fitted for each GPU and precision: the share of peak that large matrix products reach.

Each iteration row alone needs some share to come out exactly. The fit is the median of those, so that no single row and no source
with odd software decides, or the share nearest to it with which every row is within 10 %, where there is one. Everything else in
the model of a step has a source of its own.
"""

import math
import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from sim.catalogue.gpus import GPUS
from sim.published_jobs import Job
from sim.published_metrics import Metric
from sim.published_rates import generation
from sim.published_step import step

LOWEST, HIGHEST = 0.02, 1.5  # beyond: the row says nothing about arithmetic
HALVINGS = 30
ROWS_FITTED = 200  # of one GPU and precision at most
ROWS_NEEDED = 2  # to fit a GPU that the reference table does not have
UNKNOWN_EFFICIENCY = 0.6  # where nothing at all is published
KEPT_WITHIN = 0.099  # of what is published, every row where possible


@dataclass(frozen=True)
class Measured:
    """A job with the seconds of a step that were published for it, and between which seconds a prediction is close enough."""

    job: Job
    seconds: float
    least_s: float
    most_s: float

    @classmethod
    def of(cls, job: Job, metric: Metric, value: float) -> "Measured":
        least, most = sorted(metric.seconds(value * (1 + sign * KEPT_WITHIN)) for sign in (-1, 1))
        return cls(job, metric.seconds(value), least, most)


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


def fit(measured: Iterable[Measured], origin: str, known: dict[str, Fitted] | None = None) -> dict[str, Fitted]:
    """Efficiencies by `Job.key`, fp8 last: parts of its steps stay in bf16."""
    fitted = dict(known or {})
    groups: dict[str, list[Measured]] = {}
    for row in measured:
        groups.setdefault(row.job.key, []).append(row)
    for key in sorted(set(groups) - set(fitted), key=lambda key: (key.endswith(" fp8"), key)):
        rows = groups[key][:ROWS_FITTED]
        bf16 = bf16_efficiency(fitted, rows[0].job)
        shares = [share for row in rows if (share := needed(row.job, row.seconds, bf16)) is not None]
        if shares:
            fitted[key] = Fitted(_near(statistics.median(shares), rows, bf16), len(shares), min(shares), max(shares), origin)
    return fitted


def _near(median: float, rows: list[Measured], bf16_efficiency: float | None) -> float:
    """The efficiency nearest to the median that keeps every row close enough, else the median."""
    least = [needed(row.job, row.most_s, bf16_efficiency) for row in rows]
    most = [needed(row.job, row.least_s, bf16_efficiency) for row in rows]
    low = max((share for share in least if share is not None), default=LOWEST)
    high = min((share for share in most if share is not None), default=HIGHEST)
    return min(max(median, low), high) if low <= high else median


def extended(fitted: dict[str, Fitted], measured: list[Measured], origin: str) -> dict[str, Fitted]:
    """`fitted`, and for other GPUs what rows of another table say if there are enough of them, else a kin's efficiency."""
    counts = Counter(row.job.key for row in measured)
    found = fit((row for row in measured if counts[row.job.key] >= ROWS_NEEDED), origin, fitted)
    for row in measured:
        if row.job.key not in found:
            found[row.job.key] = _borrowed(found, row.job)
    return found


def _borrowed(fitted: dict[str, Fitted], job: Job) -> Fitted:
    """The other 16-bit precision of the same GPU, else a GPU of the same generation, else any."""
    wide = {"fp16": ("fp16", "bf16"), "bf16": ("bf16", "fp16")}.get(job.precision, (job.precision,))
    kin = [key for precision in wide for key in fitted if key.endswith(f" {precision}")]
    own = [key for key in kin if key.startswith(f"{job.gpu.name} ")]
    same = [key for key in kin if generation(GPUS[key.split()[0]]) == generation(job.gpu)]
    for key in [*own, *same, *kin]:
        return Fitted(fitted[key].efficiency, 0, fitted[key].lowest, fitted[key].highest, f"as {key}")
    return Fitted(UNKNOWN_EFFICIENCY, 0, UNKNOWN_EFFICIENCY, UNKNOWN_EFFICIENCY, "assumed")


def bf16_efficiency(fitted: dict[str, Fitted], job: Job) -> float | None:
    """Of products that stay in bf16 on a job's GPU; None: that of the job itself."""
    found = fitted.get(f"{job.gpu.name} bf16")
    return found.efficiency if found is not None and job.precision == "fp8" else None
