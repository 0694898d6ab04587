"""`validate`: its table, its JSON, its exit status."""

import json
from dataclasses import replace

import pytest

from sim.command import reference
from tests.published_rows import GPT_175B, table


def test_cases_can_be_chosen_and_pass(sim, tmp_path):
    done = sim("validate", "S2_8to1/timely", "S5", "--json", tmp_path / "validate.json")
    assert done.code == 0, done.out
    assert done.out.splitlines()[-1] == "9 of 9 cases pass; 136 of 136 flows are equal to the ns"
    found = json.loads((tmp_path / "validate.json").read_text())
    assert (found["cases_passed"], found["cases_failed"], found["flows_equal_ns"], found["passed"]) == (9, 0, 136, True)
    pausing = next(case for case in found["cases"] if case["variant"] == "timely" and case["scenario"] == "S2_8to1")
    assert pausing["pfc_pauses"] == {"here": 59, "reference": 59} and pausing["links_equal"] is True
    assert pausing["packet_hops"]["here"] == pausing["packet_hops"]["reference"]


def test_random_marking_is_compared_over_seeds(sim):
    case = sim("validate", "S4/dcqcn", "--json", "-").json()["cases"][0]
    assert case["variant"] == "dcqcn" and len(case["seed_mean_errors"]) == 5 and case["reference_spread"] == 0.007
    assert abs(case["seeds_error"]) < 2 * 0.007 and case["passed"]


def test_a_case_that_fails_says_why_and_sets_the_status(sim, monkeypatch):
    simulated = reference.simulated

    def with_another_controller(case, seed=1):
        return simulated(replace(case, variant="hpcc"), seed)

    monkeypatch.setattr(reference, "simulated", with_another_controller)
    done = sim("validate", "S1/dctcp")
    assert done.code == 1
    assert "FAILED: link totals differ, 1 flows differ" in done.out
    assert done.out.splitlines()[-1] == "0 of 1 cases pass; 0 of 1 flows are equal to the ns"


@pytest.mark.parametrize(
    ("scenario", "variant", "random", "exact"),
    [
        ("S2_2to1", "dcqcn", True, False),
        ("S2_2to1", "dcqcn_cfgtxt", False, True),
        ("S5", "dcqcn", False, True),
        ("S4", "hpcc", False, True),
        ("S7", "dcqcn", True, False),
        ("S7", "timely", False, False),
    ],
)
def test_what_each_case_must_meet(scenario, variant, random, exact):
    case = next(case for case in reference.reference_cases() if case.name == f"{scenario}/{variant}")
    assert (case.random, case.exact) == (random, exact)


def test_an_unknown_case_is_refused(sim):
    done = sim("validate", "S9")
    assert done.code == 2 and done.error.startswith("python -m sim: there is no reference case 'S9': known: S0_100pkt")


def test_published_measurements(sim, tmp_path):
    done = sim("validate", "--published", "--json", tmp_path / "published.json")
    assert done.code == 0, done.error
    found = json.loads((tmp_path / "published.json").read_text())
    assert {"rows", "mean_abs_error", "worst", "skipped"} <= found.keys()
    assert found["mean_abs_error"] < 0.06 and len(found["rows"]) == 93
    assert any(line.startswith("memory: 6 rows, mean absolute error 0.00%") for line in done.out.splitlines())


def test_a_table_of_ones_own(sim, tmp_path):
    own = tmp_path / "own.csv"
    own.write_bytes(table(GPT_175B))
    found = sim("validate", "--published", own, "--json", "-").json()
    assert [row["id"] for row in found["rows"]] == ["gpt"] and abs(found["rows"][0]["error"]) < 0.1
    own.write_bytes(table({**GPT_175B, "tp": "eight"}))
    done = sim("validate", "--published", own)
    assert done.code == 2 and "line 2: tp = 'eight': must be a whole number" in done.error
    done = sim("validate", "S7", "--published")
    assert done.code == 2 and "cases are of the packet comparison" in done.error
