"""Every parallelism and schedule as graphs: bytes in closed form, bubbles by formula, causality."""

from dataclasses import replace

import numpy as np
import pytest

from sim.catalogue.gpus import GPUS
from sim.scenario import Scenario
from sim.workload import experts
from sim.workload.blocks import FlowKind, TaskKind
from sim.workload.build import build_dag
from sim.workload.bytes import sent_bytes
from sim.workload.collect import Tally
from sim.workload.iteration import Machine, add_iteration, iteration
from sim.workload.placement import place
from sim.workload.strategy import Strategy
from sim.workload.transformer import Shape, stage_layers
from tests.workload.tiny_player import play

DENSE = Shape(8, 1024, 16, 4096, 1000, 128, kv_heads=4, gated=True, biased=False, tied=False)
TIED = replace(DENSE, tied=True)
MIXTURE = Shape(8, 1024, 16, 2048, 1000, 128, kv_heads=4, gated=True, biased=False, tied=False, experts=8, top_k=2, expert_ffn=512, dense_layers=1)
WORK = (TaskKind.FORWARD, TaskKind.BACKWARD, TaskKind.WEIGHT, TaskKind.RECOMPUTE)


def machine(strategy, gpus_per_node=8):
    return Machine(GPUS["H100-SXM"], 3600 * 10**9, strategy.world, gpus_per_node)


CASES = [
    (DENSE, Strategy(2, 1, 2, cp=2), 8),
    (DENSE, Strategy(1, 2, 2, cp=4, context_form="ring", micro_batches=2), 8),
    (DENSE, Strategy(2, 1, 1, cp=2, recompute="full"), 8),
    (DENSE, Strategy(4, 2, 2, micro_batches=3, sequence_parallel=True), 2),
    (DENSE, Strategy(8, 1, 2, recompute="full"), 4),
    (DENSE, Strategy(2, 2, 2, chunks=2, schedule="interleaved", micro_batches=4, bucket_parameters=3_000_000), 8),
    (DENSE, Strategy(1, 4, 2, schedule="zb-h1", micro_batches=6), 8),
    (DENSE, Strategy(1, 4, 1, schedule="gpipe", micro_batches=3), 8),
    (DENSE, Strategy(1, 3, 2, micro_batches=3, bucket_parameters=3_000_000), 8),
    (DENSE, Strategy(1, 3, 2, micro_batches=3, chunks=2, schedule="interleaved"), 8),
    (DENSE, Strategy(2, 1, 4, optimizer="zero-1", bucket_parameters=5_000_000), 8),
    (DENSE, Strategy(1, 1, 4, optimizer="zero-2", micro_batches=3, bucket_parameters=9_000_000), 8),
    (DENSE, Strategy(1, 1, 4, optimizer="zero-3", micro_batches=2), 8),
    (DENSE, Strategy(2, 2, 2, optimizer="zero-3", micro_batches=2), 8),
    (TIED, Strategy(2, 2, 2, optimizer="distributed"), 8),
    (TIED, Strategy(2, 2, 2, optimizer="zero-1"), 8),
    (TIED, Strategy(2, 2, 2, optimizer="zero-3"), 8),
    (MIXTURE, Strategy(1, 1, 8, ep=8), 8),
    (MIXTURE, Strategy(2, 2, 4, ep=2, micro_batches=2, bucket_parameters=3_000_000), 8),
    (MIXTURE, Strategy(1, 2, 4, ep=4, cp=2, micro_batches=2, optimizer="all-reduce"), 8),
    (MIXTURE, Strategy(2, 1, 4, ep=4, recompute="full", micro_batches=2), 8),
    (MIXTURE, Strategy(1, 1, 4, ep=2, optimizer="zero-3"), 8),
    (MIXTURE, Strategy(1, 2, 4, ep=4, schedule="zb-h1", micro_batches=3), 8),
    (MIXTURE, Strategy(1, 2, 4, ep=4, chunks=2, schedule="interleaved", micro_batches=2), 8),
    (MIXTURE, Strategy(1, 1, 4, ep=4, precision="fp8"), 8),
]


