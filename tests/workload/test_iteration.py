"""Whole iterations: counts, bytes, causality and the pipeline bubble."""

import numpy as np
import pytest

from sim.catalogue.gpus import GPUS
from sim.catalogue.models import MODELS
from sim.workload.blocks import FlowKind, TaskKind
from sim.workload.bytes import sent_bytes
from sim.workload.collect import Tally
from sim.workload.iteration import Machine, add_iteration, iteration
from sim.workload.placement import place
from sim.workload.strategy import Strategy
from sim.workload.transformer import Shape
from tests.workload.tiny_player import play

NVLINK_BPS = 3600 * 10**9
TINY = Shape(layers=8, hidden=1024, heads=8, ffn_hidden=4096, vocabulary=1000, sequence=128)


def shape(name):
    row = MODELS[name]
    return Shape(row.layers, row.hidden, row.heads, row.ffn_hidden, row.vocabulary, 2048)


def machine(gpus, gpus_per_node=8):
    return Machine(GPUS["H100-SXM"], NVLINK_BPS, gpus, gpus_per_node)


def build(s, strategy):
    dag = iteration(s, strategy, machine(strategy.world))
    dag.validate()
    return dag


def counted(s, strategy):
    work = Tally()
    add_iteration(work, s, strategy, machine(strategy.world), place(strategy, strategy.world, 8, 0), 0)
    return work


SIZES = [
    ("gpt-7b", Strategy(8, 2, 4, micro_batches=2), 4_864, 4_800),
    ("gpt-13b", Strategy(8, 2, 8, micro_batches=2), 38_144, 10_624),
    ("gpt-22b", Strategy(8, 4, 8, micro_batches=4), 64_512, 25_344),
    ("gpt-175b", Strategy(8, 16, 8, micro_batches=16), 521_984, 199_680),
]


@pytest.mark.parametrize(("name", "strategy", "flows", "compute_tasks"), SIZES)
def test_known_flow_counts(name, strategy, flows, compute_tasks):
    dag = build(shape(name), strategy)
    assert dag.n_flows == flows
    # the known count has three tasks a rank beyond its layers; here they are the head's two per
    # micro-batch on the last stage, and the optimizer
    layers = compute_tasks - 3 * strategy.world
    of_layers = np.isin(dag.task_kind, [TaskKind.FORWARD, TaskKind.BACKWARD]) & (dag.task_layer < shape(name).layers)
    assert of_layers.sum() == layers == (dag.task_kind == TaskKind.TP).sum()
    assert (dag.task_kind == TaskKind.OPTIMIZER).sum() == strategy.world


STRATEGIES = [
    Strategy(1, 1, 1),
    Strategy(2, 1, 1, micro_batches=3),
    Strategy(1, 1, 4, bucket_parameters=5_000_000),
    Strategy(1, 1, 4, bucket_parameters=5_000_000, optimizer="all-reduce"),
    Strategy(2, 2, 2, micro_batches=3, bucket_parameters=5_000_000),
    Strategy(2, 4, 2, micro_batches=2, optimizer="all-reduce", bucket_parameters=5_000_000),
    Strategy(4, 2, 3, micro_batch=2, micro_batches=5),
    Strategy(1, 8, 1, micro_batches=4),
]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_counted_without_building(strategy):
    dag, work = build(TINY, strategy), counted(TINY, strategy)
    assert (work.n_tasks, work.n_flows) == (dag.n_tasks, dag.n_flows)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_bytes_per_rank_and_kind_in_closed_form(strategy):
    dag = build(TINY, strategy)
    check_bytes(dag, TINY, strategy)


@pytest.mark.parametrize(("name", "strategy"), [row[:2] for row in SIZES[:2]])
def test_bytes_of_real_models(name, strategy):
    check_bytes(build(shape(name), strategy), shape(name), strategy)


def check_bytes(dag, s, strategy):
    for row in sent_bytes(s, strategy):
        if row.kind == "TP":
            sent = np.bincount(dag.task_rank, dag.task_bytes, minlength=strategy.world)
        else:
            of_kind = dag.flow_kind == FlowKind[row.kind]
            sent = np.bincount(dag.flow_src[of_kind], dag.flow_bytes[of_kind], minlength=strategy.world)
        per_rank = sent[strategy.stage_ranks(row.stage)]
        assert per_rank == pytest.approx(row.sent_bytes, rel=1e-4), row


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_node_is_reached_and_ranks_work_one_task_at_a_time(strategy):
    dag = build(TINY, strategy)
    start, end, _ = play(dag, flow_ps=lambda n_bytes: n_bytes * 20, ack_ps=1000)
    for rank in range(strategy.world):
        mine = np.flatnonzero(dag.task_rank == rank)
        assert (start[mine][1:] >= end[mine][:-1]).all()


