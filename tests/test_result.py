"""A result's tables, series, summary, notices and files, against numbers worked out by hand."""

import dataclasses
import io
import json
import time
import zipfile

import numpy as np
import pandas as pd
import pytest

from sim.errors import FormatError
from sim.result import Result
from sim.result_dictionary import COLUMNS, dictionary_table
from sim.result_lanes import STRETCHES, bars, representative_ranks
from sim.result_series import PortSeries
from sim.result_writers import tables, tables_archive, write_tables
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
    assert set(gpt.tasks["kind"].astype(str)) == {"forward", "backward", "TP", "optimizer"}
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
    assert sum(gpt.path_shares_s.values()) == pytest.approx(path["end_s"].iloc[-1])


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


def quiet(control: str, queue_bytes: int = 40_000) -> Result:
    """An incast in which no switch marked or paused."""
    raw = fabricate.raw_run(fabricate.scenario(transport={"congestion_control": control}))
    queue = np.zeros_like(raw.port_max_queue_bytes)
    queue[1] = queue_bytes
    counters = {**raw.counters, "ecn_marks": 0, "pfc_pauses": 0, "max_queue_bytes": queue_bytes}
    return Result(dataclasses.replace(raw, counters=counters, port_max_queue_bytes=queue))


@pytest.mark.parametrize("control", ["dcqcn", "dctcp"])
def test_a_controller_of_marks_without_marks_says_why_controllers_look_alike(control):
    (notice,) = quiet(control).notices
    assert notice.startswith(f"{control.upper()} never slowed a flow: 0 ECN marks, 0 PFC pauses")
    assert "40.0 kB at switch0->gpu0, below its ECN threshold of 100 kB" in notice


@pytest.mark.parametrize("control", ["hpcc", "timely", "swift"])
def test_a_controller_of_delays_looks_alike_only_if_no_flow_was_slowed(control):
    held = quiet(control)
    assert "kept the queues short by itself" in held.notices[0]  # 4 to 1: every flow took 3.4 times as long as alone
    alone = dataclasses.replace(held.raw, ideal_fct_ps=held.raw.acked_ps - held.raw.start_ps)
    assert "had little to do" in Result(alone).notices[0] and "nearly the same times" in Result(alone).notices[0]


def test_without_congestion_control_or_queues_the_notice_says_so():
    assert quiet("none").notices[0].startswith("Nothing throttled the senders")
    assert "no packet ever waited" in quiet("dcqcn", 0).notices[0]


def test_busy_controllers_get_no_such_notice(incast):
    assert incast.notices == []


def test_losses_are_counted_in_a_notice():
    raw = fabricate.raw_run(fabricate.scenario())
    lossy = Result(
        dataclasses.replace(raw, counters={**raw.counters, "drops": 3, "losses": 2, "retransmits": 12, "timeouts": 1})
    )
    assert any(
        notice.startswith("5 packets were lost (3 by full buffers, 2 on links), 12 sent again")
        for notice in lossy.notices
    )


def test_uneven_hashing_is_reported_with_the_busiest_uplink():
    raw = fabricate.raw_run(
        fabricate.scenario(
            cluster={
                "topology": "leaf-spine",
                "gpus": 8,
                "gpus_per_node": 4,
                "nvlink_gbps": 0,
                "leaves": 2,
                "spines": 4,
            },
            traffic={"pattern": "flows", "flows": [{"src": 0, "dst": 4, "bytes": 1_000_000}]},
        )
    )
    (notice,) = [notice for notice in Result(raw).notices if notice.startswith("Uneven")]
    assert "8 uplinks" in notice and "8.0 times the average, 7 carried nothing" in notice


def test_tensor_parallel_time_on_nvlink_is_explained(gpt):
    assert any("NVLink" in notice and "TP" in notice for notice in gpt.notices)


def test_collectives_that_never_leave_their_server_are_said():
    result = fabricate.result(fabricate.training(parallelism={"tp": 1, "pp": 4}))
    (notice,) = [notice for notice in result.notices if "never leave their server" in notice]
    assert "they load NVLink, not the fabric" in notice