@pytest.mark.parametrize(("shape", "strategy", "gpus_per_node"), CASES)
def test_bytes_per_rank_in_closed_form(shape, strategy, gpus_per_node):
    dag = iteration(shape, strategy, machine(strategy, gpus_per_node))
    dag.validate()
    seen = np.zeros(dag.n_flows, bool)
    for row in sent_bytes(shape, strategy, gpus_per_node):
        of_kind = dag.flow_kind == FlowKind[row.kind]
        seen |= of_kind
        if row.kind == "TP" and row.over == "NVLink":
            sent = np.bincount(dag.task_rank, dag.task_bytes, minlength=strategy.world)
        else:
            sent = np.bincount(dag.flow_src[of_kind], dag.flow_bytes[of_kind], minlength=strategy.world)
        assert sent[strategy.stage_ranks(row.stage)] == pytest.approx(row.sent_bytes, rel=1e-4), row
    assert seen.all(), "every flow belongs to a class"


@pytest.mark.parametrize(("shape", "strategy", "gpus_per_node"), CASES)
def test_everything_is_reached_and_counted_beforehand(shape, strategy, gpus_per_node):
    on = machine(strategy, gpus_per_node)
    dag, work = iteration(shape, strategy, on), Tally()
    add_iteration(work, shape, strategy, on, place(strategy, strategy.world, gpus_per_node, 0), 0)
    assert (work.n_tasks, work.n_flows) == (dag.n_tasks, dag.n_flows)
    start, end, _ = play(dag, flow_ps=lambda n_bytes: n_bytes * 20, ack_ps=1000)
    for rank in range(strategy.world):
        mine = np.flatnonzero(dag.task_rank == rank)
        assert (start[mine][1:] >= end[mine][:-1]).all()


@pytest.mark.parametrize(
    ("schedule", "pp", "m", "chunks"),
    [
        ("gpipe", 4, 8, 1), ("1f1b", 4, 4, 1), ("interleaved", 4, 4, 2), ("interleaved", 4, 8, 2), ("interleaved", 2, 6, 4),
        ("zb-h1", 4, 8, 1), ("zb-h1", 8, 8, 1),
    ],
)  # fmt: skip
def test_bubbles_on_a_network_that_takes_no_time(schedule, pp, m, chunks):
    """(p-1)/m; interleaved (p-1)/(vm) (arXiv 2104.04473 section 2.2); ZB-H1 (p-1)(tF + tB - tW) (arXiv 2401.10241 section 2.3)."""
    shape = Shape(8, 1024, 8, 4096, 1, 2048)
    dag = iteration(shape, Strategy(1, pp, 1, schedule=schedule, micro_batches=m, chunks=chunks), machine(Strategy(1, pp, 1)))
    _, end, _ = play(dag)
    work = np.isin(dag.task_kind, WORK)
    first = work & (dag.task_rank == 0)
    busy = dag.task_duration_ps[first].sum()
    bubble = end[: dag.n_tasks][work].max() / busy - 1
    if schedule == "zb-h1":
        forward, backward, weight = (dag.task_duration_ps[first & (dag.task_kind == kind)].sum() / m for kind in WORK[:3])
        assert bubble == pytest.approx((pp - 1) * (forward + backward - weight) / busy, rel=1e-2)
    else:
        assert bubble == pytest.approx((pp - 1) / (m * chunks), rel=1e-2)


def test_expert_groups_do_not_come_from_tensor_groups():
    strategy = Strategy(1, 1, 8, ep=8)
    assert strategy.expert_groups(0).tolist() == [list(range(8))]
    wide = Strategy(2, 1, 4, ep=2)
    assert wide.expert_groups(0).tolist() == [[0, 2], [1, 3], [4, 6], [5, 7]]
    assert wide.expert_data_groups(0).tolist() == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert Strategy(2, 1, 2, cp=2).context_groups(0).tolist() == [[0, 2], [1, 3], [4, 6], [5, 7]]
    assert Strategy(2, 1, 2, cp=2).data_groups(0).tolist() == [[0, 2, 4, 6], [1, 3, 5, 7]]


