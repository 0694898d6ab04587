"""One training iteration as a graph: the streams of all ranks and the messages between them."""

from dataclasses import dataclass, replace

import numpy as np

from sim.catalogue.gpus import Gpu
from sim.workload import context, experts, gradients, pipeline, sharded, tensor
from sim.workload.blocks import TaskKind
from sim.workload.collect import Tally, Work
from sim.workload.dag import Dag
from sim.workload.passes import Maker
from sim.workload.placement import place
from sim.workload.seat import Seat
from sim.workload.stage import Stream, merges_layers, stream, tasks_of
from sim.workload.strategy import Strategy, check_strategy
from sim.workload.timing import durations, optimizer_ps
from sim.workload.transformer import Shape, stage_expert_parameters, stage_parameters


@dataclass(frozen=True)
class Machine:
    """What an iteration runs on."""

    gpu: Gpu
    nvlink_bps: int
    gpus: int
    gpus_per_node: int


@dataclass(frozen=True)
class Ends:
    """Node ids of every rank's first task, and of the point at which its iteration is over."""

    first: np.ndarray
    last: np.ndarray


def iteration(shape: Shape, strategy: Strategy, machine: Machine, seed: int = 0) -> Dag:
    """The Dag of one iteration on the first GPUs of a machine."""
    work = Work()
    add_iteration(work, shape, strategy, machine, place(strategy, machine.gpus, machine.gpus_per_node, seed), seed)
    return work.dag(machine.gpus)


def add_iteration(
    work: Work, shape: Shape, strategy: Strategy, machine: Machine, host: np.ndarray, seed: int, *, ends: bool = False, uneven: bool = False
) -> Ends:
    """Add an iteration to `work`.

    Parameters
    ----------
    host : int[ranks], GPU of every rank
    ends : whether every rank waits at its end for the new weights
    uneven : whether equal ranks may take unequal times, so that every all-reduce has to wait for all its peers
    """
    check_strategy(strategy, machine.nvlink_bps, machine.gpus_per_node)
    seats, base = [], work.n_tasks
    for stage, line in enumerate(streams(shape, strategy, machine, ends)):
        ranks = strategy.stage_ranks(stage)
        task = base + np.arange(len(ranks)) * len(line)
        seat = Seat(stage, line, task, host)
        _add_tasks(work, shape, strategy, seat, ranks, seed)
        seats.append(seat)
        base += len(ranks) * len(line)
        node = task[:, None] + np.arange(len(line))
        work.done.add(node[:, :-1], node[:, 1:])
    pipeline.hand_over(work, shape, strategy, seats)
    own_end = int(ends)
    optimizer = [seat.task + len(seat.line) - 1 - own_end for seat in seats]
    meets = ties_stages(shape, strategy)
    summed = [node - meets for node in optimizer]
    for seat, waits, makes in zip(seats, summed, optimizer, strict=True):
        tensor.all_reduce_outputs(work, shape, strategy, seat, machine.gpus_per_node)
        context.exchange_keys(work, shape, strategy, seat, machine.gpus_per_node)
        experts.exchange_tokens(work, shape, strategy, seat, machine.gpus_per_node, seed)
        if strategy.optimizer == "zero-3":
            sharded.exchange(work, shape, strategy, seat, waits, machine.gpus_per_node)
        else:
            gathered = makes + 1 if ends else None
            gradients.exchange(work, shape, strategy, seat, waits, makes, gathered, machine.gpus_per_node)
        tensor.meet(work, strategy, seat, uneven)
    if meets:
        gradients.tied_embedding(work, shape, strategy, seats, summed, optimizer)
    return Ends(np.concatenate([seat.task for seat in seats]), np.concatenate([node + own_end for node in optimizer]))


def ties_stages(shape: Shape, strategy: Strategy) -> bool:
    """Whether first and last stage share an embedding."""
    return shape.tied and strategy.pp > 1


def streams(shape: Shape, strategy: Strategy, machine: Machine, ends: bool = False) -> list[Stream]:
    """The stream of tasks of each pipeline stage."""
    times = durations(shape, strategy, machine.gpu, machine.nvlink_bps, machine.gpus_per_node)
    maker = Maker(shape, strategy, times, tensor_on_network=strategy.tp > 1 and not times.tensor_bytes)
    made = []
    for stage in range(strategy.pp):
        own = stage_parameters(shape, strategy.tp, strategy.pp, stage, strategy.chunks)
        routed = stage_expert_parameters(shape, strategy.tp, strategy.pp, strategy.ep, stage, strategy.chunks) if shape.experts else 0
        step_ps = optimizer_ps(own, routed, strategy, machine.gpu)
        line = stream(maker, stage, step_ps, merges_layers(shape, strategy), strategy.optimizer == "zero-3", ties_stages(shape, strategy))
        made.append(_with_end(line) if ends else line)
    return made


def _with_end(line: Stream) -> Stream:
    added = {"kind": TaskKind.WAIT, "duration_ps": 0, "n_bytes": 0, "layer": -1, "microbatch": -1, "by_experts": False}
    return replace(line, **{name: np.append(getattr(line, name), value) for name, value in added.items()})


def _add_tasks(work: Work, shape: Shape, strategy: Strategy, seat: Seat, ranks: np.ndarray, seed: int) -> None:
    if isinstance(work, Tally):
        work.n_tasks += len(ranks) * len(seat.line)
        return
    tasks = tasks_of(seat.line, seat.host[ranks])
    if strategy.ep > 1 and (strategy.expert_skew > 0 or strategy.capacity_factor is not None):
        scale = experts.load_of_ranks(shape, strategy, seat, seed)
        tasks.duration_ps[:] = np.rint(tasks.duration_ps * scale.ravel()).astype(np.int64)
    work.add_tasks(tasks)
