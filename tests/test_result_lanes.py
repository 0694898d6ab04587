"""Gantt bars of a result: exact while they are few, condensed without losing time or bytes when they are many."""

import numpy as np
import pandas as pd
import pytest

from sim.result import Result
from sim.result_lanes import STRETCHES, bars, representative_ranks
from tests import fabricate


@pytest.fixture(scope="module")
def gpt() -> Result:
    return fabricate.result(fabricate.training())


def test_few_bars_are_drawn_one_by_one(gpt):
    window = (0.0, gpt.end_s)
    found = bars(gpt, [0, 8], window)
    assert (found["count"] == 1).all() and (found["low"] == 0).all() and (found["high"] == 1).all()
    works = gpt.tasks[gpt.tasks["kind"] != "wait"]
    assert len(found) == works["rank"].isin([0, 8]).sum() + gpt.flows["src"].isin([0, 8]).sum() and len(works) < len(gpt.tasks)


def test_a_narrow_window_holds_only_what_overlaps_it(gpt):
    flow = gpt.flows.iloc[5]
    found = bars(gpt, [flow["src"]], (flow["start_s"], flow["start_s"] + flow["fct_s"]))
    assert flow["flow_id"] in found.loc[found["lane"] == "network", "id"].tolist()
    assert (found["end_s"] >= flow["start_s"]).all()


def test_flows_of_one_sender_lie_side_by_side():
    result = fabricate.result(fabricate.scenario(traffic={"pattern": "all-to-all", "flow_bytes": 1000}))
    found = bars(result, [2], (0.0, result.end_s)).sort_values("id")
    assert found["high"].tolist() == [1.0, 0.75, 0.5, 0.25] and found["low"].tolist() == [0.75, 0.5, 0.25, 0.0]


def test_flows_of_others_do_not_crowd_those_of_a_sender():
    background = [{"pattern": "random", "times": 500, "flow_bytes": 1000}]
    result = fabricate.result(fabricate.scenario(traffic={"pattern": "incast", "flow_bytes": 1000}, background=background))
    found = bars(result, [2], (0.0, result.end_s))
    assert set(found["kind"]) == {"traffic", "background"}
    assert (found["low"] == 0).all() and (found["high"] == 1).all()


def test_crowded_tasks_become_shares_that_keep_the_time(gpt, monkeypatch):
    monkeypatch.setattr("sim.result_lanes.TASKS_PER_RANK", 1)
    found = bars(gpt, [0], (0.0, gpt.end_s))
    shares = found[found["lane"] == "compute"]
    assert len(shares) <= STRETCHES * 4 and (shares["high"] <= 1 + 1e-9).all()
    seconds = ((shares["high"] - shares["low"]) * (shares["end_s"] - shares["start_s"])).groupby(shares["kind"]).sum()
    tasks = gpt.tasks[(gpt.tasks["rank"] == 0) & (gpt.tasks["kind"] != "wait")].assign(kind=lambda rows: rows["kind"].astype(str))
    exact = (tasks["end_s"] - tasks["start_s"]).groupby(tasks["kind"].astype(str)).sum()
    pd.testing.assert_series_equal(seconds, exact, check_names=False, check_index_type=False, rtol=1e-6)


def test_crowded_flows_of_one_kind_merge_where_they_nearly_touch(gpt, monkeypatch):
    monkeypatch.setattr("sim.result_lanes.FLOW_BARS", 40)
    ranks = list(range(16))
    found = bars(gpt, ranks, (0.0, gpt.end_s))
    merged = found[found["lane"] == "network"]
    assert merged["count"].sum() == len(gpt.flows) and len(merged) < len(gpt.flows)
    assert merged["bytes"].sum() == gpt.flows["bytes"].sum()
    inside = merged.groupby(["rank", "kind"])[["start_s", "end_s"]].agg({"start_s": "min", "end_s": "max"})
    flows = gpt.flows.assign(end_s=gpt.flows["start_s"] + gpt.flows["fct_s"], kind=gpt.flows["kind"].astype(str))
    exact = flows.groupby(["src", "kind"])[["start_s", "end_s"]].agg({"start_s": "min", "end_s": "max"})
    np.testing.assert_allclose(inside.to_numpy(), exact.to_numpy())


def test_representatives_come_from_every_stage():
    assert representative_ranks([np.arange(8), np.arange(8, 16)], 4) == [0, 7, 8, 15]
    assert representative_ranks([np.array([3])] * 2, 1) == [3, 3]