def test_thresholds_are_the_transports_scaled_by_rate_and_only_at_switches():
    raw = fabricate.raw_run(fabricate.scenario(transport={"ecn_kmin_kb": 50.0, "ecn_kmax_kb": 100.0}))
    raw = dataclasses.replace(raw, port_ecn_kmin_bytes=None, port_ecn_kmax_bytes=None)
    kmin, kmax = Result(raw).ecn_thresholds_bytes
    from_switch = ~raw.network.node_is_host[raw.network.port_src]
    assert set(kmin[from_switch]) == {50_000} and set(kmax[from_switch]) == {100_000}
    assert not kmin[~from_switch].any() and not kmax[~from_switch].any()


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_written_tables_read_back_as_they_were(partial, tmp_path, format):
    written = write_tables(partial, tmp_path / "out", format)
    assert {path.name for path in written} == {
        "summary.json",
        "data_dictionary.csv",
        *(f"{name}.{format}" for name in COLUMNS),
    }
    read = pd.read_csv if format == "csv" else pd.read_parquet
    for name, table in tables(partial).items():
        back = read(tmp_path / "out" / f"{name}.{format}")
        assert list(back.columns) == list(table.columns) and len(back) == len(table)
        for column in table.select_dtypes("number").columns:
            np.testing.assert_array_equal(back[column].to_numpy(), table[column].to_numpy(), err_msg=f"{name}.{column}")


def test_archive_holds_the_same_files(incast):
    archive = zipfile.ZipFile(io.BytesIO(tables_archive(incast)))
    assert archive.testzip() is None
    assert json.loads(archive.read("summary.json")) == incast.summary
    assert len(pd.read_csv(io.BytesIO(archive.read("flows.csv")))) == 4


def test_unknown_format_and_unwritable_place_are_one_clear_line(incast, tmp_path):
    with pytest.raises(FormatError, match="table format 'cvs' is not one of the choices: did you mean 'csv'"):
        write_tables(incast, tmp_path, "cvs")
    (tmp_path / "file").write_text("")
    with pytest.raises(FormatError, match="cannot write tables to .*file"):
        write_tables(incast, tmp_path / "file")


def test_few_bars_are_drawn_one_by_one(gpt):
    window = (0.0, gpt.end_s)
    found = bars(gpt, [0, 8], window)
    assert (found["count"] == 1).all() and (found["low"] == 0).all() and (found["high"] == 1).all()
    assert len(found) == gpt.tasks["rank"].isin([0, 8]).sum() + gpt.flows["src"].isin([0, 8]).sum()


def test_a_narrow_window_holds_only_what_overlaps_it(gpt):
    flow = gpt.flows.iloc[5]
    found = bars(gpt, [flow["src"]], (flow["start_s"], flow["start_s"] + flow["fct_s"]))
    assert flow["flow_id"] in found.loc[found["lane"] == "network", "id"].tolist()
    assert (found["end_s"] >= flow["start_s"]).all()


def test_flows_of_one_sender_lie_side_by_side():
    result = fabricate.result(fabricate.scenario(traffic={"pattern": "all-to-all", "flow_bytes": 1000}))
    found = bars(result, [2], (0.0, result.end_s)).sort_values("id")
    assert found["high"].tolist() == [1.0, 0.75, 0.5, 0.25] and found["low"].tolist() == [0.75, 0.5, 0.25, 0.0]


def test_crowded_tasks_become_shares_that_keep_the_time(gpt, monkeypatch):
    monkeypatch.setattr("sim.result_lanes.TASKS_PER_RANK", 1)
    found = bars(gpt, [0], (0.0, gpt.end_s))
    shares = found[found["lane"] == "compute"]
    assert len(shares) <= STRETCHES * 4 and (shares["high"] <= 1 + 1e-9).all()
    seconds = ((shares["high"] - shares["low"]) * (shares["end_s"] - shares["start_s"])).groupby(shares["kind"]).sum()
    tasks = gpt.tasks[gpt.tasks["rank"] == 0]
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
