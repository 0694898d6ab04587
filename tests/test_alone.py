"""Jobs by themselves: the parts of a case, against scenarios that have nothing else, and against times known by hand."""

import numpy as np
import pytest

from sim.alone import case_alone, cost_of_sharing, jobs_that_share
from sim.case import case_of
from sim.modes import make_simulation
from sim.preset import load_preset
from sim.scenario import Scenario
from sim.simulation import Simulation
from sim.units import PS_PER_S

MODEL = {"layers": 2, "hidden": 512, "heads": 4, "vocabulary": 512, "sequence": 256}
CLUSTER = {
    "topology": "leaf-spine", "gpus": 16, "gpus_per_node": 4, "hosts_per_leaf": 4, "spines": 1, "fabric_gbps": 100, "nic_gbps": 100, "ecmp_seed": 5,
}  # fmt: skip


def tenants(**more):
    """Two jobs of pipelines across leaves with one uplink each, and traffic of others."""
    return Scenario.from_data(
        {
            "cluster": CLUSTER, "model": MODEL, "parallelism": {"tp": 1, "pp": 2, "dp": 4},
            "jobs": [{"name": "late", "gpus": 8, "start_us": 50, "model": MODEL, "parallelism": {"tp": 2, "pp": 2, "dp": 2, "iterations": 2}}],
            "background": [{"pattern": "permutation", "flow_bytes": 400_000, "times": 5}], **more,
        }
    )  # fmt: skip


def test_who_has_company():
    two = tenants()
    assert jobs_that_share(two) == [0, 1]
    assert jobs_that_share(two.replace("background", None)) == [0, 1]
    assert jobs_that_share(load_preset("gpt-small-16")) == []
    assert jobs_that_share(load_preset("incast-16").replace("background", [{"times": 2}])) == [0]


@pytest.mark.parametrize("mode", ["packet", "wormhole"])
def test_the_own_job_alone_is_a_scenario_without_the_others(mode):
    two = tenants(faults=[{"kind": "link-down", "a": "leaf0", "b": "spine0", "at_us": 10}, {"kind": "link-up", "a": "leaf0", "b": "spine0", "at_us": 60}])
    alone = make_simulation(case_alone(case_of(two), 0), mode).run().raw
    by_itself = make_simulation(two.replace_all({"jobs": None, "background": None}), mode).run().raw
    for name in ("start_ps", "end_ps", "acked_ps", "flow_marks", "port_tx_bytes", "data_ports"):
        assert np.array_equal(getattr(alone, name), getattr(by_itself, name)), name


def test_parts_of_a_case_add_up_and_keep_their_paths():
    case = case_of(tenants())
    parts = [case_alone(case, job) for job in (0, 1)]
    others = (case.dag.flow_job < 0).sum()
    assert sum(part.dag.n_flows for part in parts) + others == case.dag.n_flows and others > 0
    assert sum(part.dag.n_tasks for part in parts) == case.dag.n_tasks
    own = parts[1]
    own.dag.validate()
    assert set(own.dag.flow_src.tolist()) <= set(range(8, 16))
    last = int(np.flatnonzero(case.dag.flow_job == 1)[-1])
    paths = [table.data_ports[table.data_ptr[f] : table.data_ptr[f + 1]].tolist() for table, f in ((case.table, last), (own.table, own.dag.n_flows - 1))]
    assert paths[0] == paths[1]


def test_sharing_costs_a_job_the_ratio_of_its_times():
    case = case_of(tenants())
    together = Simulation(case).run()
    alone = {job: Simulation(case_alone(case, job)).run() for job in (0, 1)}
    rows = cost_of_sharing(together, alone)
    assert [row["name"] for row in rows] == ["scenario", "late"]
    for number, row in enumerate(rows):
        flows = together.flows[together.flows["job"] == number]
        assert row["iteration_s"] == together.summary["jobs"][number]["iteration_s"]
        assert row["mean_fct_s"] == pytest.approx(flows["fct_s"].mean()) and row["fct_slowdown"] > 1
        assert row["slowdown"] == pytest.approx(row["iteration_s"] / row["alone_s"])
    late = alone[1].raw
    last_ps = max(late.acked_ps.max(), late.end_ps.max())
    assert rows[1]["alone_s"] == pytest.approx((last_ps / PS_PER_S - 50e-6) / 2)
    assert cost_of_sharing(together, {})[0] == {**rows[0], "alone_s": None, "slowdown": None, "alone_mean_fct_s": None, "fct_slowdown": None}


def test_tenants_of_the_preset_meet_and_slow_each_other():
    """Both use all four uplinks of the middle leaf; even with ideal sharing, without packets, each loses a tenth and more."""
    case = case_of(load_preset("two-tenants").replace("background", None))
    parts = [case_alone(case, job) for job in (0, 1)]
    met = np.intersect1d(*(part.table.data_ports for part in parts))
    assert [f"leaf1->spine{spine}" in map(case.network.port_name, met.tolist()) for spine in range(4)] == [True] * 4
    together, *alone = (make_simulation(one, "flow").run() for one in (case, *parts))
    assert all(job["slowdown"] > 1.1 for job in cost_of_sharing(together, dict(enumerate(alone))))
