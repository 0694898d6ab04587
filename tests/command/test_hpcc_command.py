"""`hpcc`: the reference's files in, its completion times out."""

import csv
import json

import pytest

from sim.command.reference import REFERENCE


def arguments(scenario, variant, paths=True):
    where = REFERENCE / scenario
    given = [
        "hpcc",
        "--topology",
        where / "topology.txt",
        "--flows",
        where / "flow.txt",
        "--config",
        where / f"{variant}.config.txt",
    ]
    return [*given, *(["--paths", where / "paths.csv"] if paths else [])]


def fct_ns(text):
    """{(sender's address, receiver's): completion time}"""
    return {tuple(line.split()[:2]): int(line.split()[6]) for line in text.splitlines()}


def reference_ns(scenario, variant):
    with (REFERENCE / scenario / f"{variant}.fct.csv").open() as file:
        return {
            tuple(f"{0x0B000001 + 256 * int(row[end]):08x}" for end in ("src", "dst")): int(row["fct_ns"])
            for row in csv.DictReader(file)
        }


@pytest.mark.parametrize(("scenario", "variant"), [("S4", "hpcc"), ("S2_8to1", "timely"), ("S5", "dcqcn_cfgtxt")])
def test_times_are_those_of_the_reference_to_the_nanosecond(sim, tmp_path, scenario, variant):
    done = sim(
        *arguments(scenario, variant),
        "--resolution",
        "1ns",
        "--fct",
        tmp_path / "fct.txt",
        "--json",
        tmp_path / "run.json",
    )
    assert done.code == 0, done.error
    text = (tmp_path / "fct.txt").read_text()
    assert fct_ns(text) == reference_ns(scenario, variant)
    first = text.split()
    assert len(first) % 8 == 0 and first[5] == "2000000000"
    summary = json.loads((tmp_path / "run.json").read_text())
    assert summary["status"] == "finished" and summary["scenario"] == "flow"


def test_our_own_clock_is_the_default_and_a_little_slower(sim, tmp_path):
    sim(*arguments("S1", "dctcp"), "--fct", tmp_path / "fct.txt")
    ours, theirs = fct_ns((tmp_path / "fct.txt").read_text()), reference_ns("S1", "dctcp")
    assert 1.003 < sum(ours.values()) / sum(theirs.values()) < 1.015


def test_modes_other_than_packet_are_offered(sim, tmp_path):
    fct, modes = {}, ("packet", "wormhole", "flow")
    for mode in modes:
        done = sim(*arguments("S1", "dctcp"), "--mode", mode, "--fct", tmp_path / mode, "--json", "-")
        assert done.code == 0 and done.json()["mode"] == mode
        fct[mode] = fct_ns((tmp_path / mode).read_text())
    assert fct["packet"] == fct["wormhole"] and fct["flow"].keys() == fct["packet"].keys()


def test_a_nanosecond_clock_is_run_by_packets_in_any_mode(sim, tmp_path):
    done = sim(*arguments("S1", "dctcp"), "--mode", "wormhole", "--resolution", "1ns", "--fct", tmp_path / "fct.txt", "--json", "-")
    hops = done.json()["packet_hops"]
    assert hops["executed"] == hops["total"] > 0 and "Every packet was simulated" in done.error
    assert fct_ns((tmp_path / "fct.txt").read_text()) == reference_ns("S1", "dctcp")


def test_lines_go_to_standard_output_alone(sim):
    done = sim(*arguments("S2_2to1", "dctcp"), "--fct", "-")
    assert done.code == 0 and len(done.out.splitlines()) == 2 and len(done.out.split()) == 16


def test_compilation_and_reading_are_part_of_the_cost(process, tmp_path):
    child = process(*arguments("S2_2to1", "dctcp"), "--fct", tmp_path / "fct.txt", "--json", "-", cwd=tmp_path)
    out, error = child.communicate(timeout=120)
    assert child.returncode == 0, error
    summary = json.loads(out)
    assert summary["cpu_s"]["compile"] > 0.01 and summary["cpu_s"]["build"] > 0.01 and summary["cpu_s"]["kernel"] < 0.1
    assert summary["wall_s"] > summary["cpu_s"]["compile"]


def test_a_seed_decides_the_marks(sim):
    def times(seed):
        return sim(*arguments("S2_2to1", "dcqcn"), "--resolution", "1ns", "--seed", seed, "--fct", "-").out

    assert times(1) == times(1) != times(2)


def test_without_paths_ecmp_finds_them(sim):
    done = sim(*arguments("S4", "dctcp", paths=False), "--fct", "-")
    assert done.code == 0 and len(done.out.splitlines()) == 16


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (["--fct", "nowhere/fct.txt"], "--fct nowhere/fct.txt: there is no directory nowhere"),
        (["--fct", "-", "--json", "-"], "--fct and --json cannot both go to standard output"),
        (["--fct", "-", "--resolution", "1us"], "--resolution 1us: did you mean '1ps'?"),
        (["--fct", "-", "--seed", "x"], "--seed x: must be a whole number from 0"),
        (["--fct", "-", "--topology", "nowhere.txt"], "nowhere.txt: there is no such file"),
        (["--fct", "-", "--mode", "pocket"], "--mode pocket: is not a mode"),
        ([], "the following arguments are required: --fct"),
    ],
)
def test_bad_input_is_one_line_and_status_2(sim, monkeypatch, tmp_path, change, line):
    monkeypatch.chdir(tmp_path)
    done = sim(*arguments("S2_2to1", "dctcp"), *change)
    assert done.code == 2 and done.out == ""
    assert done.error.count("\n") == 1 and done.error.startswith(f"python -m sim: {line}"), done.error
