"""A validation as plain data: for JSON, for a CSV of its rows, and for people."""

import csv
import io

from sim.published import MEAN_WANTED, WORST_WANTED, Compared, Validation, mean_abs_error, worst
from sim.published_rows import KINDS

METHOD = (
    "Seconds of a step in closed form: matrix products at one fitted share of peak per GPU and precision (the median of what each iteration row "
    "of presets/reference/published.csv alone would need, or the nearest share that keeps all of them within 10 %), everything else from "
    "sources: attention kernels, memory traffic, exchanges of TP, PP, DP, CP and EP as far as the row's software does not hide them, pipeline "
    "bubble, optimizer. Errors are predicted / published - 1 in the row's unit."
)


def as_data(found: Validation) -> dict:
    """Everything of a validation. `rows` has one entry for each number of a row; `mean_abs_error` and `worst` are those of the iteration
    rows, or of all where there are none."""
    judged = found.judged()
    return {
        "rows_compared": found.rows_compared,
        "rows_skipped": len(found.skipped),
        "numbers_compared": len(found.rows),
        "rows": [row_data(row) for row in found.rows],
        "mean_abs_error": mean_abs_error(judged),
        "worst": abs(worst(judged).error) if judged else 0.0,
        "worst_id": worst(judged).id if judged else None,
        "within_10_percent": sum(abs(row.error) <= WORST_WANTED for row in judged),
        "targets": {"mean_abs_error": MEAN_WANTED, "worst": WORST_WANTED},
        "skipped": [{"id": row.id, "kind": row.kind, "why": row.why} for row in found.skipped],
        "by_kind": {kind: _errors(found.of_kind(kind)) for kind in KINDS if found.of_kind(kind)},
        "by_software": {stack: _errors(rows) for stack, rows in found.by_source().items()},
        "efficiencies": {
            key: {"efficiency": one.efficiency, "rows": one.rows, "lowest_alone": one.lowest, "highest_alone": one.highest, "from": one.origin}
            for key, one in sorted(found.fitted.items())
        },
        "method": METHOD,
    }


def row_data(row: Compared) -> dict:
    """One compared row; of iterations also the step in seconds, its parts and the software assumed."""
    data = {
        "id": row.id, "kind": row.kind, "published": row.published, "predicted": row.predicted, "error": row.error,
        "unit": row.unit, "metric": row.metric, "model": row.model, "gpu": row.gpu, "source": row.source,
    }  # fmt: skip
    if row.predicted_s is not None:
        data |= {
            "software": row.stack, "published_step_s": row.published_s, "predicted_step_s": row.predicted_s, "micro_batch": row.micro_batch,
            "parts_s": {name: seconds for name, seconds in row.parts_s.items() if seconds},
        }  # fmt: skip
    return data


def _errors(rows: list[Compared]) -> dict:
    odd = worst(rows)
    return {"rows": len(rows), "mean_abs_error": mean_abs_error(rows), "worst": abs(odd.error), "worst_id": odd.id}


COLUMNS = ("id", "kind", "published", "predicted", "error", "unit", "metric", "model", "gpu", "software", "source")


def as_csv(found: Validation) -> str:
    """The compared rows as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(row_data(row) for row in found.rows)
    return text.getvalue()


def as_lines(found: Validation) -> list[str]:
    """The same for a terminal: rows, what was skipped, errors by software, efficiencies, and the targets."""
    lines = [f"{'row':52}{'published':>12}{'predicted':>12} {'unit':11}{'error':>8}"]
    lines += [f"{row.id[:51]:52}{row.published:12.6g}{row.predicted:12.6g} {row.unit:11}{row.error:+8.1%}" for row in found.rows]
    lines += [f"skipped {row.id}: {row.why}" for row in found.skipped]
    lines += [
        f"{stack}: {len(rows)} rows, mean {mean_abs_error(rows):.1%}, worst {worst(rows).error:+.1%}" for stack, rows in found.by_source().items()
    ]
    lines += [
        f"efficiency of {key}: {one.efficiency:.3f} (of {one.rows} rows, {one.lowest:.2f} to {one.highest:.2f} alone; {one.origin})"
        for key, one in sorted(found.fitted.items())
    ]
    for kind in KINDS:
        if rows := found.of_kind(kind):
            near = sum(abs(row.error) <= WORST_WANTED for row in rows)
            lines.append(
                f"{kind}: {len(rows)} rows, mean absolute error {mean_abs_error(rows):.2%}, worst {worst(rows).error:+.1%} ({worst(rows).id}), "
                f"{near} within {WORST_WANTED:.0%}"
            )
    lines.append(f"{found.rows_compared} rows compared by {len(found.rows)} numbers, {len(found.skipped)} rows skipped")
    return lines
