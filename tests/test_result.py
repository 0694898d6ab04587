"""A result's tables, series and summary, against numbers worked out by hand."""

import dataclasses
import json
import time

import numpy as np
import pytest

from sim.result import Result
from sim.result_dictionary import COLUMNS, dictionary_table
from sim.result_lanes import bars
from sim.result_series import PortSeries
from sim.result_writers import tables
from tests import fabricate

SUMMARY_KEYS = {
    "scenario", "hash", "mode", "level", "iteration_s", "flows", "flows_finished",
    "mean_fct_s", "p99_fct_s", "max_fct_s",
    "interrupts", "rollbacks", "packet_hops", "memo", "partitions", "ecn_marks", "pfc_pauses", "drops",
    "max_queue_bytes", "cpu_s",
    "wall_s", "peak_rss_bytes",
}  # fmt: skip


@pytest.fixture(scope="module")
def incast() -> Result:
    return fabricate.result(fabricate.scenario())


@pytest.fixture(scope="module")
def gpt() -> Result:
    return fabricate.result(fabricate.training())


@pytest.fixture(scope="module")
def partial() -> Result:
    return fabricate.result(fabricate.training(), stop_after=0.5)


@pytest.mark.parametrize("run", ["incast", "gpt", "partial"])
def test_every_column_has_unit_and_meaning_and_the_other_way_round(run, request):
    for name, table in tables(request.getfixturevalue(run)).items():
        assert list(table.columns) == list(COLUMNS[name]), name
    assert set(dictionary_table()["table"]) == set(COLUMNS)
    assert (dictionary_table()[["unit", "meaning"]].map(len) > 0).all().all()


def test_flow_times_are_the_raw_times_in_seconds(incast):
    raw = incast.raw
    assert incast.flows["start_s"].tolist() == [0.0] * 4
    assert incast.flows["fct_s"].tolist() == pytest.approx(
        [340e-6] * 4
    )  # 4 x 1 MB at 100 Gb/s = 320 us, 2 x 10 us latency
    assert incast.flows["delivered_s"].tolist() == pytest.approx([330e-6] * 4)
    assert incast.flows["slowdown"].tolist() == pytest.approx([3.4] * 4)
    assert incast.flows["kind"].unique().tolist() == ["traffic"]
    assert incast.flows["collective"].isna().all()
    assert (incast.flows["bytes_left"] == 0).all() and raw.status == "finished"


def test_what_did_not_happen_is_missing_not_minus_one(partial):
    flows, tasks = partial.flows, partial.tasks
    unfinished = partial.raw.acked_ps < 0
    assert unfinished.any() and not unfinished.all()
    assert (flows["fct_s"].isna() == unfinished).all() and (flows["slowdown"].isna() == unfinished).all()
    assert flows["start_s"].isna().any() and tasks["start_s"].isna().any() and tasks["end_s"].isna().any()
    assert (flows.loc[~unfinished, "bytes_left"] == 0).all() and (flows.loc[unfinished, "bytes_left"] >= 0).all()
    assert flows[["start_s", "fct_s", "delivered_s"]].min().min() >= 0


def test_kinds_and_collectives_are_words(gpt):
    assert set(gpt.flows["kind"].astype(str)) == {"PP", "DP", "embedding"}
    assert set(gpt.tasks["kind"].astype(str)) == {"forward", "backward", "TP", "optimizer", "wait"}
    data = gpt.flows[gpt.flows["kind"] == "DP"]
    assert data["collective"].notna().all()
    assert gpt.flows.loc[gpt.flows["kind"] == "PP", "collective"].isna().all()


def test_ports_are_named_and_their_utilisation_is_bytes_over_capacity(incast):
    receiver = incast.ports.set_index("name").loc["switch0->gpu0"]
    assert receiver["tier"] == "GPU-leaf" and receiver["kind"] == "fabric"
    assert receiver["mean_utilisation"] == pytest.approx(receiver["tx_bytes"] * 8 / (100e9 * 340e-6))
    assert (incast.ports["max_utilisation"] >= incast.ports["mean_utilisation"] - 1e-3).all()


def test_tiers_name_the_lower_end_first_whatever_the_direction(gpt):
    tier = gpt.ports.set_index("name")["tier"]
    assert tier["gpu0->leaf0"] == tier["leaf0->gpu0"] == "GPU-leaf"
    assert tier["leaf0->spine0"] == tier["spine0->leaf0"] == "leaf-spine"
    assert tier["gpu0->nvswitch0"] == "GPU-NVSwitch"


def test_path_of_a_flow_and_flows_of_a_port_are_inverse(gpt):
    for port in range(gpt.network.n_ports):
        through = gpt.flows_through(port)
        assert through.tolist() == [flow for flow in range(len(gpt.flows)) if port in gpt.flow_path(flow)]
    first = gpt.flow_path(0)
    assert gpt.network.port_src[first[0]] == gpt.network.hosts[gpt.flows["src"][0]]
    assert gpt.network.port_dst[first[-1]] == gpt.network.hosts[gpt.flows["dst"][0]]


