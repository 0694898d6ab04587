"""Earlier runs of a session: what is kept of each, what is said to have changed, the table and its file."""

import csv
import io

import pytest

from sim.preset import load_preset
from tests.fabricate import result, scenario, training
from tests.pages.app_under_test import go, press, run_now, widget
from views.parts.earlier import KEYS_TOLD, table, told, warning
from views.parts.history import DEFAULT, MOST_RUNS, History, as_csv, differences, settings, workload_of


def of(*scenarios, stop_after=1.0):
    history = History()
    for one in scenarios:
        history.add(result(one, stop_after))
    return list(history.runs)


def changes(before, after):
    return differences(settings(before), settings(after))


def test_a_run_is_kept_as_its_small_figures():
    ran = result(scenario())
    (run,) = of(scenario())
    assert (run.number, run.title, run.mode, run.controller, run.changed) == (1, "Made-up incast", "packet", "dcqcn", None)
    assert (run.time_name, run.time_s, run.mean_fct_s) == ("Completion time", ran.summary["iteration_s"], ran.summary["mean_fct_s"])
    assert (run.simulated, run.replayed, run.skipped, run.cpu_s) == (1.0, 0.0, 0.0, 0.6)


def test_changed_names_keys_with_old_and_new_values():
    plain = scenario()
    assert changes(plain, plain.replace("transport.congestion_control", "hpcc")) == ("transport.congestion_control: dcqcn → hpcc",)
    assert changes(plain.replace("traffic.flow_bytes", 2_000_000), plain) == ("traffic.flow_bytes: 2000000 → 1000000",)
    faulty = plain.model_copy(update={"faults": load_preset("link-failure").faults[:1]})
    assert any(change.startswith(f"faults.0.kind: {DEFAULT} → ") for change in changes(plain, faulty))


def test_a_default_that_is_written_out_is_no_change_and_neither_is_what_follows_from_others():
    plain = scenario()
    assert changes(plain, plain.replace("transport.congestion_control", "dcqcn")) == ()
    gpt = training()
    assert changes(gpt, gpt.replace("parallelism.pp", 4)) == ("parallelism.pp: 2 → 4",)  # dp falls from 2 to 1 by itself


def test_lists_and_long_texts_are_told_shortly():
    ranked = load_preset("all-reduce-64")
    assert changes(ranked, ranked.replace("traffic.ranks", [0, 1, 2, 3])) == ("traffic.ranks: default → [0, 1, 2, 3]",)
    long = {"graph": "a" * 100}
    words = settings(scenario().model_copy(update={"cluster": scenario().cluster.model_copy(update=long)}))["cluster.graph"][0]
    assert words.startswith("100 characters (") and len(words) == len("100 characters (123456)")


def test_the_switch_to_remember_counts_as_a_change():
    assert differences(settings(scenario(), False), settings(scenario(), True)) == ("Remember: off → on",)


def test_only_the_last_runs_are_kept_and_numbers_go_on():
    runs = of(*[scenario()] * (MOST_RUNS + 2))
    assert [run.number for run in runs] == list(range(3, MOST_RUNS + 3))


def test_times_are_compared_with_the_newest_where_they_are_of_a_kind():
    small, large = scenario(), scenario(traffic={"pattern": "incast", "flow_bytes": 2_000_000})
    first, second, third = of(small, large, training())
    assert first.over(second) == pytest.approx(first.time_s / second.time_s - 1) and first.over(second) < 0
    assert first.over(third) is None and first.over(of(small, stop_after=0.5)[0]) is None


