"""SimAI workloads as graphs: groups by hand, times by hand, every message where it belongs."""

from collections import Counter

import numpy as np
import pytest

from sim.errors import ScenarioError
from sim.formats.simai_workload import read_simai_workload
from sim.workload.blocks import FlowKind, TaskKind
from sim.workload.collect import Tally, Work
from sim.workload.program_collectives import Plan
from sim.workload.program_simai import build, expected_nodes, groups_of
from tests.workload.tiny_player import play

HEAD = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {tp} ep: {ep} pp: {pp} vpp: 1 ga: {ga} all_gpus: {gpus} pp_comm: {pp_comm}"
NS = 1000  # ps


def work(*layers, tp=1, ep=1, pp=1, ga=1, gpus=1, pp_comm=0):
    text = HEAD.format(tp=tp, ep=ep, pp=pp, ga=ga, gpus=gpus, pp_comm=pp_comm)
    return read_simai_workload("\n".join([text, str(len(layers)), *layers]) + "\n")[0]


def dag(*layers, **sizes):
    found = work(*layers, **sizes)
    into = Work()
    build(found, Plan(), into)
    made = into.dag(found.gpus)
    made.validate()
    return made


def layer(fwd=10, fwd_comm="NONE 0", ig=20, ig_comm="NONE 0", wg=40, wg_comm="NONE 0", update=0):
    return f"l -1 {fwd} {fwd_comm} {ig} {ig_comm} {wg} {wg_comm} {update}"


def length_ns(made, flow_ns=0, ack_ns=0):
    _, end, acked = play(made, lambda n_bytes: flow_ns * NS, ack_ns * NS)
    return max(end.max(), acked.max(initial=0)) / NS


def test_compute_alone_adds_up():
    assert length_ns(dag(layer(), layer(fwd=1, ig=2, wg=4, update=8), ga=3)) == 3 * (70 + 7) + 8


def test_compute_beyond_32_bits():
    assert length_ns(dag(layer(fwd=3_000_000_000))) == 3_000_000_060


def test_forward_and_input_communication_block_weight_communication_does_not():
    blocking = dag(layer(fwd_comm="ALLREDUCE 8", ig_comm="ALLGATHER 8"), layer(), tp=2, gpus=2)
    assert length_ns(blocking, flow_ns=100) == 2 * 70 + 200 + 100  # two steps of the all-reduce, one of the all-gather
    beside = dag(layer(), layer(wg_comm="ALLREDUCE 8"), gpus=2)
    assert length_ns(beside, flow_ns=15) == 140  # 30 ns of messages beside the other layer's 60 ns
    assert length_ns(beside, flow_ns=100) == 80 + 200


def test_updates_wait_for_their_gradients_and_come_one_by_one():
    made = dag(layer(update=5), layer(wg_comm="ALLREDUCE 8", update=7), gpus=2)
    assert length_ns(made, flow_ns=15) == 140 + 12
    assert length_ns(made, flow_ns=100) == max(140 + 5, 80 + 200) + 7


def test_weight_gradients_are_summed_in_the_last_micro_batch_only():
    made = dag(layer(wg_comm="ALLREDUCE 8"), ga=4, gpus=2)
    assert made.n_flows == 4 and set(made.flow_microbatch.tolist()) == {3}


def test_collectives_of_one_group_follow_each_other():
    made = dag(layer(wg_comm="ALLREDUCE 8", wg=0), layer(wg_comm="ALLREDUCE 8", wg=0), gpus=2)
    assert length_ns(made, flow_ns=100) == 20 + 20 + 400


def test_pipeline_in_1f1b_by_hand():
    made = dag(layer(fwd=10, ig=10, wg=0), pp=2, ga=2, gpus=2, pp_comm=4096)
    kinds = Counter(zip(made.flow_src.tolist(), made.flow_dst.tolist(), made.flow_bytes.tolist(), strict=True))
    assert kinds == {(0, 1, 4096): 2, (1, 0, 4096): 2} and set(made.flow_kind.tolist()) == {FlowKind.PP}
    # stage 0: F0 F1 . B0 . B1 with 1 ns between: F0 0-10, F1 10-20; stage 1: F0 11-21, B0 21-31, F1 31-41, B1 41-51; stage 0: B0 32-42, B1 52-62
    assert length_ns(made, flow_ns=1) == 62


