"""All that a scenario with a model runs: jobs, their iterations, slow and uneven GPUs."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sim.catalogue.gpus import GPUS
from sim.scenario import Cluster, Model, Parallelism, Scenario
from sim.units import bps_from_gbps, ps_from_us
from sim.workload.background import add_background
from sim.workload.blocks import TaskKind, Tasks
from sim.workload.collect import Tally, Work
from sim.workload.iteration import Machine, add_iteration
from sim.workload.limits import check_counts, check_size, check_time
from sim.workload.placement import place
from sim.workload.program import add_program
from sim.workload.seat import gradient_channels
from sim.workload.strategy import Strategy, check_strategy
from sim.workload.timing import durations
from sim.workload.transformer import Shape

SIGMAS_OF_JITTER = 8  # beyond what a billion draws from a normal law exceed
COMPUTE = (TaskKind.FORWARD, TaskKind.BACKWARD, TaskKind.WEIGHT, TaskKind.RECOMPUTE)


def shape_of(model: Model) -> Shape:
    """The transformer that a scenario's model section describes."""
    return Shape(
        model.layers, model.hidden, model.heads, model.ffn_hidden, model.vocabulary, model.sequence,
        kv_heads=model.kv_heads, head_dim=model.head_dim, gated=model.gated, biased=model.biased, tied=model.tied_embeddings,
        experts=model.experts, top_k=model.top_k, expert_ffn=model.expert_ffn, shared_experts=model.shared_experts,
        dense_layers=model.dense_layers, latent=tuple(model.latent),
    )  # fmt: skip


def strategy_of(parallelism: Parallelism) -> Strategy:
    """The strategy that a scenario's parallelism section describes."""
    p = parallelism
    return Strategy(
        tp=p.tp, pp=p.pp, dp=p.dp, cp=p.cp, ep=p.ep, chunks=p.virtual_stages, schedule=p.schedule, sequence_parallel=p.sequence_parallel,
        recompute=p.recompute, micro_batch=p.micro_batch, micro_batches=p.micro_batches, optimizer=p.optimizer, overlap=p.overlap_gradients,
        bucket_parameters=p.bucket_parameters, gradient_algorithm=p.gradient_algorithm, channels=p.channels, context_form=p.context_form,
        expert_algorithm=p.expert_algorithm, expert_skew=p.expert_skew, capacity_factor=p.capacity_factor, placement=p.placement,
        precision=p.precision, efficiency=p.efficiency,
    )  # fmt: skip


def machine_of(cluster: Cluster) -> Machine:
    """What a scenario's jobs run on."""
    return Machine(GPUS[cluster.gpu], bps_from_gbps(cluster.nvlink_gbps), cluster.gpus, cluster.gpus_per_node)


def jobs_of(scenario: Scenario) -> Iterator[tuple[Model, Parallelism, int, int, float]]:
    """(model, parallelism, first GPU, GPUs, start_us) of every job."""
    own = scenario.parallelism
    yield scenario.model, own, 0, scenario.cluster.gpus if not scenario.jobs else own.gpus, 0.0
    for job in scenario.jobs:
        yield job.model, job.parallelism, job.first_gpu, job.gpus, job.start_us


def add_jobs(work: Work, scenario: Scenario) -> None:
    """All jobs of a scenario."""
    seed, machine = scenario.simulation.seed, machine_of(scenario.cluster)
    speed = np.ones(scenario.cluster.gpus)
    for one in scenario.stragglers:
        speed[one.gpu] = one.speed
    for number, (model, parallelism, first_gpu, gpus, start_us) in enumerate(jobs_of(scenario)):
        strategy = strategy_of(parallelism)
        host = place(strategy, gpus, scenario.cluster.gpus_per_node, seed, first_gpu)
        uneven = parallelism.compute_jitter > 0 or bool((speed[host] < 1).any())
        _add_job(work, shape_of(model), strategy, machine, host, seed, number, parallelism, ps_from_us(start_us), uneven, speed)


def _add_job(work, shape, strategy, machine, host, seed, number, parallelism, start_ps, uneven, speed) -> None:
    times, jitter = parallelism.iterations, parallelism.compute_jitter
    check_strategy(strategy, machine.nvlink_bps, machine.gpus_per_node)
    check_size(shape, strategy, times, gradient_channels(strategy, host, machine.gpus_per_node, experts=shape.experts > 0))
    slowdown = (1 + SIGMAS_OF_JITTER * jitter) / speed[host].min()
    check_time(shape, strategy, durations(shape, strategy, machine.gpu, machine.nvlink_bps, machine.gpus_per_node), times, slowdown)
    counting = isinstance(work, Tally)
    one = Tally() if counting else Work()
    ends = add_iteration(one, shape, strategy, machine, host, seed, ends=times > 1 or start_ps > 0, uneven=uneven)
    check_counts(work.n_flows + one.n_flows * times, work.n_tasks + one.n_tasks * times)
    if counting:
        work.n_tasks += one.n_tasks * times + (start_ps > 0)
        work.n_flows += one.n_flows * times
        work.counted += one.counted * times
        return
    start = None
    if start_ps:
        start = work.add_tasks(_pause(host[0], start_ps, number))
    tasks, flows, before = one.tasks(), one.flows(), None
    for index in range(times):
        drawn = _uneven(tasks, speed, jitter, [seed, number, index]) if uneven else tasks.duration_ps
        labels = {"job": np.full(len(tasks), number, np.int16), "iteration": np.full(len(tasks), index, np.int16)}
        of_flows = {"job": np.full(len(flows), number, np.int16), "iteration": np.full(len(flows), index, np.int16)}
        offset = work.add_parts(replace(tasks, duration_ps=drawn, **labels), replace(flows, **of_flows), one)
        first, last = ends.first + offset, ends.last + offset
        if before is not None:
            work.done.add(before, first)
        elif start is not None:
            work.done.add(start, first)
        before = last


def _pause(rank: int, duration_ps: int, job: int) -> Tasks:
    one = np.ones(1, np.int64)
    return Tasks(
        rank=one.astype(np.int32) * int(rank), kind=one.astype(np.int8) * int(TaskKind.WAIT), duration_ps=one * duration_ps, n_bytes=one - 1,
        layer=-one.astype(np.int16), microbatch=-one.astype(np.int16), job=one.astype(np.int16) * job,
    )  # fmt: skip


def _uneven(tasks: Tasks, speed: np.ndarray, jitter: float, seed: list[int]) -> np.ndarray:
    """int64[T]: durations of slow GPUs and with a normal jitter of arithmetic, never below a tenth of the mean."""
    scale = 1 / speed[tasks.rank]
    if jitter:
        scale *= np.maximum(1 + jitter * np.random.default_rng(seed).standard_normal(len(tasks)), 0.1)
    computes = np.isin(tasks.kind, COMPUTE)
    return np.where(computes, np.rint(tasks.duration_ps * scale), tasks.duration_ps).astype(np.int64)


def tally(scenario: Scenario) -> Tally:
    """Everything that jobs or imported work, and background, add to a graph, counted."""
    work = Tally()
    if scenario.program is not None:
        add_program(work, scenario.program)
    elif scenario.traffic is None:
        add_jobs(work, scenario)
    add_background(work, scenario)
    return work
