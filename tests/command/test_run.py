"""`run`: its JSON, its tables, its text, and every way it can end."""

import json
import os
import signal
import threading
import time

import pytest

from sim.preset import load_preset
from sim.simulation import Simulation

FIELDS = {
    "scenario", "hash", "mode", "level", "iteration_s", "flows", "flows_finished", "mean_fct_s", "p99_fct_s", "max_fct_s", "interrupts",
    "rollbacks", "packet_hops", "memo", "partitions", "ecn_marks", "pfc_pauses", "drops", "max_queue_bytes", "cpu_s", "wall_s", "peak_rss_bytes",
}  # fmt: skip
PARTS = {
    "packet_hops": {"total", "executed", "replayed", "skipped", "irreducible"},
    "memo": {"patterns", "hits", "misses", "bytes"},
    "partitions": {"formed", "merges", "splits", "max_flows"},
    "cpu_s": {"compile", "build", "kernel", "orchestrate", "total"},
}


def test_json_holds_every_field(sim):
    done = sim("run", "incast-16", "--json", "-")
    assert done.code == 0
    summary = done.json()
    assert set(summary) >= FIELDS
    for part, fields in PARTS.items():
        assert set(summary[part]) >= fields
    assert (summary["mode"], summary["level"], summary["status"], summary["flows_finished"]) == ("wormhole", "exact", "finished", 16)
    assert summary["hash"] == load_preset("incast-16").digest()
    assert summary["iteration_s"] == Simulation(load_preset("incast-16")).run().summary["iteration_s"]


def test_text_says_the_same(sim):
    done = sim("run", "incast-16")
    assert done.code == 0
    assert "incast-16: finished, completion 1.71 ms" in done.out
    assert "16 of 16 finished" in done.out and "64 k packet-hops" in done.out and "0.00% replayed" in done.out


def test_mode_packet_knows_no_kernel_counters(sim):
    done = sim("run", "incast-16", "--mode", "packet", "--json", "-")
    summary = done.json()
    assert (summary["mode"], summary["level"], summary["partitions"]["formed"]) == ("packet", None, None)
    assert summary["packet_hops"] == {"total": 64000, "executed": 64000, "replayed": 0, "skipped": 0, "irreducible": 64000}


def test_mode_wormhole_says_how_hops_came_about(sim):
    summary = sim("run", "gpt-small-16", "--json", "-", "--threads", 2).json()
    hops, partitions = summary["packet_hops"], summary["partitions"]
    assert hops["replayed"] > hops["skipped"] > hops["executed"] >= hops["irreducible"] > 0
    assert hops["total"] == hops["replayed"] + hops["skipped"] + hops["irreducible"]
    assert partitions["formed"] >= 64 and partitions["max_flows"] == 3 and summary["memo"]["hits"] > 100
    for switch, part in (("--no-replay", "replayed"), ("--no-skip", "skipped")):
        other = sim("run", "gpt-small-16", "--json", "-", switch).json()
        assert other["packet_hops"][part] == 0 and other["mean_fct_s"] == summary["mean_fct_s"]


def test_json_and_tables_go_to_files(sim, tmp_path):
    done = sim("run", "gpt-small-16", "--json", tmp_path / "run.json", "--tables", tmp_path / "tables")
    assert done.code == 0 and "gpt-small-16: finished" in done.out
    summary = json.loads((tmp_path / "run.json").read_text())
    assert summary["flows"] == 96 and any("NVLink" in notice for notice in summary["notices"])
    assert {path.name for path in (tmp_path / "tables").iterdir()} >= {
        "flows.csv", "tasks.csv", "ports.csv", "critical_path.csv", "data_dictionary.csv", "summary.json",
    }  # fmt: skip
    assert len((tmp_path / "tables" / "flows.csv").read_text().splitlines()) == 97


