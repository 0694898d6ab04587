"""Collectives without a model around them: what traffic pattern "collective" asks for, as a graph and as counts."""

from dataclasses import replace

import numpy as np

from sim.errors import ScenarioError
from sim.scenario import Cluster, Scenario, Traffic
from sim.scenario_collective import Members, members
from sim.units import bps_from_gbps, show_count
from sim.workload.blocks import FLOW_BASE, FlowKind, TaskKind
from sim.workload.collect import Work
from sim.workload.collective import nvls
from sim.workload.collective.load import Load, load
from sim.workload.collective.registry import template
from sim.workload.collective.template import Template, instantiate, tasks_on
from sim.workload.limits import MAX_MESSAGES

SENDERS_MAX = 128  # of a collective whose members are all alike, some stand for all where messages are counted


def name_of(traffic: Traffic, index: int) -> str:
    """What the index-th of the repeated collectives is called."""
    return f"{traffic.collective}, {traffic.algorithm}" + (f", number {index + 1}" if traffic.repeat > 1 else "")


def add_collectives(work: Work, scenario: Scenario) -> None:
    """All repeats, each an iteration of its own; a member begins one when it is done with the one before."""
    traffic, cluster = scenario.traffic, scenario.cluster
    counted_load(scenario)
    who = members(traffic, cluster)
    hosts = np.array(who.gpus)
    plan = template(traffic.collective, traffic.algorithm, len(hosts), who.local, traffic.chunks, traffic.channels)
    one, node = _one(traffic, cluster, who, plan)
    tasks, flows = one.tasks(), one.flows()
    last, own = node[plan.last_message], np.flatnonzero(plan.own)
    done = last
    for index in range(traffic.repeat):
        waits = tasks_on(work, hosts, TaskKind.WAIT, iteration=index) if index else None
        if index:
            work.done.add(done, waits[plan.last_member])
        first_flow = work.n_flows
        first_task = work.add_parts(
            replace(tasks, iteration=np.full(len(tasks), index, np.int16)),
            replace(flows, iteration=np.full(len(flows), index, np.int16), collective=np.zeros(len(flows), np.int32)), one,
        )  # fmt: skip
        work.name([name_of(traffic, index)])
        if index:
            work.done.add(waits[plan.src[own]], _moved(node[own], first_task, first_flow))
        done = _moved(last, first_task, first_flow)


def _one(traffic: Traffic, cluster: Cluster, who: Members, plan: Template) -> tuple[Work, np.ndarray]:
    """One collective by itself, and int64[M]: the node id of each row of its template."""
    one = Work()
    placed = instantiate(
        one, plan, np.array(who.gpus)[None], np.array([traffic.collective_bytes]), 1, FlowKind.COLLECTIVE,
        switch_ps=nvls.switch_ps(len(who.of_server), who.local, bps_from_gbps(cluster.nvlink_gbps), traffic.chunks) if traffic.algorithm == "nvls" else None,
    )  # fmt: skip
    return one, placed.node[0, 0]


def _moved(node: np.ndarray, first_task: int, first_flow: int) -> np.ndarray:
    return node + np.where(node >= FLOW_BASE, first_flow, first_task)


def counted_load(scenario: Scenario, senders: int | None = None) -> Load:
    """What one of the collectives sends, members by number; ScenarioError if all together are more than a graph can hold."""
    traffic = scenario.traffic
    who = members(traffic, scenario.cluster)
    found = load(traffic.collective, traffic.algorithm, len(who.gpus), who.local, traffic.chunks, traffic.channels, senders)
    messages = found.messages * traffic.repeat
    if messages > MAX_MESSAGES:
        raise ScenarioError(
            f"traffic.repeat = {traffic.repeat} x {show_count(found.messages)} messages of this {traffic.collective} are {show_count(messages)}: must be at "
            f"most {show_count(MAX_MESSAGES)}; use fewer repeats, chunks or channels, or another traffic.algorithm"
        )
    return found


def task_count(scenario: Scenario, found: Load) -> int:
    """Tasks of all repeats: those of the algorithm, and a wait of every member between two."""
    traffic = scenario.traffic
    return found.tasks * traffic.repeat + len(members(traffic, scenario.cluster).gpus) * (traffic.repeat - 1)