def test_groups_by_hand():
    found = groups_of(work(layer(), tp=2, ep=2, pp=2, gpus=16))
    assert found["TP"].members.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert found["DP"].members.tolist() == [[0, 2, 4, 6], [1, 3, 5, 7]]
    assert found["EP"].members.tolist() == [[0, 2], [1, 3], [4, 6], [5, 7]]
    assert found["DP_EP"].members.tolist() == [[0, 4], [1, 5], [2, 6], [3, 7]]


def test_expert_groups_across_tensor_groups_where_dp_is_too_small():
    found = groups_of(work(layer(), tp=4, ep=4, gpus=8))
    assert found["EP"].members.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]] and found["DP_EP"].members.tolist() == [[0, 4], [1, 5], [2, 6], [3, 7]]


def test_messages_of_every_group_and_stage():
    made = dag(layer(fwd_comm="ALLTOALL_EP 64", wg_comm="REDUCESCATTER_DP_EP 32"), tp=2, ep=2, pp=2, gpus=16, pp_comm=1)
    of_kind = {kind: made.flow_kind == kind for kind in (FlowKind.EP, FlowKind.DP, FlowKind.PP)}
    assert {kind.name: int(rows.sum()) for kind, rows in of_kind.items()} == {"EP": 16, "DP": 16, "PP": 16}
    pairs = set(zip(made.flow_src[of_kind[FlowKind.EP]].tolist(), made.flow_dst[of_kind[FlowKind.EP]].tolist(), strict=True))
    assert (0, 2) in pairs and (8, 10) in pairs and (0, 1) not in pairs
    assert set(made.flow_bytes[of_kind[FlowKind.EP]].tolist()) == {32} and set(made.flow_bytes[of_kind[FlowKind.DP]].tolist()) == {16}
    assert "l forward all-to-all, EP group 0" in made.collective_name


def test_groups_of_one_and_zero_bytes():
    assert dag(layer(fwd_comm="ALLREDUCE 8", wg_comm="ALLREDUCE 8")).n_flows == 0
    made = dag(layer(fwd_comm="ALLREDUCE 0"), tp=2, gpus=2)
    assert made.flow_bytes.tolist() == [0] * 4


def test_sizes_are_counted_without_building():
    found = work(layer(fwd_comm="ALLREDUCE 8", wg_comm="ALLREDUCE 8", update=3), tp=2, pp=2, ga=2, gpus=8, pp_comm=9)
    into, counted = Work(), Tally()
    build(found, Plan(), into)
    build(found, Plan(), counted)
    made = into.dag(8)
    assert (counted.n_tasks, counted.n_flows) == (made.n_tasks, made.n_flows)
    assert expected_nodes(found, False) == pytest.approx(made.n_nodes, rel=0.3)
    assert np.isin(made.task_kind, (TaskKind.FORWARD, TaskKind.BACKWARD, TaskKind.WEIGHT, TaskKind.OPTIMIZER, TaskKind.WAIT)).all()


def test_too_many_micro_batches_are_refused_with_the_number():
    found = work(layer(fwd_comm="ALLREDUCE 8"), tp=8, ga=1_000_000, gpus=1024)
    with pytest.raises(ScenarioError, match="makes 19,456,001,024 tasks and messages; at most 12,000,000"):
        build(found, Plan(), Work())


@pytest.mark.parametrize("layers", [[layer()] * 3, [layer(fwd_comm="ALLREDUCE 8"), layer(), layer(ig_comm="ALLGATHER 8", wg_comm="ALLREDUCE 16", update=5)]])
def test_merged_compute_takes_the_same_time(monkeypatch, layers):
    def run():
        return dag(*layers, tp=2, pp=2, ga=5, gpus=8, pp_comm=9)

    whole = run()
    monkeypatch.setattr("sim.workload.program_simai.MERGE_FROM", 0)
    merged = run()
    assert merged.n_tasks < whole.n_tasks and sorted(merged.flow_bytes.tolist()) == sorted(whole.flow_bytes.tolist())
    assert length_ns(merged, flow_ns=7, ack_ns=1) == length_ns(whole, flow_ns=7, ack_ns=1)
    assert merged.task_duration_ps.sum() == whole.task_duration_ps.sum()


def test_32_768_micro_batches():
    made = dag(*[layer(wg_comm="ALLREDUCE 8")] * 20, pp=2, ga=32_768, gpus=4)
    assert made.n_tasks < 6 * 32_768 * 4 and int(made.task_microbatch.max()) == 32_767
