"""A result as a trace for Perfetto or chrome://tracing: the JSON object format of the Chrome trace events.

A process is a rank, a thread one of its streams: compute, and for each kind of message as many sending and receiving streams as it
takes that nothing overlaps on one. Times are us with six decimals, exact to the picosecond.
"""

import heapq
import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sim.result_tables import kind_name
from sim.units import BITS_PER_BYTE, PS_PER_US
from sim.workload.blocks import FlowKind, TaskKind

COMPUTE, SEND, RECEIVE = "compute", "send", "receive"
CHUNK = 2000  # events written at a time
STREAMS = 1000  # thread numbers of one kind of stream in a rank, at least


@dataclass(frozen=True)
class Slices:
    """S stretches of time, each on a stream of a rank."""

    rank: np.ndarray  # int64[S]
    stream: np.ndarray  # int64[S], index into the names of streams
    start_ps: np.ndarray  # int64[S]
    end_ps: np.ndarray  # int64[S]
    lane: np.ndarray  # int64[S]: of those of its rank and stream, so that none overlap


def lanes(group: np.ndarray, start_ps: np.ndarray, end_ps: np.ndarray) -> np.ndarray:
    """int64[S]: the lowest lane of its group that is free when a slice begins (greedy interval colouring, O(S log S))."""
    order = np.lexsort((end_ps, start_ps, group))
    lane = np.zeros(len(order), np.int64)
    current, busy, free, used = None, [], [], 0
    columns = zip(order.tolist(), group[order].tolist(), start_ps[order].tolist(), end_ps[order].tolist(), strict=True)
    for slice_id, own, start, end in columns:
        if own != current:
            current, busy, free, used = own, [], [], 0
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            chosen = heapq.heappop(free)
        else:
            chosen, used = used, used + 1
        lane[slice_id] = chosen
        heapq.heappush(busy, (end, chosen))
    return lane


def durations_ps(thread: np.ndarray, start_ps: np.ndarray, end_ps: np.ndarray) -> np.ndarray:
    """int64[S]: lengths, 1 ps shorter where ts + dur, added as a reader's floats, would run into the next slice of its thread."""
    length = end_ps - start_ps
    order = np.lexsort((end_ps, start_ps, thread))
    start_us, length_us = start_ps[order] / PS_PER_US, length[order] / PS_PER_US
    over = np.zeros(len(order), bool)
    over[:-1] = (thread[order][1:] == thread[order][:-1]) & (start_us[:-1] + length_us[:-1] > start_us[1:])
    length[order[over]] -= 1
    return np.maximum(length, 0)


def trace(result) -> Iterator[str]:
    """The trace in pieces of text, to be written one after the other."""
    raw = result.raw
    yield '{"displayTimeUnit":"ns","otherData":' + json.dumps(_about(result)) + ',"traceEvents":[\n'
    first = True
    for piece in _events(raw):
        yield ("" if first else ",\n") + ",\n".join(piece)
        first = False
    yield "\n]}\n"


def _about(result) -> dict:
    summary = result.summary
    return {
        "scenario": summary["scenario"], "status": result.status, "simulated_s": result.end_s,
        "pid": "rank", "tid": "stream", "notices": result.notices,
    }  # fmt: skip


def _events(raw) -> Iterator[list[str]]:
    dag, end = raw.dag, raw.end_ps_last
    tasks = np.flatnonzero((raw.start_ps[: dag.n_tasks] >= 0) & ((dag.task_duration_ps > 0) | (dag.task_kind != TaskKind.WAIT)))
    flows = np.flatnonzero(raw.start_ps[dag.n_tasks :] >= 0)
    flow_start = raw.start_ps[dag.n_tasks :][flows]
    acked, arrived = raw.acked_ps[flows], raw.end_ps[dag.n_tasks :][flows]
    task_end = raw.end_ps[: dag.n_tasks][tasks]
    kinds = len(FlowKind)
    sides = [
        (dag.task_rank[tasks], np.zeros(len(tasks), np.int64), raw.start_ps[tasks], np.where(task_end >= 0, task_end, end)),
        (dag.flow_src[flows], 1 + dag.flow_kind[flows].astype(np.int64), flow_start, np.where(acked >= 0, acked, end)),
        (dag.flow_dst[flows], 1 + kinds + dag.flow_kind[flows].astype(np.int64), flow_start, np.where(arrived >= 0, arrived, end)),
    ]
    rank, stream, start, stop = (np.concatenate(column).astype(np.int64) for column in zip(*sides, strict=True))
    stop = np.maximum(start, stop)
    lane = lanes(rank * (1 + 2 * kinds) + stream, start, stop)
    thread, names = _threads(rank, stream, lane)
    length = durations_ps(thread + rank * (int(thread.max(initial=0)) + 1), start, stop)
    yield _metadata(rank, thread, names, dag.n_ranks)
    n = len(tasks)
    columns = (rank, thread, start, length)
    yield from _task_events(dag, tasks, *(column[:n] for column in columns), task_end < 0)
    yield from _flow_events(dag, flows, *(column[n:] for column in columns), acked < 0, arrived >= 0)
    yield from _counter_events(raw)


def _threads(rank: np.ndarray, stream: np.ndarray, lane: np.ndarray) -> tuple[np.ndarray, dict[tuple[int, int], str]]:
    """Thread numbers, 0 for the first compute stream, and the name of each (rank, thread)."""
    words = [COMPUTE, *(f"{kind_name(kind)} {side}" for side in (SEND, RECEIVE) for kind in FlowKind)]
    thread = stream * max(STREAMS, int(lane.max(initial=0)) + 1) + lane
    found = np.unique(np.stack([rank, thread, stream, lane]), axis=1).T.tolist()
    return thread, {(r, t): words[s] + (f" {k + 1}" if k else "") for r, t, s, k in found}