def test_settings_change_the_scenario(sim):
    changes = [
        "--set",
        "transport.congestion_control=hpcc",
        "--set",
        "traffic.senders=4",
        "--set",
        "traffic.flow_bytes=10_000",
    ]
    summary = sim("run", "incast-16", *changes, "--json", "-").json()
    assert summary["flows"] == 4 and summary["packet_hops"]["total"] == 4 * 10 * 4


def test_a_file_is_a_scenario_too(sim, tmp_path):
    (tmp_path / "mine.toml").write_text(
        '[cluster]\ntopology = "one-switch"\ngpus = 2\ngpus_per_node = 1\n[traffic]\npattern = "ring"\nflow_bytes = 1000\n'
    )
    summary = sim("run", tmp_path / "mine.toml", "--json", "-").json()
    assert summary["scenario"] == "mine" and summary["packet_hops"]["total"] == 8


def test_two_runs_give_the_same_but_for_the_cost(sim):
    cost = {"cpu_s", "wall_s", "peak_rss_bytes"}
    first, second = (sim("run", "link-failure", "--json", "-").json() for _ in range(2))
    assert {key: first[key] for key in first.keys() - cost} == {key: second[key] for key in second.keys() - cost}


def test_what_has_no_effect_in_packet_mode_is_said(sim):
    done = sim("run", "incast-16", "--mode", "packet", "--threads", 2, "--memo", "memo.db", "--level", "paper", "--no-skip")
    assert done.code == 0
    notes = [line for line in done.error.splitlines() if line.startswith("note: --")]
    assert [note.split()[1] for note in notes] == ["--level", "--threads", "--no-skip", "--memo"]


def test_usual_values_of_such_options_pass_silently(sim):
    done = sim("run", "incast-16", "--threads", 1, "--memo", "none", "--level", "exact")
    assert done.code == 0 and "note: --" not in done.error


def test_mode_flow_gives_the_same_fields_and_tables(sim, tmp_path):
    summary = sim("run", "gpt-small-16", "--mode", "flow", "--json", "-", "--tables", tmp_path).json()
    assert set(summary) >= FIELDS and (summary["mode"], summary["status"], summary["flows_finished"]) == ("flow", "finished", 96)
    assert summary["level"] is summary["memo"] is summary["partitions"] is None
    assert summary["packet_hops"]["total"] > 0 == summary["packet_hops"]["executed"]
    assert summary["ecn_marks"] == summary["pfc_pauses"] == summary["drops"] == summary["max_queue_bytes"] == 0
    assert len((tmp_path / "flows.csv").read_text().splitlines()) == 97


def test_mode_flow_in_words(sim):
    done = sim("run", "incast-16", "--mode", "flow", "--level", "paper", "--threads", 2, "--memo", "memo.db")
    assert done.code == 0
    assert "finished, completion 1.35 ms" in done.out and "max-min fair rates instead of 64 k packet-hops (mode flow)" in done.out
    assert [line.split()[1] for line in done.error.splitlines() if "flow mode" in line] == ["--level", "--threads", "--memo"]


