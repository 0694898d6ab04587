"""`export`: a scenario, its result or its tables out for other tools."""

import gzip
import json
import zipfile

import pandas as pd
import pytest

from tests.formats.test_htsim_cm import MATRIX

FLOW = ("--mode", "flow")


STUCK = """Nodes 2
Connections 1
Triggers 1
0->1 id 1 trigger 1 size 1000 send_done_trigger 1
trigger id 1 oneshot
"""


def test_what_a_stuck_run_has_is_written_and_told_by_the_exit_status(sim, tmp_path):
    (tmp_path / "stuck.cm").write_text(STUCK)
    assert sim("import", "htsim", tmp_path / "stuck.cm", "--out", tmp_path / "stuck.toml").code == 0
    done = sim("export", tmp_path / "stuck.toml", "csv", "--out", tmp_path / "tables")
    assert done.code == 1 and "note: Deadlock" in done.error and (tmp_path / "tables" / "flows.csv").is_file()


def test_a_trace(sim, tmp_path):
    for name in ("t.json", "t.json.gz"):
        done = sim("export", "gpt-small-16", "perfetto", *FLOW, "--out", tmp_path / name)
        assert done.code == 0, done.error
    plain, packed = json.loads((tmp_path / "t.json").read_text()), json.loads(gzip.decompress((tmp_path / "t.json.gz").read_bytes()))
    assert plain["traceEvents"] == packed["traceEvents"] and plain["otherData"]["status"] == "finished"


def test_tables_in_a_directory_and_in_an_archive(sim, tmp_path):
    assert sim("export", "incast-16", "parquet", *FLOW, "--out", tmp_path / "tables").code == 0
    assert len(pd.read_parquet(tmp_path / "tables" / "flows.parquet")) == 16
    assert sim("export", "incast-16", "csv", *FLOW, "--out", tmp_path / "tables.zip").code == 0
    with zipfile.ZipFile(tmp_path / "tables.zip") as archive:
        assert {"summary.json", "data_dictionary.csv", "flows.csv"} <= set(archive.namelist())


def test_tables_of_an_earlier_run(sim, tmp_path):
    assert sim("run", "gpt-small-16", *FLOW, "--tables", tmp_path / "tables").code == 0
    assert sim("export", "--tables", tmp_path / "tables", "perfetto", "--out", tmp_path / "t.json").code == 0
    assert sim("export", "gpt-small-16", "perfetto", *FLOW, "--out", tmp_path / "u.json").code == 0
    counts = [len(json.loads((tmp_path / name).read_text())["traceEvents"]) for name in ("t.json", "u.json")]
    assert counts[0] == counts[1] > 1000
    assert sim("export", "--tables", tmp_path / "tables", "parquet", "--out", tmp_path / "p.zip").code == 0
    with zipfile.ZipFile(tmp_path / "p.zip") as archive:
        assert {"summary.json", "flows.parquet", "port_series.parquet"} <= set(archive.namelist())


def test_a_report(sim, tmp_path):
    done = sim("export", "incast-16", "html", *FLOW, "--set", "traffic.flow_bytes=4000", "--out", tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    assert done.code == 0 and text.startswith("<!DOCTYPE html>") and "Incast: 16 senders" in text and text.rstrip().endswith("</html>")


def test_files_of_the_hpcc_simulator_and_htsim_without_a_run(sim, tmp_path):
    done = sim("export", "leaf-spine-oversubscribed", "hpcc", "--out", tmp_path / "hpcc")
    assert done.code == 0 and "note: not carried by hpcc's files: transport" in done.error and "starts are those" not in done.error
    assert (tmp_path / "hpcc" / "topology.txt").read_text().split()[:3] == ["38", "6", "40"]
    assert sim("export", "leaf-spine-oversubscribed", "htsim", "--out", tmp_path / "htsim").code == 0
    assert {path.name for path in (tmp_path / "htsim").iterdir()} == {"connections.cm", "network.topo"}
    back = sim("import", "htsim", *(tmp_path / "htsim").iterdir(), "--out", tmp_path / "back.toml")
    assert back.code == 0 and "992 connections" in back.out


def test_messages_that_wait_are_run_first(sim, tmp_path):
    done = sim("export", "gpt-small-16", "hpcc", *FLOW, "--out", tmp_path / "hpcc")
    assert done.code == 0 and "note: starts are those of this run" in done.error
    (tmp_path / "a.cm").write_text(MATRIX.replace("5000000000", "5000"))
    assert sim("import", "htsim", tmp_path / "a.cm", "--out", tmp_path / "a.toml").code == 0
    assert sim("export", tmp_path / "a.toml", "hpcc", *FLOW, "--out", tmp_path / "from-htsim").code == 0
    starts = [float(line.split()[5]) for line in (tmp_path / "from-htsim" / "flow.txt").read_text().splitlines()[1:]]
    assert len(starts) == 4 and starts[0] == 0 and starts == sorted(starts) and starts[2] > starts[1] > 0


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["incast-16", "perfeto", "--out", "x.json"], "export perfeto: is not a kind of file: did you mean 'perfetto'?"),
        (["perfetto", "--out", "x.json"], "export perfetto: must be SCENARIO KIND"),
        (["--tables", "t", "incast-16", "perfetto", "--out", "x.json"], "must be KIND alone, beside --tables"),
        (["--tables", "t", "html", "--out", "x.html"], "tables do not hold what html needs; what works: perfetto, csv, parquet"),
        (["--tables", "t", "perfetto", "--out", "x.json"], "t: is not a directory"),
        (["incast-16", "perfetto", "--out", "x.txt"], "ends in .json or .json.gz; the nearest is x.txt.json"),
        (["incast-16", "html", "--out", "nowhere/x.html"], "there is no directory nowhere"),
        (["incast-16", "hpcc", "--out", "file"], "is a file; hpcc is written to a directory"),
        (["incast-17", "html", "--out", "x.html"], "did you mean 'incast-16'?"),
        (["incast-16", "html", "--out", "x.html", "--mode", "fast"], "--mode fast"),
    ],
)
def test_refused_in_one_line(sim, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    done = sim("export", *arguments)
    assert done.code == 2 and words in done.error and done.error.count("\n") == 1 and not done.out