def _metadata(rank: np.ndarray, thread: np.ndarray, names: dict[tuple[int, int], str], n_ranks: int) -> list[str]:
    rows = []
    for pid in range(n_ranks):
        rows.append(f'{{"name":"process_name","ph":"M","pid":{pid},"tid":0,"args":{{"name":"rank {pid}"}}}}')
        rows.append(f'{{"name":"process_sort_index","ph":"M","pid":{pid},"tid":0,"args":{{"sort_index":{pid}}}}}')
    for (pid, tid), name in names.items():
        rows.append(f'{{"name":"thread_name","ph":"M","pid":{pid},"tid":{tid},"args":{{"name":{json.dumps(name)}}}}}')
        rows.append(f'{{"name":"thread_sort_index","ph":"M","pid":{pid},"tid":{tid},"args":{{"sort_index":{tid}}}}}')
    return rows


def _us(time_ps: int) -> str:
    return f"{time_ps // PS_PER_US}.{time_ps % PS_PER_US:06d}"


def _task_events(dag, tasks, rank, thread, start, length, unfinished) -> Iterator[list[str]]:
    kinds = {int(kind): json.dumps(kind_name(kind)) for kind in TaskKind}
    columns = (
        tasks, dag.task_kind[tasks], dag.task_layer[tasks], dag.task_microbatch[tasks], dag.task_bytes[tasks], rank, thread, start, length, unfinished,
    )  # fmt: skip
    rows = []
    for task, kind, layer, batch, size, pid, tid, begin, time, partial in zip(*(column.tolist() for column in columns), strict=True):
        args = f'"task_id":{task},"layer":{layer},"microbatch":{batch},"bytes":{size}' + ',"unfinished":true' * partial
        rows.append(f'{{"name":{kinds[kind]},"cat":{kinds[kind]},"ph":"X","ts":{_us(begin)},"dur":{_us(time)},"pid":{pid},"tid":{tid},"args":{{{args}}}}}')
        if len(rows) == CHUNK:
            yield rows
            rows = []
    if rows:
        yield rows


def _flow_events(dag, flows, rank, thread, start, length, unfinished, delivered) -> Iterator[list[str]]:
    """Of each flow a slice at the sender, one at the receiver, and an arrow from the one to the other."""
    n = len(flows)
    kinds = {int(kind): kind_name(kind) for kind in FlowKind}
    collectives = [json.dumps(name) for name in dag.collective_name]
    columns = (
        flows, dag.flow_kind[flows], dag.flow_collective[flows], dag.flow_step[flows], dag.flow_microbatch[flows], dag.flow_bytes[flows],
        rank[:n], rank[n:], thread[:n], thread[n:], start[:n], length[:n], length[n:], unfinished, delivered,
    )  # fmt: skip
    rows = []
    for flow, code, collective, step, batch, size, src, dst, out, into, begin, sending, receiving, partial, arrived in zip(
        *(column.tolist() for column in columns), strict=True
    ):
        kind = kinds[code]
        args = f'"flow_id":{flow},"src":{src},"dst":{dst},"bytes":{size},"step":{step},"microbatch":{batch}'
        args += (f',"collective":{collectives[collective]}' if collective >= 0 else "") + ',"unfinished":true' * partial
        common = f'"cat":"{kind}","args":{{{args}}}'
        at, end = _us(begin), _us(begin + max(0, receiving - 1))
        rows.append(f'{{"name":"{kind} to {dst}","ph":"X","ts":{at},"dur":{_us(sending)},"pid":{src},"tid":{out},{common}}}')
        rows.append(f'{{"name":"{kind} from {src}","ph":"X","ts":{at},"dur":{_us(receiving)},"pid":{dst},"tid":{into},{common}}}')
        if arrived:
            arrow = f'"name":"{kind}","cat":"{kind}","id":{flow}'
            rows.append(f'{{{arrow},"ph":"s","ts":{at},"pid":{src},"tid":{out}}}')
            rows.append(f'{{{arrow},"ph":"f","bp":"e","ts":{end},"pid":{dst},"tid":{into}}}')
        if len(rows) >= CHUNK:
            yield rows
            rows = []
    if rows:
        yield rows


def _counter_events(raw) -> Iterator[list[str]]:
    """What each rank's NIC and NVLink send, Gb/s in every bin of the port series."""
    network, bin_ps = raw.network, max(1, int(raw.bin_ps))
    host = np.full(network.n_nodes, -1)
    host[network.hosts] = np.arange(network.n_hosts)
    for kind, name in ((0, "NIC sends (Gb/s)"), (1, "NVLink sends (Gb/s)")):
        ports = np.flatnonzero((host[network.port_src] >= 0) & (network.port_kind == kind))
        sent = np.zeros((network.n_hosts, raw.series_tx_bytes.shape[1]), np.int64)
        np.add.at(sent, host[network.port_src[ports]], raw.series_tx_bytes[ports])
        gbps = sent * BITS_PER_BYTE * 1000 / bin_ps
        for rank in np.flatnonzero(sent.any(axis=1)).tolist():
            changes = np.flatnonzero(np.diff(sent[rank], prepend=-1, append=-1))  # the last entry closes the curve
            rows = [
                f'{{"name":"{name}","ph":"C","ts":{_us(bin * bin_ps)},"pid":{rank},"tid":0,"args":{{"Gb/s":{value:.6g}}}}}'
                for bin, value in zip(changes.tolist(), [*gbps[rank][changes[:-1]].tolist(), 0.0], strict=True)
            ]
            yield rows