def test_critical_path_is_in_order_and_its_parts_add_up(gpt):
    path = gpt.critical_path
    assert (path["start_s"].diff().dropna() >= 0).all()
    assert (path["end_s"].shift() + path["idle_s"]).dropna().tolist() == pytest.approx(
        path["start_s"].iloc[1:].tolist()
    )
    assert sum(gpt.path_shares_s.values()) == pytest.approx(gpt.end_s), "the last ACK's way included"


def test_utilisation_of_the_last_short_bin_counts_its_own_length():
    series = PortSeries(
        bin_s=1e-6, t0_s=0.0, end_s=2.5e-6, rate_bps=np.array([8_000_000_000]), tx_bytes=np.array([[1000, 500, 250]]),
        max_queue_bytes=np.zeros((1, 3), np.int32), ecn_marks=np.zeros((1, 3), np.int32), paused_s=np.zeros((1, 3)),
    )  # fmt: skip
    assert series.edges_s.tolist() == pytest.approx([0, 1e-6, 2e-6, 2.5e-6])
    assert series.utilisation_of(0).tolist() == pytest.approx([1.0, 0.5, 0.5])
    assert [series.utilisation(bin)[0] for bin in range(3)] == pytest.approx([1.0, 0.5, 0.5])
    assert series.peak_utilisation().tolist() == [1.0]
    assert [series.bin_at(time_s) for time_s in (-1.0, 0.0, 1.5e-6, 9.0)] == [0, 0, 1, 2]


def test_summary_has_the_fields_of_the_command_line_and_is_json(incast):
    summary = incast.summary
    assert SUMMARY_KEYS <= set(summary)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["iteration_s"] == pytest.approx(340e-6) and summary["mean_fct_s"] == pytest.approx(340e-6)
    assert summary["flows"] == summary["flows_finished"] == 4 and summary["interrupts"] == 8
    hops = summary["packet_hops"]
    assert hops["total"] == hops["executed"] == hops["irreducible"] == 8000 and hops["replayed"] == hops["skipped"] == 0


def test_partial_summary_has_no_iteration_time_and_says_what_is_left(partial):
    assert partial.summary["iteration_s"] is None and partial.summary["simulated_s"] == partial.end_s
    assert partial.summary["bytes_left"] == partial.flows["bytes_left"].sum() > 0
    assert partial.notices[0].startswith("Partial result (cancelled): the run stopped after")


def test_nothing_finished_gives_null_statistics():
    summary = fabricate.result(fabricate.scenario(), stop_after=0.1).summary
    assert summary["flows_finished"] == 0
    assert summary["mean_fct_s"] is summary["p99_fct_s"] is summary["max_fct_s"] is None


def test_thresholds_are_the_transports_scaled_by_rate_and_only_at_switches():
    raw = fabricate.raw_run(fabricate.scenario(transport={"ecn_kmin_kb": 50.0, "ecn_kmax_kb": 100.0}))
    raw = dataclasses.replace(raw, port_ecn_kmin_bytes=None, port_ecn_kmax_bytes=None)
    kmin, kmax = Result(raw).ecn_thresholds_bytes
    from_switch = ~raw.network.node_is_host[raw.network.port_src]
    assert set(kmin[from_switch]) == {50_000} and set(kmax[from_switch]) == {100_000}
    assert not kmin[~from_switch].any() and not kmax[~from_switch].any()


def test_half_a_million_flows_take_seconds_not_minutes():
    raw, copies = fabricate.raw_run(fabricate.scenario()), 125_000
    dag = raw.dag
    many = {name: np.tile(getattr(dag, name), copies) for name in vars(dag) if name.startswith("flow_")}
    flows = copies * dag.n_flows
    nothing = {
        "done_ptr": np.zeros(flows + 1, np.int64),
        "acked_ptr": np.zeros(flows + 1, np.int64),
        "indegree": np.zeros(flows, np.int32),
    }
    big = dataclasses.replace(
        raw,
        dag=dataclasses.replace(dag, **many, **nothing, start_ps=np.tile(dag.start_ps, copies)),
        data_ptr=np.arange(flows + 1) * 2,
        data_ports=np.tile(raw.data_ports, copies),
        **{name: np.tile(getattr(raw, name), copies) for name in ("start_ps", "end_ps", "acked_ps", "ideal_fct_ps")},
        **{
            name: np.tile(getattr(raw, name), copies) for name in ("flow_marks", "flow_retransmits", "flow_acked_bytes")
        },
    )
    begin = time.perf_counter()
    result = Result(big)
    assert len(result.flows) == flows == result.summary["flows_finished"]
    assert len(result.flows_through(1)) == flows
    assert len(result.notices) >= 0 and len(result.critical_path) == 1
    assert len(bars(result, [1, 2, 3, 4], (0.0, result.end_s))) <= 6000
    assert time.perf_counter() - begin < 10