def test_uneven_experts_change_messages_and_work_but_not_on_average_the_sum():
    even, uneven = Strategy(1, 1, 8, ep=8), Strategy(1, 1, 8, ep=8, expert_skew=0.5)
    flat, skewed = (iteration(MIXTURE, s, machine(s), seed=1) for s in (even, uneven))
    tokens = [dag.flow_bytes[dag.flow_kind == FlowKind.EP] for dag in (flat, skewed)]
    assert len(set(tokens[0])) == 1 < len(set(tokens[1]))
    assert tokens[1].sum() == pytest.approx(tokens[0].sum(), rel=1e-3)
    assert skewed.task_duration_ps.sum() == pytest.approx(flat.task_duration_ps.sum(), rel=1e-6)
    slowest = [dag.task_duration_ps[(dag.task_kind == TaskKind.BACKWARD) & (dag.task_layer % 8 > 0)].max() for dag in (flat, skewed)]
    assert slowest[1] > slowest[0]
    again = iteration(MIXTURE, uneven, machine(uneven), seed=1)
    assert (again.flow_bytes == skewed.flow_bytes).all()
    assert not np.array_equal(iteration(MIXTURE, uneven, machine(uneven), seed=2).flow_bytes, skewed.flow_bytes)


def test_shared_experts_and_the_router_have_all_tokens_however_uneven_the_routed_are():
    shape = replace(MIXTURE, shared_experts=2)
    strategy = Strategy(1, 1, 8, ep=8, expert_skew=1.0)
    dag = iteration(shape, strategy, machine(strategy), seed=1)
    took = dag.task_duration_ps[(dag.task_kind == TaskKind.FORWARD) & (dag.task_layer == 3)].reshape(8, 2)[:, 1]
    load, weights, tokens = experts.loads(shape, strategy, 3, 1), 3 * 1024 * 512, 2 * 128
    flops = tokens * (2 * weights * load + 2 * weights + 1024 * 8)
    assert took == pytest.approx(flops / (0.5 * 989.4e12) * 1e12, rel=1e-5) and load.max() > 1.5


def test_weights_of_uneven_experts_take_uneven_times_where_they_come_apart():
    even, uneven = (Strategy(1, 2, 4, ep=4, schedule="zb-h1", micro_batches=3, expert_skew=skew) for skew in (0.0, 1.0))
    flat, skewed = (iteration(MIXTURE, strategy, machine(strategy), seed=1) for strategy in (even, uneven))
    weights = flat.task_kind == TaskKind.WEIGHT
    changed = flat.task_duration_ps != skewed.task_duration_ps
    routed = weights & changed
    assert len(np.unique(flat.task_layer[routed])) == 7, "all but the dense layer"
    assert routed.sum() == 7 * 3 * 4
    assert skewed.task_duration_ps[weights].sum() == pytest.approx(flat.task_duration_ps[weights].sum(), rel=1e-6)


def test_capacity_cuts_the_load_of_popular_experts():
    free, capped = (Strategy(1, 1, 8, ep=8, expert_skew=1.0, capacity_factor=limit) for limit in (None, 1.25))
    tokens = []
    for strategy in (free, capped):
        dag = iteration(MIXTURE, strategy, machine(strategy))
        tokens.append(dag.flow_bytes[dag.flow_kind == FlowKind.EP])
    mean = 128 * 2 * 1024 * 2 // 8
    assert tokens[1].max() <= 1.25 * mean + 2 < tokens[0].max()
    assert tokens[1].sum() < tokens[0].sum()


