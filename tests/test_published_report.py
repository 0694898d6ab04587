"""The report of a validation: JSON with the promised keys, a CSV of its rows, lines for a terminal."""

import csv
import io
import json

import pytest

from sim.published import REFERENCE, validate
from sim.published_report import COLUMNS, as_csv, as_data, as_lines
from sim.published_rows import read_file


@pytest.fixture(scope="module")
def found():
    return validate(read_file(REFERENCE))


def test_data_have_the_promised_keys(found):
    data = json.loads(json.dumps(as_data(found), allow_nan=False))
    assert {"rows", "mean_abs_error", "worst", "skipped"} <= data.keys()
    assert all({"id", "kind", "published", "predicted", "error"} <= row.keys() for row in data["rows"])
    assert all({"id", "why"} <= row.keys() for row in data["skipped"])
    for row in data["rows"]:
        assert row["error"] == pytest.approx(row["predicted"] / row["published"] - 1)
    iterations = [abs(row["error"]) for row in data["rows"] if row["kind"] == "iteration"]
    assert data["mean_abs_error"] == pytest.approx(sum(iterations) / len(iterations))
    assert data["worst"] == pytest.approx(max(iterations))
    assert sum(one["rows"] for one in data["by_software"].values()) == len(iterations)


def test_rows_are_counted_once_and_numbers_each(found):
    """Of the 113 rows of the table one, 4 HDR NICs, gives an average and a peak."""
    data, rows = as_data(found), read_file(REFERENCE)
    assert data["rows_compared"] + data["rows_skipped"] == len(rows) == 113
    assert data["numbers_compared"] == len(data["rows"]) == data["rows_compared"] + 1
    assert as_lines(found)[-1] == "92 rows compared by 93 numbers, 21 rows skipped"


def test_csv_has_a_line_for_each_row(found):
    lines = list(csv.DictReader(io.StringIO(as_csv(found))))
    assert tuple(lines[0]) == COLUMNS and len(lines) == len(found.rows)
    assert float(lines[0]["published"]) == 137 and lines[0]["software"] == "Megatron-LM 2021"


def test_lines_say_everything(found):
    text = "\n".join(as_lines(found))
    assert "megatron-1.7B" in text and "skipped simai-166: gpus is not given" in text
    assert "efficiency of A100-SXM-80 bf16: 0." in text
    assert "memory: 6 rows, mean absolute error 0.00%" in text
