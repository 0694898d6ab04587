"""Chakra execution traces as a graph of tasks and messages.

A compute node is a task that lasts as long as the trace says, one at a time on a rank's GPU and on its CPU. A send begins when its
dependencies are done, whether the receive has been posted or not, and is done when the last ACK is back; a receive when its data have
arrived. A collective begins on a rank when that rank enters it, and after the one before of its process group; it is done there when
all its data are there. comm_size is what a rank puts in: of an all-gather the share of one rank, as in ASTRA-sim.
"""

from collections import defaultdict

import numpy as np

from sim.errors import ScenarioError
from sim.workload.blocks import FlowKind, Flows, TaskKind, Tasks
from sim.workload.collect import Work
from sim.workload.collective.template import instantiate
from sim.workload.program_chakra_match import Matched, match
from sim.workload.program_chakra_order import compute_order
from sim.workload.program_chakra_work import COLLECTIVES, COMPUTE, SEND, ChakraWork, short
from sim.workload.program_collectives import Plan, extent, template
from sim.workload.program_messages import add_messages

MAX_NODES = 12_000_000  # tasks and messages: about 4 GB


def build(work: ChakraWork, plan: Plan, into: Work) -> None:
    """Add the graph to `into`; ScenarioError for a deadlock, or where ranks do not agree."""
    matched = match(work)
    order = compute_order(work, matched)
    sizes = [extent(plan, members) for members in work.members]
    _check_size(work, matched, plan, sizes)
    node = into.add_tasks(_tasks(work))
    begins, ends = node, node.copy()  # of each trace node: what waits for its dependencies, what its dependants wait for
    entries = [one for row in matched.entries for one in row]
    ends[entries] = into.add_tasks(_waits(work, entries))
    flow = np.full(len(node), -1)
    if len(matched.send):
        flow[matched.send] = add_messages(into, FlowKind.PROGRAM, _messages(work, matched))
        into.done.add(begins[matched.send], flow[matched.send])
        into.done.add(flow[matched.send], begins[matched.receive])
    waits = np.repeat(np.arange(len(node)), work.n_deps)
    sent = work.kind[work.deps] == SEND
    into.done.add(ends[work.deps[~sent]], begins[waits[~sent]])
    into.acked.add(flow[work.deps[sent]], begins[waits[sent]])
    for taken in order:
        into.done.add(node[taken[:-1]], node[taken[1:]])
    _collectives(work, matched, plan, sizes, begins, ends, into)


def _check_size(work: ChakraWork, matched: Matched, plan: Plan, sizes: list[tuple]) -> None:
    size = len(work.kind)
    for row in matched.entries:
        size += len(template(plan, COLLECTIVES[work.collective[row[0]]], sizes[work.group[row[0]]])) if len(row) > 1 else 0
    if size > MAX_NODES:
        raise ScenarioError(f"program: these traces make {size:,} tasks and messages; at most {MAX_NODES:,} are simulated: fewer ranks or nodes fit")


def _tasks(work: ChakraWork) -> Tasks:
    n = len(work.kind)
    none = np.full(n, -1, np.int16)
    timed = (work.kind == COMPUTE) & (work.duration_ps > 0)
    kind = np.where(timed, TaskKind.PROGRAM, TaskKind.WAIT).astype(np.int8)
    return Tasks(work.rank.astype(np.int32), kind, np.where(timed, work.duration_ps, 0), np.zeros(n, np.int64), none, none)


def _waits(work: ChakraWork, nodes: list[int]) -> Tasks:
    n = len(nodes)
    none = np.full(n, -1, np.int16)
    return Tasks(work.rank[nodes].astype(np.int32), np.full(n, TaskKind.WAIT, np.int8), np.zeros(n, np.int64), np.zeros(n, np.int64), none, none)


def _messages(work: ChakraWork, matched: Matched) -> Flows:
    src = work.rank[matched.send]
    return Flows.of(src, work.peer[matched.send], work.n_bytes[matched.send], FlowKind.PROGRAM, draw_key=0)


def _collectives(
    work: ChakraWork, matched: Matched, plan: Plan, sizes: list[tuple], begins: np.ndarray, ends: np.ndarray, into: Work
) -> None:
    """Messages of all collectives, those of equal templates at once."""
    alike: dict[tuple, list[int]] = defaultdict(list)
    for index, row in enumerate(matched.entries):
        if matched.before[index] >= 0:
            into.done.add(ends[matched.entries[matched.before[index]]], begins[row])
        if len(row) == 1:
            into.done.add(begins[row], ends[row])
        else:
            alike[int(work.collective[row[0]]), sizes[work.group[row[0]]]].append(index)
    for (collective, size), indices in alike.items():
        shape = template(plan, COLLECTIVES[collective], size)
        rows = np.array([_from_root(work, matched.entries[index]) for index in indices])
        elements = work.n_bytes[rows[:, 0]] * (shape.n if COLLECTIVES[collective] == "all-gather" else 1)
        words = [_name(work, row[0]) for row in rows.tolist()]
        placed = instantiate(
            into, shape, work.rank[rows], np.zeros(1, np.int64), 1, FlowKind.PROGRAM, ready=begins[rows][None],
            names=lambda series, group, words=words: words[group], sizes=shape.message_bytes(elements, 1)[None],
        )  # fmt: skip
        placed.finish(into, ends[rows][None])


def _from_root(work: ChakraWork, row: list[int]) -> list[int]:
    """The entries of a collective, that of a broadcast's root first."""
    root = int(work.peer[row[0]])
    members = work.members[work.group[row[0]]]
    turn = members.index(root) if root in members else 0
    return row[turn:] + row[:turn]


def _name(work: ChakraWork, node: int) -> str:
    group = short(work.groups[work.group[node]])
    return f"{COLLECTIVES[work.collective[node]]} {short(work.names[node])}" + (f", group {group}" if group else "")