@pytest.mark.parametrize(("pp", "micro_batches"), [(2, 2), (4, 4), (4, 12), (8, 8), (4, 2)])
def test_bubble_on_a_network_that_takes_no_time(pp, micro_batches):
    """1F1B idles (p - 1)/m of the work of a stage (arXiv 2104.04473 section 2.2.1); the head weighs nothing here."""
    s = Shape(layers=8, hidden=1024, heads=8, ffn_hidden=4096, vocabulary=1, sequence=2048)
    strategy = Strategy(1, pp, 1, micro_batches=micro_batches)
    dag = build(s, strategy)
    _, end, _ = play(dag)
    is_work = np.isin(dag.task_kind, [TaskKind.FORWARD, TaskKind.BACKWARD])
    work = dag.task_duration_ps[is_work & (dag.task_rank == 0)].sum()
    finish = end[: dag.n_tasks][is_work].max()
    assert finish / work - 1 == pytest.approx((pp - 1) / micro_batches, rel=1e-2)


def test_gradients_overlap_only_the_last_backward_pass():
    strategy = Strategy(1, 1, 4, micro_batches=3, bucket_parameters=5_000_000)
    dag = build(TINY, strategy)
    start, end, _ = play(dag)
    first_sum = start[dag.n_tasks :][dag.flow_kind == FlowKind.DP].min()
    backward = (dag.task_kind == TaskKind.BACKWARD) & (dag.task_microbatch == 2)
    last = end[: dag.n_tasks][backward]
    assert last.min() < first_sum < last.max()
    assert first_sum == end[: dag.n_tasks][backward & (dag.task_layer == 7)].min(), (
        "5 M parameters are within the last layer"
    )


def test_optimizer_waits_for_all_sums_and_the_gathers_for_it():
    strategy = Strategy(1, 1, 4, bucket_parameters=5_000_000)
    dag = build(TINY, strategy)
    start, end, _ = play(dag, flow_ps=lambda n_bytes: n_bytes * 20)
    gather = np.array(["all-gather" in dag.collective_name[c] for c in dag.flow_collective])
    flows = np.arange(dag.n_flows) + dag.n_tasks
    optimizer = np.flatnonzero(dag.task_kind == TaskKind.OPTIMIZER)
    assert start[optimizer].min() >= end[flows[~gather]].max()
    assert start[flows[gather]].min() >= end[optimizer].min()


def test_a_late_rank_sends_nothing_that_it_has_not_got():
    """No flow of a reduction leaves a rank before its own gradients are there, even when its neighbours are ahead."""
    strategy = Strategy(1, 1, 4, bucket_parameters=5_000_000)
    dag = build(TINY, strategy)
    late = dag.task_rank == 2
    dag.task_duration_ps[late] *= 10
    start, end, _ = play(dag)
    reduce = np.array(["reduce-scatter" in dag.collective_name[c] for c in dag.flow_collective])
    from_late = np.flatnonzero(reduce & (dag.flow_src == 2)) + dag.n_tasks
    first_gradient = end[: dag.n_tasks][late & (dag.task_kind == TaskKind.BACKWARD) & (dag.task_layer == 7)].min()
    assert start[from_late].min() >= first_gradient


def test_tensor_ranks_meet_in_the_first_all_reduce_after_a_message():
    strategy = Strategy(4, 2, 1)
    dag = build(TINY, strategy)
    n_bytes = dag.flow_bytes.copy()
    slow = np.flatnonzero((dag.flow_kind == FlowKind.PP) & (dag.flow_src == 1))[0]
    n_bytes[slow] *= 1000
    dag.flow_bytes[:] = n_bytes
    start, end, _ = play(dag, flow_ps=lambda size: size)
    first_all_reduce = [np.flatnonzero((dag.task_rank == rank) & (dag.task_kind == TaskKind.TP))[0] for rank in range(4, 8)]
    assert len(set(start[first_all_reduce])) == 1


def test_pipeline_messages_join_equal_positions_of_neighbouring_stages():
    strategy = Strategy(2, 3, 2, micro_batches=4)
    dag = build(Shape(6, 1024, 8, 4096, 1000, 128), strategy)
    pp = dag.flow_kind == FlowKind.PP
    assert (abs(dag.flow_src[pp] - dag.flow_dst[pp]) == 4).all()
    assert (dag.flow_bytes[pp] == 2 * 128 * 1024 // 2).all()
    assert np.bincount(dag.flow_microbatch[pp]).tolist() == [2 * 2 * 4] * 4
    assert np.array_equal(dag.flow_draw_key[pp], np.where(dag.flow_src[pp] < dag.flow_dst[pp], 1, 2)), (
        "twins of other replicas and ranks draw alike"
    )


def test_more_hosts_than_ranks_are_idle():
    dag = iteration(TINY, Strategy(1, 1, 2), machine(8))
    assert dag.n_ranks == 8 and dag.task_rank.max() == 1


def test_long_gradient_accumulation_stays_small():
    strategy = Strategy(1, 2, 1, micro_batches=32_768)
    dag = build(Shape(96, 1024, 8, 4096, 1000, 128), strategy)
    assert dag.n_tasks == counted(Shape(96, 1024, 8, 4096, 1000, 128), strategy).n_tasks < 300_000
    assert dag.task_microbatch.max() == 32_767
