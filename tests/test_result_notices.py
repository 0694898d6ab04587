"""Notices of a result: each sentence appears when its reason is there, with its numbers, and only then."""

import dataclasses

import numpy as np
import pytest

from sim.preset import load_preset
from sim.result import Result
from sim.simulation import Simulation
from tests import fabricate


@pytest.fixture(scope="module")
def incast() -> Result:
    return fabricate.result(fabricate.scenario())


@pytest.fixture(scope="module")
def gpt() -> Result:
    return fabricate.result(fabricate.training())


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


def test_how_many_flows_were_not_slowed_is_said_of_as_many_as_there_are():
    held = quiet("hpcc")
    said = []
    for flows in (1, 4, 100):
        table = held.flows.iloc[np.zeros(flows, int)].assign(slowdown=1.01)
        result = Result(held.raw)
        result.__dict__["flows"] = table
        said.append(result.notices[0].split("; ")[-1].split(".")[0:2])
    assert [".".join(words) for words in said] == [
        "the only flow took 1.01 times as long as alone", "each of 4 flows took at most 1.01 times as long as alone",
        "99 of 100 flows took at most 1.01 times as long as alone",
    ]  # fmt: skip


def test_one_of_a_kind_is_said_in_the_singular():
    raw = fabricate.raw_run(fabricate.scenario())
    lossy = Result(dataclasses.replace(raw, counters={**raw.counters, "drops": 0, "losses": 1, "retransmits": 1, "timeouts": 1}))
    assert any(notice.startswith("1 packet was lost (0 by") and notice.endswith("and 1 timeout fired.") for notice in lossy.notices)


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
    network = dataclasses.replace(result.network, port_kind=np.zeros_like(result.network.port_kind))
    assert not any("never leave" in notice for notice in Result(dataclasses.replace(result.raw, network=network)).notices), "it has no NVLink"


def test_a_partial_result_tells_what_was_done_so_far():
    whole = Simulation(load_preset("gpt-small-16"))
    whole.advance(1_000_000)
    whole.cancel()
    part, full = whole.result(), Simulation(load_preset("gpt-small-16")).run()
    told, total = (next(line for line in result.notices if line.startswith("TP moved")) for result in (part, full))
    assert "over NVLink so far" in told and "over NVLink in all" in total and told.split()[2:4] != total.split()[2:4]
