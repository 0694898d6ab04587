"""Tables read back: the trace from them is the trace of the run."""

import json

import pytest

from sim.errors import FormatError
from sim.formats.perfetto import trace
from sim.formats.tables import as_run, read_tables
from sim.result_writers import write_tables
from tests.fabricate import result, scenario, training


def events(run):
    return json.loads("".join(trace(run)))["traceEvents"]


def told(run):
    """Every slice, arrow and name of a trace, times to 1 ns; counters by their sum."""
    found = events(run)
    rows = sorted((e["ph"], e["pid"], e["tid"], e["name"], round(e.get("ts", 0), 3), round(e.get("dur", 0), 3)) for e in found if e["ph"] != "C")
    return rows, {e["pid"] for e in found if e["ph"] == "C"}


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("make", [training, scenario])
def test_a_trace_from_tables_is_that_of_the_run(tmp_path, format, make):
    run = result(make())
    write_tables(run, tmp_path, format)
    back = as_run(*read_tables(tmp_path))
    assert told(back) == told(run)


def test_a_partial_run(tmp_path):
    run = result(scenario(), stop_after=0.5)
    write_tables(run, tmp_path)
    back = as_run(*read_tables(tmp_path))
    assert back.status == "cancelled" and any(event["args"].get("unfinished") for event in events(back) if event["ph"] == "X")


@pytest.mark.parametrize(
    "damage, words",
    [
        (lambda path: (path / "summary.json").unlink(), "has no summary.json"),
        (lambda path: (path / "summary.json").write_text("{"), "summary.json: is not JSON"),
        (lambda path: (path / "summary.json").write_text("[]"), "must be a summary with scenario"),
        (lambda path: (path / "flows.csv").unlink(), "flows.csv or flows.parquet is missing"),
        (lambda path: (path / "flows.csv").write_text("a,b\n1,2\n"), "flows.csv: column 'flow_id' is missing"),
        (lambda path: (path / "flows.csv").write_bytes(b""), "flows.csv: cannot be read as a table"),
        (lambda path: (path / "tasks.csv").rename(path / "tasks.parquet"), "tasks.parquet: cannot be read as a table"),
    ],
)
def test_refused_in_one_line(tmp_path, damage, words):
    write_tables(result(training()), tmp_path)
    damage(tmp_path)
    with pytest.raises(FormatError, match=words) as caught:
        read_tables(tmp_path)
    assert "\n" not in str(caught.value)


def test_no_directory(tmp_path):
    with pytest.raises(FormatError, match="is not a directory"):
        read_tables(tmp_path / "nothing")


def test_kinds_that_are_not_known(tmp_path):
    write_tables(result(training()), tmp_path)
    text = (tmp_path / "tasks.csv").read_text().replace("forward", "forwards")
    (tmp_path / "tasks.csv").write_text(text)
    with pytest.raises(FormatError, match="kind 'forwards' is not known: did you mean 'forward'?"):
        as_run(*read_tables(tmp_path))