def test_mode_flow_refuses_losses_in_one_line(sim):
    fault = 'faults=[{kind = "loss", a = "gpu1", b = "switch0", probability = 0.01}]'
    done = sim("run", "incast-16", "--mode", "flow", "--set", fault)
    assert done.code == 2 and done.error.count("\n") == 1 and "mode flow cannot lose packets" in done.error


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["run"], "the following arguments are required: SCENARIO"),
        (["run", "incast"], "'incast' is neither a preset nor a .toml file: did you mean 'incast-16'?"),
        (["run", "nowhere.toml"], "nowhere.toml: there is no such file"),
        (["run", "incast-16", "--mode", "pocket"], "--mode pocket: is not a mode; what works: --mode wormhole, --mode packet, --mode flow"),
        (["run", "incast-16", "--set", "simulation.mode=pocket"], "simulation.mode = 'pocket' is not one of the choices: did you mean 'packet'?"),
        (["run", "incast-16", "--level", "exac"], "--level exac: did you mean 'exact'?"),
        (["run", "incast-16", "--threads", "0"], "--threads 0: must be a whole number from 1 to 4096"),
        (["run", "incast-16", "--threads", "two"], "--threads two: must be a whole number from 1 to 4096"),
        (["run", "incast-16", "--set", "transport"], "--set transport: must be key=value"),
        (["run", "incast-16", "--set", "transport.pfk=off"], "transport.pfk is not a known key: did you mean 'pfc'?"),
        (["run", "incast-16", "--set", "transport.buffer_mb=2"], "transport.buffer_mb = 2: switch0 has 17 ports"),
        (["run", "gpt-7b-64", "--set", "parallelism.tp=5"], "parallelism.tp = 5: must divide"),
        (["run", "incast-16", "--jsn", "x"], "run: '--jsn' is too much: did you mean '--json'?"),
        (["run", "incast-16", "--json", "nowhere/x.json"], "--json nowhere/x.json: there is no directory nowhere"),
        (["run", "incast-16", "--json", "."], "--json .: is a directory; give a file name in it, like json.txt"),
        (["rnu"], "'rnu' is not a command: did you mean 'run'?"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_bad_input_is_one_line_and_status_2(sim, monkeypatch, tmp_path, arguments, line):
    monkeypatch.chdir(tmp_path)
    done = sim(*arguments)
    assert done.code == 2 and done.out == ""
    assert done.error.count("\n") == 1 and done.error.startswith(f"python -m sim: {line}"), done.error


def test_a_tables_directory_that_cannot_be_is_refused_before_the_run(sim, tmp_path):
    (tmp_path / "taken").write_text("")
    done = sim("run", "gpt-13b-128", "--tables", tmp_path / "taken")
    assert done.code == 2 and "is a file; a directory is needed" in done.error


def test_a_time_limit_gives_a_marked_partial_result(sim):
    done = sim("run", "incast-16", "--set", "simulation.time_limit_s=0.001")
    assert done.code == 0
    assert "time limit, PARTIAL RESULT, stopped at 1.00 ms" in done.out and " left" in done.out
    assert "Partial result (time limit)" in done.error


def test_a_run_that_cannot_go_on_ends_with_a_report(sim):
    fault = 'faults=[{kind = "link-down", a = "gpu1", b = "switch0", at_us = 100}]'
    done = sim("run", "incast-16", "--set", fault, "--json", "-")
    assert done.code == 1
    summary = done.json()
    assert summary["status"] == "deadlock" and summary["flows_finished"] == 15 and summary["iteration_s"] is None
    assert any("the run cannot go on" in notice for notice in summary["notices"])


def interrupt_soon(after_s=0.5):
    """Ctrl-C as soon as a run listens to it."""
    usual = signal.getsignal(signal.SIGINT)

    def press():
        until = time.monotonic() + 30
        while signal.getsignal(signal.SIGINT) is usual and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(after_s)
        if signal.getsignal(signal.SIGINT) is not usual:
            os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()


def test_ctrl_c_gives_the_partial_result_marked_as_such(sim, tmp_path):
    before = signal.getsignal(signal.SIGINT)
    interrupt_soon()
    done = sim("run", "incast-16", "--set", "traffic.flow_bytes=20_000_000_000", "--mode", "packet", "--json", tmp_path / "run.json")
    assert done.code == 130
    assert "cancelled, PARTIAL RESULT" in done.out
    summary = json.loads((tmp_path / "run.json").read_text())
    assert summary["status"] == "cancelled" and summary["bytes_left"] > 0 and summary["packet_hops"]["executed"] > 0
    assert signal.getsignal(signal.SIGINT) is before


def test_as_a_process_from_another_directory(process, tmp_path):
    child = process("run", "incast-16", "--json", "-", cwd=tmp_path)
    out, error = child.communicate(timeout=120)
    assert child.returncode == 0, error
    summary = json.loads(out)
    assert summary["cpu_s"]["compile"] > 0, "compiling, or loading what was compiled, is counted apart"
    assert summary["cpu_s"]["kernel"] < 0.5
