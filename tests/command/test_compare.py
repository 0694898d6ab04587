"""`compare`: its JSON, its text, its files and exit statuses."""

import json

import pytest

from sim.command import compare
from sim.preset import load_preset

KEYS = {
    "wormhole", "packet", "flow", "speedup_cpu", "identical", "fct_error", "iteration_error", "rtt_nrmse", "error_bar_coverage",
    "flow_fct_error", "flow_iteration_error",
}  # fmt: skip
LOSS = 'faults=[{kind = "loss", a = "gpu1", b = "switch0", at_us = 100, probability = 0.01}]'


def test_json_holds_every_field(sim):
    done = sim("compare", "gpt-small-16", "--json", "-")
    assert done.code == 0
    found = done.json()
    assert set(found) >= KEYS
    for mode in ("wormhole", "packet", "flow"):
        assert (found[mode]["mode"], found[mode]["flows_finished"]) == (mode, 96)
        assert found[mode]["hash"] == load_preset("gpt-small-16").digest()
    assert found["identical"] is True and found["speedup_cpu"] > 3 and found["error_bar_coverage"] is None
    assert set(found["fct_error"]) == set(found["flow_fct_error"]) == {"mean", "p50", "p99", "max"}
    assert found["fct_error"]["max"] == found["rtt_nrmse"] == found["iteration_error"] == 0 < found["flow_fct_error"]["max"]
    hops = found["wormhole"]["packet_hops"]
    assert hops["executed"] < hops["total"] == found["packet"]["packet_hops"]["executed"]


def test_text_and_files_say_the_same(sim, tmp_path):
    done = sim("compare", "incast-16", "--json", tmp_path / "out.json", "--tables", tmp_path / "tables", "--mode", "wormhole", "--level", "exact")
    assert done.code == 0
    assert "incast-16: wormhole and packet mode: identical to the bit" in done.out and "flow completion times of flows mean 14.087%" in done.out
    assert "; of the completion 21.241%" in done.out
    assert json.loads((tmp_path / "out.json").read_text())["identical"]
    assert {path.name for path in (tmp_path / "tables").iterdir()} == {"wormhole", "packet", "flow"}
    assert (tmp_path / "tables" / "wormhole" / "episodes.csv").read_text().count("\n") > 2
    assert (tmp_path / "tables" / "packet" / "episodes.csv").read_text().count("\n") == 1


def test_what_mode_flow_cannot_do_leaves_the_others(sim):
    done = sim("compare", "incast-16", "--set", LOSS, "--json", "-")
    found = done.json()
    assert done.code == 0 and found["identical"] and found["flow"] is found["flow_fct_error"] is None
    assert "mode flow cannot lose packets" in done.error and any("mode flow cannot lose packets" in note for note in found["notes"])


def test_switches_and_a_memo_reach_the_kernel(sim, tmp_path):
    memo = tmp_path / "memo.sqlite"
    switched = sim("compare", "gpt-small-16", "--no-replay", "--no-skip", "--json", "-").json()
    assert switched["identical"] and switched["wormhole"]["packet_hops"]["replayed"] == switched["wormhole"]["packet_hops"]["skipped"] == 0
    for executed in (True, False):
        found = sim("compare", "gpt-small-16", "--memo", memo, "--json", "-").json()
        assert found["identical"] and (found["wormhole"]["packet_hops"]["executed"] > 0) == executed


def test_level_paper_differs_and_that_is_no_failure(sim):
    done = sim("compare", "gpt-small-16", "--level", "paper", "--json", "-")
    found = done.json()
    assert done.code == 0 and set(found) >= KEYS and not found["identical"] and found["error_bar_coverage"] is None
    hops = found["wormhole"]["packet_hops"]
    assert found["wormhole"]["level"] == "paper" and hops["executed"] < 0.1 * hops["total"] and 0 < found["fct_error"]["mean"] < 0.01


def test_a_difference_at_level_exact_is_a_failure(sim, monkeypatch):
    def one_differs(**results):
        return {**usual(**results), "identical": False, "differing": {"acked_ps": 1}}

    usual = compare.comparison
    monkeypatch.setattr(compare, "comparison", one_differs)
    done = sim("compare", "incast-16")
    assert done.code == 1 and "they differ: acked_ps of 1" in done.out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "the following arguments are required: SCENARIO"),
        (["incast"], "'incast' is neither a preset nor a .toml file"),
        (["incast-16", "--mode", "packet"], "--mode packet: not in this command; what works: --mode wormhole"),
        (["incast-16", "--json", "nowhere/x.json"], "--json nowhere/x.json: there is no directory nowhere"),
    ],
)
def test_bad_input_is_one_line_and_status_2(sim, monkeypatch, tmp_path, arguments, line):
    monkeypatch.chdir(tmp_path)
    done = sim("compare", *arguments)
    assert done.code == 2 and done.out == ""
    assert done.error.count("\n") == 1 and done.error.startswith(f"python -m sim: {line}"), done.error


def test_alone_tells_what_sharing_costs_each_job(sim, tmp_path):
    sets = ["--set", "background=[{pattern = \"incast\", flow_bytes = 2000000, times = 20, period_us = 200}]"]
    done = sim("compare", "gpt-small-16", "--alone", *sets, "--json", tmp_path / "out.json", "--tables", tmp_path / "tables")
    assert done.code == 0 and "gpt-small-16  " in done.out and "times as long; mean flow" in done.out
    found = json.loads((tmp_path / "out.json").read_text())
    (job,) = found["jobs"]
    assert job["fct_slowdown"] > 1 and job["slowdown"] == job["iteration_s"] / job["alone_s"]
    assert found["together"]["flows"] > found["alone"][0]["flows"] == sim("run", "gpt-small-16", "--json", "-").json()["flows"]
    assert job["alone_s"] == sim("run", "gpt-small-16", "--json", "-").json()["iteration_s"]
    assert {path.name for path in (tmp_path / "tables").iterdir()} == {"together", "alone-0"}


def test_alone_without_company_is_refused(sim):
    done = sim("compare", "gpt-small-16", "--alone")
    assert done.code == 2 and "has one job and nobody else" in done.error
