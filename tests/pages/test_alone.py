"""Each job alone, on the Run page: the button, the progress, Cancel, and what the table says."""

import time

from sim.preset import to_link
from tests import fabricate
from tests.pages.app_under_test import go, opened, press, run_now
from views.parts import alone

BUTTON = "Run each job alone"
TENANT = {
    "name": "tenant", "gpus": 8, "model": {"layers": 2, "hidden": 64, "heads": 4, "vocabulary": 512, "sequence": 64},
    "parallelism": {"tp": 4, "pp": 1, "dp": 2},
}  # fmt: skip


def two_jobs():
    return fabricate.training(cluster={"topology": "rail-optimised", "gpus": 24, "gpus_per_node": 8}, jobs=[TENANT])


def labels(app):
    return [button.label for button in app.button]


def settle(condition):
    for _ in range(200):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("the trials' thread did not get there")


def test_without_company_there_is_nothing_to_run(finished):
    assert BUTTON not in labels(finished)


def test_jobs_run_alone_one_after_the_other_and_a_table_says_what_sharing_costs(scripted):
    app = run_now(opened(to_link(two_jobs())))
    together = scripted.latest
    press(app, BUTTON)
    for number in (0, 1):
        settle(lambda before=together: scripted.latest is not before and scripted.latest.state == "compiling")
        together = scripted.latest
        case = scripted.latest.scenario
        assert set(case.dag.flow_job.tolist()) <= {number}
        assert [bar.proto.text for bar in app.run().get("progress")][number].startswith(f"{('own job', 'tenant')[number]} alone")
        scripted.latest.scenario = case.scenario
        scripted.latest.end()
    settle(lambda: not app.run().get("progress"))
    (table,) = [frame.value for frame in app.dataframe if "alone" in frame.value]
    assert table["job"].tolist() == ["own job", "tenant"] and table["slow-down"].str.fullmatch(r"[0-9.]+ ×").all()
    assert any("What sharing costs" in caption.value for caption in app.caption) and BUTTON not in labels(app)


def test_cancel_leaves_the_button(scripted):
    app = run_now(opened(to_link(two_jobs())))
    before = scripted.latest
    press(app, BUTTON)
    settle(lambda: scripted.latest is not before and scripted.latest.state == "compiling")
    press(app, "Cancel")
    settle(lambda: not app.run().get("progress"))
    assert BUTTON in labels(go(app, "run")) and not app.exception


def test_what_computing_hides_is_told():
    row = {"slowdown": 1.0, "fct_slowdown": 1.2}
    assert "Of 1 job (a) flows take longer" in alone.hidden(["a", "b"], [row, {"slowdown": 1.1, "fct_slowdown": 1.2}])
    assert alone.hidden(["a"], [{"slowdown": None, "fct_slowdown": None}]) == ""
