"""What collectives that go server by server become where the ranks of a group do not sit so: straight ways and plain rings."""

import numpy as np

from sim.scenario import Scenario
from sim.scenario_collective import BY_SERVER
from sim.workload.jobs import jobs_of, strategy_of
from sim.workload.placement import place
from sim.workload.seat import by_server, members_per_node
from sim.workload.strategy import Strategy


def fallback_notices(scenario: Scenario) -> list[str]:
    """One line for every algorithm of a job that the places of its ranks turn into another."""
    if scenario.model is None:
        return []
    said, per_node = [], scenario.cluster.gpus_per_node
    for number, (_, parallelism, first_gpu, gpus, _) in enumerate(jobs_of(scenario)):
        strategy, where = strategy_of(parallelism), f"jobs.{number - 1}.parallelism" if number else "parallelism"
        host = place(strategy, gpus, per_node, scenario.simulation.seed, first_gpu)
        tokens, gradients = strategy.expert_algorithm, strategy.gradient_algorithm
        if tokens in BY_SERVER and strategy.ep > 1 and (why := _unseated(strategy, strategy.expert_groups, host, per_node)):
            said.append(f"{where}.expert_algorithm = {tokens!r} sends tokens straight to their experts: {why} expert-parallel groups")
        if gradients not in BY_SERVER:
            continue
        for of, groups in (("", strategy.data_groups), (" of experts", strategy.expert_data_groups))[: 1 + (strategy.ep > 1)]:
            if why := _unseated(strategy, groups, host, per_node):
                said.append(f"{where}.gradient_algorithm = {gradients!r} sends gradients{of} around plain rings: {why} data-parallel groups")
    return said


def _unseated(strategy: Strategy, groups_of, host: np.ndarray, gpus_per_node: int) -> str | None:
    """Why the groups of some stage cannot go server by server; None if all can, or have nothing to send."""
    for stage in range(strategy.pp):
        groups = by_server(groups_of(stage), host, gpus_per_node)
        if groups.shape[1] > 1 and members_per_node(groups, host, gpus_per_node) == 1:
            server = host[groups] // gpus_per_node
            alone = (np.diff(server, axis=1) != 0).all()
            return "no server holds two members of its" if alone else "servers hold unequally many members of its"
    return None