def test_the_table_tells_the_first_keys_and_the_file_all_of_them():
    runs = of(scenario(), training())[::-1]
    assert len(runs[0].changed) > KEYS_TOLD
    columns, _ = table(runs)
    assert columns["changed"][1] == "first run" and columns["changed"][0].endswith(f"; and {len(runs[0].changed) - KEYS_TOLD} more")
    assert columns["over"] == ["newest", "other cluster and workload"] and columns["of"] == ["iteration", "completion"]
    assert list(columns)[:3] == ["run", "title", "changed"] and columns["title"] == ["Made-up training", "Made-up incast"]
    assert "title" not in table(of(scenario(), scenario()))[0]
    rows = list(csv.DictReader(io.StringIO(as_csv(runs))))
    assert rows[0]["changed"] == "; ".join(runs[0].changed) and float(rows[1]["time_s"]) == runs[1].time_s
    assert rows[0]["time_over_newest"] == "1.0" and rows[1]["time_over_newest"] == "" and rows[0]["level"] == ""


def test_bus_bandwidths_stand_side_by_side_where_collectives_were_run():
    traffic = {"pattern": "collective", "collective": "all-reduce", "collective_bytes": 1_000_000}
    runs = of(scenario(traffic=traffic), scenario())
    columns, _ = table(runs)
    assert columns["busbw"] == [pytest.approx(runs[0].busbw_bytes_per_s / 1e9), None] and runs[0].busbw_bytes_per_s > 0
    assert "busbw" not in table(of(scenario(), scenario()))[0]


def test_the_same_again_says_that_nothing_was_changed():
    assert told(of(scenario(), scenario())[1]) == "nothing"


def test_a_title_is_no_formula_in_the_file():
    (row,) = csv.DictReader(io.StringIO(as_csv(of(scenario(title="=1+1")))))
    assert row["title"] == "'=1+1"


def test_the_page_shows_them_from_the_second_run_on(app, scripted):
    run_now(app)
    assert "Runs of this session" not in [one.value for one in app.subheader]
    widget(app.get("button_group"), "Mode").set_value("packet").run()
    press(app, "Run again")
    scripted.latest.end()
    app.run()
    assert "Runs of this session" in [one.value for one in app.subheader]
    shown = app.dataframe[0].value
    assert list(shown["changed"]) == ["simulation.mode: wormhole → packet", "first run"] and list(shown["run"]) == [2, 1]
    assert list(shown["over"]) == ["newest", "equal"]
    assert "Download runs as CSV" in [button.label for button in app.get("download_button")]


def test_a_run_that_nobody_looked_at_before_the_next_is_kept_too(app, scripted):
    press(app, "Run")
    scripted.latest.end()
    press(go(app, "build"), "Run")
    scripted.latest.end()
    assert len(go(app, "run").dataframe[0].value) == 2


def test_unlike_runs_are_told_and_not_compared():
    small, gpt = scenario(), training()
    newest, same, wide, other = of(gpt, small.replace("cluster.gpus", 9), small.replace("traffic.flow_bytes", 2_000_000), small)[::-1]
    assert (same.unlike(newest), wide.unlike(newest), other.unlike(newest)) == ([], ["cluster"], ["cluster", "workload"])
    assert same.over(newest) > 0 and wide.over(newest) is None is other.over(newest)
    said = warning(newest, [wide, other])
    assert "Not compared with the newest run (one-switch, 5 GPUs; traffic incast)" in said
    assert "run 2 (one-switch, 9 GPUs), run 1 (rail-optimised, 16 GPUs, gpt-125m)." in said
    rows = list(csv.DictReader(io.StringIO(as_csv([newest, same, wide, other]))))
    assert [row["unlike_newest"] for row in rows] == ["", "", "cluster", "cluster and workload"] and rows[2]["time_over_newest"] == ""


def test_other_strategies_and_controllers_of_a_model_are_compared():
    gpt = training()
    assert not of(gpt)[0].unlike(of(gpt.replace_all({"parallelism.pp": 1, "transport.congestion_control": "hpcc", "cluster.nic_gbps": 100}))[0])
    assert workload_of(load_preset("all-reduce-64")) == "all-reduce"
    assert workload_of(load_preset("two-tenants")).startswith("gpt-1.3b, 8 layers of 2048")
