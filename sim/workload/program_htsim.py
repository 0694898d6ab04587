"""An htsim connection matrix with triggers as a graph of messages.

A trigger is a task that takes no time: send_done activates it when the last ACK is back at the sender, recv_done when the last byte has
arrived. A oneshot starts all its connections when one that activates it is done, a barrier when as many as it counts are; where more
activate it, the first in the order of the file. Of a multishot the k-th connection that it starts begins when the k-th that activates it
is done, both in the order of the file. htsim takes them in the order in which they end, which only a run can tell.
"""

import numpy as np

from sim.workload.blocks import FlowKind, Flows, TaskKind, Tasks
from sim.workload.collect import Work
from sim.workload.program_htsim_work import KINDS, HtsimWork
from sim.workload.program_messages import add_messages


def build(work: HtsimWork, into: Work) -> None:
    """Add the connections and triggers to `into`."""
    order = np.arange(len(work.src))
    made = Flows.of(work.src, work.dst, work.n_bytes, FlowKind.TRAFFIC, draw_key=order, start_ps=np.where(work.trigger < 0, work.start_ps, 0))
    flow = add_messages(into, FlowKind.TRAFFIC, made)
    task = _trigger_tasks(work, into)
    kind = np.concatenate([work.trigger_kind, [-1]])
    multishot = KINDS.index("multishot")
    source, fired, by_ack = _counting(work)
    for edges, own in ((into.acked, by_ack), (into.done, ~by_ack)):
        edges.add(flow[source[own]], task[fired[own]])
    started = np.flatnonzero((work.trigger >= 0) & (kind[work.trigger] != multishot))
    into.done.add(task[work.trigger[started]], flow[started])
    for trigger in np.flatnonzero(work.trigger_kind == multishot).tolist():
        _multishot(work, trigger, flow, into)


def _counting(work: HtsimWork) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(connection, trigger, whether by the last ACK) of the activations that fire oneshots and barriers, trigger by trigger."""
    n = len(work.src)
    trigger, source = np.concatenate([work.send_done, work.recv_done]), np.tile(np.arange(n), 2)
    order = np.lexsort((source, trigger))
    order = order[trigger[order] >= 0]
    turn = np.arange(len(order)) - np.searchsorted(trigger[order], trigger[order])
    order = order[turn < work.awaited[trigger[order]]]
    return source[order], trigger[order], order < n


def _trigger_tasks(work: HtsimWork, into: Work) -> np.ndarray:
    """A task for each trigger, on the rank of a connection that it starts."""
    n = len(work.trigger_id)
    rank = np.zeros(n, np.int32)
    started = work.trigger >= 0
    rank[work.trigger[started]] = work.src[started]
    none, nothing = np.full(n, -1, np.int16), np.zeros(n, np.int64)
    return into.add_tasks(Tasks(rank, np.full(n, TaskKind.WAIT, np.int8), nothing, nothing, none, none))


def _multishot(work: HtsimWork, trigger: int, flow: np.ndarray, into: Work) -> None:
    starts = np.flatnonzero(work.trigger == trigger)
    fires = [(index, edges) for own, edges in ((work.send_done, into.acked), (work.recv_done, into.done)) for index in np.flatnonzero(own == trigger).tolist()]
    for target, (source, edges) in zip(starts.tolist(), sorted(fires, key=lambda entry: entry[0]), strict=False):
        edges.add(flow[source], flow[target])
