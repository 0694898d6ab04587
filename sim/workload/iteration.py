"""One training iteration of a dense GPT as a Dag: the streams of all ranks and the messages between them."""

import numpy as np

from sim.catalogue.gpus import Gpu
from sim.workload import gradients, pipeline
from sim.workload.blocks import Edges, Flows, Tasks
from sim.workload.dag import Dag, assemble
from sim.workload.placement import place
from sim.workload.stage import Stream, merges_layers, stream, tasks_of
from sim.workload.strategy import Strategy, check_strategy
from sim.workload.timing import durations, optimizer_ps
from sim.workload.transformer import Shape, stage_parameters


def iteration(shape: Shape, strategy: Strategy, gpu: Gpu, nvlink_bps: int, hosts: int) -> Dag:
    """The Dag of one iteration on `hosts` GPUs."""
    check_strategy(strategy, nvlink_bps)
    place_of = place(strategy.world, hosts)
    lines = streams(shape, strategy, gpu, nvlink_bps)
    tasks, task = _tasks(strategy, lines)
    done = Edges()
    for line, first in zip(lines, task):
        node = first[:, None] + np.arange(len(line))
        done.add(node[:, :-1], node[:, 1:])

    blocks, names = [], []

    def first_node() -> int:
        return len(tasks) + sum(len(block) for block in blocks)

    blocks.append(pipeline.hand_over(shape, strategy, lines, task, place_of, first_node(), done))
    last_of_pass = [first + len(line) - 2 for line, first in zip(lines, task)]
    if strategy.dp > 1:
        for stage, (line, first) in enumerate(zip(lines, task)):
            swap = gradients.exchange(shape, strategy, stage, line, first, place_of, first_node(), len(names), done)
            blocks.append(swap.flows)
            names += swap.collective_name
            last_of_pass[stage] = swap.summed[-1]
    if strategy.pp > 1:
        optimizer = [first + len(line) - 1 for line, first in zip(lines, task)]
        flows, more = gradients.tied_embedding(
            shape, strategy, (last_of_pass[0], last_of_pass[-1]), (optimizer[0], optimizer[-1]), place_of, first_node(), len(names), done
        )
        blocks.append(flows)
        names += more
    return assemble(tasks, Flows.join(blocks), done, Edges(), tuple(names), strategy.world)


def streams(shape: Shape, strategy: Strategy, gpu: Gpu, nvlink_bps: int) -> list[Stream]:
    """The stream of tasks of each pipeline stage."""
    times = durations(shape, strategy, gpu, nvlink_bps)
    merge = merges_layers(shape, strategy)
    return [
        stream(shape, strategy, stage, times, optimizer_ps(stage_parameters(shape, strategy.tp, strategy.pp, stage), strategy, gpu), merge)
        for stage in range(strategy.pp)
    ]


def _tasks(strategy: Strategy, lines: list[Stream]) -> tuple[Tasks, list[np.ndarray]]:
    """All tasks, rank by rank, and per stage int64[ranks of the stage]: the node id of each rank's first."""
    blocks, task, base = [], [], 0
    for stage, line in enumerate(lines):
        ranks = strategy.stage_ranks(stage)
        blocks.append(tasks_of(line, ranks))
        task.append(base + np.arange(len(ranks)) * len(line))
        base += len(blocks[-1])
    return Tasks.join(blocks), task