@pytest.mark.parametrize(("sequence", "tp"), [(2047, 8), (2050, 4)])
def test_tokens_that_tensor_parallel_ranks_cannot_share_evenly_are_all_sent(sequence, tp):
    """4 all-to-alls of 7 layers, of s/t tokens to 2 experts of 1024 elements of 2 bytes, 3/4 of them elsewhere."""
    strategy = Strategy(tp, 1, 4, ep=4)
    dag = iteration(replace(MIXTURE, sequence=sequence), strategy, machine(strategy))
    sent = np.bincount(dag.flow_src, dag.flow_bytes * (dag.flow_kind == FlowKind.EP))
    assert sent == pytest.approx(np.full(4 * tp, 4 * 7 * sequence / tp * 2 * 1024 * 2 * 3 / 4), rel=1e-6)


def test_context_ring_overlaps_what_gather_waits_for():
    gather, ring = (Strategy(1, 1, 1, cp=4, context_form=form) for form in ("gather", "ring"))
    ends = []
    for strategy in (gather, ring):
        dag = iteration(DENSE, strategy, machine(strategy))
        ends.append(play(dag, flow_ps=lambda n_bytes: n_bytes)[1].max())
    assert ends[1] < ends[0]


def test_gathers_of_sharded_parameters_come_while_the_layer_before_is_at_work():
    strategy = Strategy(1, 1, 4, optimizer="zero-3")
    dag = iteration(DENSE, strategy, machine(strategy))
    start, end, _ = play(dag, flow_ps=lambda n_bytes: n_bytes // 100)
    name = np.array(dag.collective_name)[dag.flow_collective]
    third = np.char.startswith(name, "gather, all layers, layer 3")
    first_gather = start[dag.n_tasks :][third].min()
    of_layer = {layer: (dag.task_layer == layer) & (dag.task_kind == TaskKind.FORWARD) & (dag.task_rank == 0) for layer in (2, 3)}
    assert start[: dag.n_tasks][of_layer[2]][0] <= first_gather < start[: dag.n_tasks][of_layer[3]][0]
    gathers = [index for index, text in enumerate(dag.collective_name) if text.startswith("gather, all layers, layer 3")]
    assert len(gathers) == 2, "once forward, once backward"


@pytest.mark.parametrize("algorithm", ["direct", "pxn", "hierarchical"])
def test_skewed_tokens_reach_the_same_experts_by_every_way(algorithm):
    """Two servers of four: what arrives at a rank from other servers is what its experts draw, however it went."""
    strategy = Strategy(1, 1, 8, ep=8, expert_skew=0.7, expert_algorithm=algorithm)
    dag = iteration(MIXTURE, strategy, machine(strategy, 4), seed=3)
    dispatch = np.char.startswith(np.array(dag.collective_name), "expert dispatch,")[dag.flow_collective] & (dag.flow_kind == FlowKind.EP)
    crosses = dispatch & (dag.flow_src // 4 != dag.flow_dst // 4)
    loads = np.array([experts.loads(MIXTURE, strategy, layer, 3).reshape(2, 4).sum(axis=1) for layer in range(1, 8)]).sum(axis=0)
    into = np.bincount(dag.flow_dst[crosses] // 4, dag.flow_bytes[crosses], minlength=2)
    assert into == pytest.approx(4 * loads * 2 * experts.token_elements(MIXTURE, strategy) / 8, rel=1e-3)


@pytest.mark.parametrize("algorithm", ["direct", "pxn", "hierarchical"])
@pytest.mark.parametrize("placement", ["packed", "spread", "random"])
def test_every_rank_gets_the_load_of_its_own_experts_wherever_it_sits(algorithm, placement):
    """What a rank gets less what it sends, relayed or not, is its load's excess over the mean; of experts as of tasks."""
    strategy = Strategy(1, 1, 8, ep=8, expert_skew=0.7, expert_algorithm=algorithm, placement=placement)
    on, host = machine(strategy, 4), place(strategy, 8, 4, 3)
    dag = iteration(MIXTURE, strategy, on, seed=3)
    name = np.array(dag.collective_name)[dag.flow_collective]
    for layer in range(1, 8):
        mine = np.char.startswith(name, f"expert dispatch, all layers, layer {layer}")
        got, sent = (np.bincount(end[mine], dag.flow_bytes[mine], minlength=8) for end in (dag.flow_dst, dag.flow_src))
        load = experts.loads(MIXTURE, strategy, layer, 3)
        excess = 2 * experts.token_elements(MIXTURE, strategy) * (load - 1)
        assert (got - sent)[host] == pytest.approx(excess, abs=64)
        took = [dag.task_duration_ps[(dag.task_kind == TaskKind.FORWARD) & (dag.task_layer == layer) & (dag.task_rank == gpu)][1] for gpu in host]
        assert np.corrcoef(took, load)[0, 1] > 0.999
    if algorithm != "direct":
        crossing = mine & (dag.flow_src // 4 != dag.flow_dst // 4)
        assert crossing.sum() == 8, "one message to the peer on the other server, not four"
        assert (dag.flow_src[crossing] % 4 == dag.flow_dst[crossing] % 4).all(), "on its rail"


def test_uneven_stages_have_fewer_layers_at_the_ends():
    """126 layers of Llama 3 405B on 16 stages: one less on the first and on the last (arXiv 2407.21783 section 3.3.2)."""
    llama = Shape(126, 8, 1, 8, 8, 8)
    assert [len(stage_layers(llama, 16, stage)) for stage in range(16)] == [7] + [8] * 14 + [7]
    assert [len(stage_layers(DENSE, 3, stage)) for stage in range(3)] == [3, 3, 2]
    assert [stage_layers(DENSE, 3, stage, 2) for stage in range(3)] == [[0, 4, 5], [1, 6], [2, 3, 7]]
    assert sorted(layer for stage in range(3) for layer in stage_layers(DENSE, 3, stage, 2)) == list(range(8))


@pytest.mark.parametrize(
    ("shape", "strategy"),
    [
        (MIXTURE, Strategy(2, 1, 4, ep=4, micro_batches=2)), (MIXTURE, Strategy(2, 2, 2, ep=2, recompute="full", micro_batches=2)),
        (DENSE, Strategy(2, 1, 1, cp=2)), (DENSE, Strategy(2, 1, 2, cp=2, context_form="ring")), (DENSE, Strategy(4, 1, 2, optimizer="zero-3")),
        (DENSE, Strategy(2, 2, 2, micro_batches=3)), (DENSE, Strategy(2, 2, 1, schedule="zb-h1", micro_batches=3)),
        (DENSE, Strategy(2, 2, 1, chunks=2, schedule="interleaved", micro_batches=2)),
    ],
)  # fmt: skip
def test_no_tensor_parallel_all_reduce_begins_before_all_its_peers_have_their_share(shape, strategy):
    dag, rng = iteration(shape, strategy, machine(strategy)), np.random.default_rng(5)
    for slowest in (1e6, 1e9):
        start, end, _ = play(dag, flow_ps=lambda n_bytes, slowest=slowest: int(rng.integers(1, slowest)))
        for group in np.concatenate([strategy.tensor_groups(stage) for stage in range(strategy.pp)]):
            mine = [np.flatnonzero((dag.task_rank == rank) & (dag.task_kind == TaskKind.TP)) for rank in group]
            ready = np.max([end[reduces - 1] for reduces in mine], axis=0)
            assert all((start[reduces] == ready).all() for reduces in mine)


def test_peers_meet_again_where_an_iteration_begins():
    scenario = {
        "cluster": {"topology": "one-switch", "gpus": 8}, "model": {"layers": 2, "hidden": 64, "heads": 4, "vocabulary": 100, "sequence": 64},
        "parallelism": {"tp": 2, "dp": 4, "iterations": 2},
    }  # fmt: skip
    dag, rng = build_dag(Scenario.from_data(scenario)), np.random.default_rng(5)
    start, end, _ = play(dag, flow_ps=lambda n_bytes: int(rng.integers(1, 1e9)))
    second = (dag.task_iteration == 1) & (dag.task_kind == TaskKind.TP)
    first = np.array([np.flatnonzero(second & (dag.task_rank == rank))[0] for rank in range(8)])
    assert (start[first] == np.repeat(end[first - 1].reshape(4, 2).max(axis=1), 2)).all()
    assert len(set(start[first].tolist())) == 4
