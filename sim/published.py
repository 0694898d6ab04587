"""Published measurements against what the model of a step, the memory formulas and the collectives' rates predict for them."""

import re
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from sim.preset import PRESET_DIRECTORY
from sim.published_collectives import bandwidth
from sim.published_fit import Fitted, Measured, bf16_efficiency, extended, fit
from sim.published_jobs import Job, job_of
from sim.published_memory import activation_bytes, unit_bytes
from sim.published_metrics import metric_of
from sim.published_models import NotGiven
from sim.published_rows import PublishedRow, read_file, values_of
from sim.published_step import step

REFERENCE = PRESET_DIRECTORY / "reference" / "published.csv"
GIGA = 1e9
MEAN_WANTED, WORST_WANTED = 0.06, 0.10  # of iteration rows, absolute
SIZES_LISTED = re.compile(r"((?:\d+/)+\d+)\s*([KMG]i?B)")


@dataclass(frozen=True)
class Compared:
    """One published number and what is predicted for it, in the unit of the row."""

    id: str
    kind: str
    published: float
    predicted: float
    unit: str
    metric: str
    model: str
    gpu: str
    source: str
    stack: str = ""
    published_s: float | None = None  # seconds of the step, of iteration rows
    predicted_s: float | None = None
    micro_batch: int | None = None
    parts_s: dict[str, float] = field(default_factory=dict)
    row: str = ""  # the id in the table, where `id` names a case of several

    @property
    def error(self) -> float:
        """Predicted over published, less 1."""
        return self.predicted / self.published - 1


@dataclass(frozen=True)
class Skipped:
    """A row that cannot be compared, and why."""

    id: str
    kind: str
    why: str


@dataclass(frozen=True)
class Validation:
    """All rows of a table, compared or skipped, and the efficiencies used."""

    rows: tuple[Compared, ...]
    skipped: tuple[Skipped, ...]
    fitted: dict[str, Fitted]

    @property
    def rows_compared(self) -> int:
        """Rows of the table that are compared, some by several numbers."""
        return len({row.row or row.id for row in self.rows})

    def of_kind(self, kind: str) -> list[Compared]:
        return [row for row in self.rows if row.kind == kind]

    def judged(self) -> list[Compared]:
        """The rows that the targets are meant for: iterations, or whatever there is."""
        return self.of_kind("iteration") or list(self.rows)

    def by_source(self) -> dict[str, list[Compared]]:
        """Iteration rows by the software that made them, worst mean error first."""
        groups: dict[str, list[Compared]] = {}
        for row in self.of_kind("iteration"):
            groups.setdefault(row.stack, []).append(row)
        return dict(sorted(groups.items(), key=lambda item: -mean_abs_error(item[1])))


def mean_abs_error(rows: list[Compared]) -> float:
    """Mean of the rows' absolute errors; 0 for none."""
    return statistics.fmean(abs(row.error) for row in rows) if rows else 0.0


def worst(rows: list[Compared]) -> Compared | None:
    """The row with the largest absolute error."""
    return max(rows, key=lambda row: abs(row.error), default=None)


@lru_cache(maxsize=1)
def reference_fit() -> dict[str, Fitted]:
    """Efficiencies from the iteration rows of the table that comes with the project."""
    return fit(_measured(read_file(REFERENCE)), "presets/reference/published.csv")


def validate(rows: list[PublishedRow], name: str = "this table") -> Validation:
    """Every row compared or skipped. GPUs that the project's own table has are predicted with its efficiencies, others with theirs."""
    fitted = extended(reference_fit(), _measured(rows), name)
    compared, skipped = [], []
    for row in rows:
        try:
            compared += COMPARE[row.kind](row, fitted)
        except NotGiven as reason:
            skipped.append(Skipped(row.id, row.kind, str(reason)))
    return Validation(tuple(compared), tuple(skipped), fitted)


def cases_of(row: PublishedRow) -> list[tuple[str, float]]:
    """(case, number) pairs of a row: one without a name, or several that the metric lists between slashes; a range is its middle.

    Raises
    ------
    NotGiven
        The value is no number, or the metric does not say what its numbers are.
    """
    values = values_of(row)
    if not values:
        raise NotGiven(f"value {row.value!r} is no number")
    if "/" not in row.value:
        return [("", statistics.fmean(values))]
    sizes = SIZES_LISTED.search(row.metric)
    names = [f"{size} {sizes[2]}" for size in sizes[1].split("/")] if sizes else row.metric.rpartition(":")[2].strip("() ").split(" / ")
    if len(names) != len(values):
        raise NotGiven(f"value {row.value!r} has {len(values)} numbers, and {row.metric!r} does not name as many")
    return [(name.strip(), value) for name, value in zip(names, values, strict=True)]


def _measured(rows: list[PublishedRow]) -> list[Measured]:
    found = []
    for row in rows:
        if row.kind == "iteration":
            try:
                found += [Measured.of(job, metric_of(row, job), value) for job, value in _jobs(row)]
            except NotGiven:
                continue
    return found


def _jobs(row: PublishedRow) -> list[tuple[Job, float]]:
    """A row's job and number; one for each software that the metric names."""
    cases = [(job_of(row, case), value) for case, value in cases_of(row)]
    if len({job for job, _ in cases}) == 1:
        return [(cases[0][0], statistics.fmean(value for _, value in cases))]
    return cases


def _iteration(row: PublishedRow, fitted: dict[str, Fitted]) -> list[Compared]:
    jobs = _jobs(row)
    found = []
    for job, value in jobs:
        metric, efficiency = metric_of(row, job), fitted[job.key].efficiency
        made = step(job, efficiency, bf16_efficiency(fitted, job) or efficiency)
        found.append(
            Compared(
                row.id if len(jobs) == 1 else f"{row.id} ({job.stack.name})", row.kind, value, metric.value(made.seconds), row.unit, row.metric,
                row.model, job.key, row.source, job.stack.name, metric.seconds(value), made.seconds, made.micro_batch, made.parts, row.id,
            )
        )  # fmt: skip
    return found


def _memory(row: PublishedRow, fitted: dict[str, Fitted]) -> list[Compared]:
    ((_, value),) = cases_of(row)[:1]
    predicted = activation_bytes(row) / unit_bytes(row)
    return [Compared(row.id, row.kind, value, predicted, row.unit, row.metric, row.model, row.gpu, row.source)]


def _collective(row: PublishedRow, fitted: dict[str, Fitted]) -> list[Compared]:
    cases = [(case, value, bandwidth(row, case) / GIGA) for case, value in cases_of(row)]
    if len({predicted for _, _, predicted in cases}) == 1:
        cases = [("", statistics.fmean(value for _, value, _ in cases), cases[0][2])]
    return [
        Compared(
            f"{row.id} ({case})" if len(cases) > 1 else row.id, row.kind, value, predicted, row.unit, row.metric, row.model, row.gpu, row.source, row=row.id
        )
        for case, value, predicted in cases
    ]  # fmt: skip


COMPARE: dict[str, Callable[[PublishedRow, dict[str, Fitted]], list[Compared]]] = {
    "iteration": _iteration, "memory": _memory, "collective": _collective,
}  # fmt: skip
