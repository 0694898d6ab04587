"""Traces for Perfetto: valid JSON, exact times, one stream for what does not overlap and as many as it takes for what does."""

import json
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.formats.perfetto import durations_ps, lanes, trace
from tests.fabricate import result, scenario, training


def events(result):
    return json.loads("".join(trace(result)))["traceEvents"]


@pytest.fixture(scope="module")
def gpt():
    return result(training())


def test_nothing_overlaps_on_a_stream_even_in_floats(gpt):
    streams = defaultdict(list)
    for event in events(gpt):
        if event["ph"] == "X":
            streams[event["pid"], event["tid"]].append((event["ts"], event["dur"]))
    for slices in streams.values():
        slices.sort()
        assert all(ts + dur <= after for (ts, dur), (after, _) in zip(slices, slices[1:], strict=False))


def test_every_task_and_flow_is_there_once_with_its_times(gpt):
    found = events(gpt)
    tasks = {event["args"]["task_id"]: event for event in found if event["ph"] == "X" and "task_id" in event["args"]}
    sent = {event["args"]["flow_id"]: event for event in found if event["ph"] == "X" and " to " in event["name"]}
    received = {event["args"]["flow_id"]: event for event in found if event["ph"] == "X" and " from " in event["name"]}
    table = gpt.flows.set_index("flow_id")
    takes_time = gpt.tasks["end_s"] > gpt.tasks["start_s"]
    assert set(tasks) >= set(gpt.tasks.loc[takes_time, "task_id"]) and set(gpt.tasks.loc[~takes_time, "kind"]) <= {"wait"}
    assert set(sent) == set(received) == set(table.index)
    for flow in (0, len(table) - 1):
        assert sent[flow]["pid"] == table["src"][flow] and received[flow]["pid"] == table["dst"][flow]
        assert sent[flow]["ts"] == pytest.approx(table["start_s"][flow] * 1e6) and sent[flow]["dur"] == pytest.approx(table["fct_s"][flow] * 1e6, abs=2e-6)
        assert received[flow]["dur"] == pytest.approx((table["delivered_s"] - table["start_s"])[flow] * 1e6, abs=2e-6)
    first = tasks[0]
    assert first["pid"] == 0 and first["dur"] == pytest.approx((gpt.tasks["end_s"] - gpt.tasks["start_s"])[0] * 1e6, abs=2e-6)


def test_arrows_begin_and_end_inside_their_slices(gpt):
    slices, ends = defaultdict(list), defaultdict(dict)
    for event in events(gpt):
        if event["ph"] == "X":
            slices[event["pid"], event["tid"]].append(event)
        elif event["ph"] in "sf":
            ends[event["id"]][event["ph"]] = event
    assert len(ends) == len(gpt.flows)
    for flow, arrow in list(ends.items())[:50]:
        assert set(arrow) == {"s", "f"} and arrow["f"]["bp"] == "e" and arrow["s"]["ts"] <= arrow["f"]["ts"]
        for end in arrow.values():
            inside = [x for x in slices[end["pid"], end["tid"]] if x["ts"] <= end["ts"] <= x["ts"] + x["dur"] and x["args"].get("flow_id") == flow]
            assert len(inside) == 1


def test_processes_and_threads_are_named(gpt):
    found = events(gpt)
    names = {(event["name"], event["pid"], event["tid"]): event["args"]["name"] for event in found if event["ph"] == "M" and "name" in event["args"]}
    assert names["process_name", 3, 0] == "rank 3" and names["thread_name", 3, 0] == "compute"
    used = {event["tid"] for event in found if event["ph"] == "X" and event["pid"] == 3}
    assert used == {tid for what, pid, tid in names if what == "thread_name" and pid == 3}
    assert any(name == "DP send" for name in names.values())


def test_simultaneous_messages_take_a_stream_each():
    streams = {(e["pid"], e["tid"]) for e in events(result(scenario())) if e["ph"] == "X" and e["name"].startswith("traffic from")}
    assert len(streams) == 4 and {pid for pid, _ in streams} == {0}


def test_counters_add_up_to_what_the_nics_sent():
    run = result(scenario())
    bin_s = run.raw.bin_ps / 1e12
    sums, last = defaultdict(float), {}
    for event in events(run):
        if event["ph"] == "C":
            if event["pid"] in last:
                ts, gbps = last[event["pid"]]
                sums[event["pid"]] += gbps * 1e9 * (event["ts"] - ts) * 1e-6 / 8
            last[event["pid"]] = event["ts"], event["args"]["Gb/s"]
    hosts = run.ports[run.ports["src"].isin(run.network.hosts)].groupby("src")["tx_bytes"].sum()
    assert sums[1] == pytest.approx(hosts[1], rel=1e-5) and last[1][1] == 0 and bin_s > 0


def test_a_partial_result_says_so():
    run = result(scenario(), stop_after=0.5)
    text = "".join(trace(run))
    found = json.loads(text)
    cut = [event for event in found["traceEvents"] if event["ph"] == "X" and event["args"].get("unfinished")]
    assert found["otherData"]["status"] == "cancelled" and cut
    assert all(event["ts"] + event["dur"] <= run.end_s * 1e6 * (1 + 1e-12) for event in cut)


def test_lanes_by_hand():
    start, end = np.array([0, 5, 10, 3, 0]), np.array([10, 8, 12, 5, 1])
    assert lanes(np.array([0, 0, 0, 0, 1]), start, end).tolist() == [0, 1, 0, 1, 0]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 60), st.integers(0, 20)), max_size=60))
def test_lanes_never_overlap_and_are_as_few_as_possible(rows):
    group, start, length = (np.array(column, np.int64) for column in zip(*rows, strict=True)) if rows else (np.zeros(0, np.int64),) * 3
    lane = lanes(group, start, start + length)
    for own in set(group.tolist()):
        here = group == own
        spans = [(s, s + n, k) for s, n, k in zip(start[here].tolist(), length[here].tolist(), lane[here].tolist(), strict=True)]
        for k in {span[2] for span in spans}:
            mine = sorted(span[:2] for span in spans if span[2] == k)
            assert all(one[1] <= other[0] for one, other in zip(mine, mine[1:], strict=False))
        deepest = max(sum(s <= t < e or s == t == e for s, e, _ in spans) for t in range(82))
        assert lane[here].max() + 1 <= max(1, deepest)


def test_a_length_that_floats_would_push_over_its_neighbour_is_one_ps_shorter():
    rng = np.random.default_rng(1)
    start = np.cumsum(rng.integers(1, 10**9, 5000))
    length = durations_ps(np.zeros(4999, np.int64), start[:-1], start[1:])
    short = np.diff(start) - length
    assert set(short.tolist()) <= {0, 1} and short.any()
    ts, dur = start[:-1] / 1e6, length / 1e6
    assert (ts[:-1] + dur[:-1] <= ts[1:]).all()
