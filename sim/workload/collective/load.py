"""What a collective sends from member to member, told without its steps: enough to count it, and to see which line is its bottleneck.

A ring of n members has n^2 messages and n connections; only the connections are listed, with how many messages each carries.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sim.workload.collective import double_binary_tree, halving_doubling, ring
from sim.workload.collective.registry import check
from sim.workload.collective.template import Template


@dataclass(frozen=True)
class Load:
    """Rows of equal messages, `times` each of elements x part / parts, rounded up; every row stands for `weight` such rows."""

    src: np.ndarray  # int64[R], member
    dst: np.ndarray  # int64[R]
    times: np.ndarray  # int64[R]
    part: np.ndarray  # int64[R]
    parts: np.ndarray  # int64[R]
    stage: np.ndarray  # int64[R]: one stage follows the other
    tasks: int = 0  # meetings, and shares of what the NVSwitch does
    weight: float = 1.0

    def row_bytes(self, size_bytes: int) -> np.ndarray:
        """int64[R]: bytes of a message of each row, of a collective of so many."""
        return -(-(np.int64(size_bytes) * self.part) // self.parts)

    @property
    def messages(self) -> int:
        """Messages in all."""
        return round(float(self.times.sum()) * self.weight)

    def total_bytes(self, size_bytes: int) -> float:
        """Bytes of all messages."""
        return float((self.times * self.row_bytes(size_bytes)).sum()) * self.weight


@dataclass(frozen=True)
class _Case:
    n: int
    local: int
    channels: int
    senders: np.ndarray  # those whose messages are listed

    @property
    def nodes(self) -> int:
        return self.n // self.local

    @property
    def weight(self) -> float:
        return self.n / len(self.senders)


def _rows(src, dst, times, part, parts, stage=0, tasks: int = 0, weight: float = 1.0) -> Load:
    columns = np.broadcast_arrays(src, dst, times, part, parts, stage)
    return Load(*(np.asarray(column, np.int64).ravel() for column in columns), tasks, weight)


def of_template(template: Template) -> Load:
    """A template's messages as they are; every step is a stage."""
    sent = template.is_message
    return _rows(
        template.src[sent], template.dst[sent], 1, template.part[sent], template.parts[sent], template.step[sent], tasks=int((~sent).sum())
    )


def _together(*loads: Load) -> Load:
    names = ("src", "dst", "times", "part", "parts", "stage")
    return replace(
        loads[0], **{name: np.concatenate([getattr(load, name) for load in loads]) for name in names}, tasks=sum(load.tasks for load in loads)
    )


def _ring(steps: Callable[[int], int]) -> Callable[[_Case], list[Load]]:
    def lanes(case: _Case) -> list[Load]:
        orders = [np.arange(case.n) if order is None else order for order in ring.orders(case.n, case.local, case.channels)]
        return [_rows(order, np.roll(order, -1), steps(case.n), 1, case.n) for order in orders]

    return lanes


def _rings_of(groups: np.ndarray, steps: int, parts: int, stage: int) -> Load:
    kept = groups if steps else groups[:0]
    return _rows(kept, np.roll(kept, -1, axis=1), steps, 1, parts, stage)


def _hierarchical(*stages: tuple[str, Callable[[int], int]], tasks: int = 0) -> Callable[[_Case], list[Load]]:
    def lanes(case: _Case) -> list[Load]:
        servers = np.arange(case.n).reshape(-1, case.local)
        found = [
            _rings_of(servers, steps(case.local), case.local, stage) if where == "server" else _rings_of(servers.T, steps(case.nodes), case.n, stage)
            for stage, (where, steps) in enumerate(stages)
        ]
        return [replace(_together(*found), tasks=tasks * case.n)]

    return lanes


def _direct(stages: int = 1, tasks: int = 0) -> Callable[[_Case], list[Load]]:
    def lanes(case: _Case) -> list[Load]:
        hop, stage = np.arange(1, case.n)[:, None], np.arange(stages)[:, None, None]
        load = _rows(case.senders, (case.senders + hop) % case.n, 1, 1, case.n, stage, weight=case.weight)
        return [replace(load, tasks=tasks * case.n)]

    return lanes


def _relayed(aggregated: bool) -> Callable[[_Case], list[Load]]:
    """All-to-alls through the own server's member on the receiver's rail."""

    def lanes(case: _Case) -> list[Load]:
        src, local, nodes = case.senders, case.local, case.nodes
        peer = src // local * local + (src + np.arange(1, local)[:, None]) % local
        across = (src + local * np.arange(1, nodes)[:, None]) % case.n
        near = (
            [_rows(src, peer, 1, nodes, case.n)]
            if aggregated
            else [_rows(src, peer, nodes - 1, 1, case.n), _rows(src, peer, 1, 1, case.n)]
        )
        return [replace(_together(*near, _rows(src, across, 1, local, case.n, 1)), weight=case.weight)]

    return lanes


def _template(build: Callable[[int], Template]) -> Callable[[_Case], list[Load]]:
    return lambda case: [of_template(build(case.n))]


def _trees(case: _Case) -> list[Load]:
    return [of_template(lane) for lane in double_binary_tree.lanes(case.n, case.local, case.channels)]


def _chains(case: _Case) -> list[Load]:
    return [of_template(ring.broadcast(case.n, order)) for order in ring.orders(case.n, case.local, case.channels)]


_SCATTER, _GATHER, _BOTH = ring.reduce_scatter_steps, ring.all_gather_steps, ring.all_reduce_steps
LOADS: dict[tuple[str, str], Callable[[_Case], list[Load]]] = {
    ("all-reduce", "ring"): _ring(_BOTH),
    ("all-reduce", "halving-doubling"): _template(halving_doubling.all_reduce),
    ("all-reduce", "double-binary-tree"): _trees,
    ("all-reduce", "direct"): _direct(stages=2, tasks=1),
    ("all-reduce", "hierarchical"): _hierarchical(("server", _SCATTER), ("rail", _BOTH), ("server", _GATHER)),
    ("all-reduce", "nvls"): _hierarchical(("rail", _BOTH), tasks=3),
    ("reduce-scatter", "ring"): _ring(_SCATTER),
    ("reduce-scatter", "halving-doubling"): _template(halving_doubling.reduce_scatter),
    ("reduce-scatter", "direct"): _direct(),
    ("reduce-scatter", "hierarchical"): _hierarchical(("server", _SCATTER), ("rail", _SCATTER)),
    ("all-gather", "ring"): _ring(_GATHER),
    ("all-gather", "halving-doubling"): _template(halving_doubling.all_gather),
    ("all-gather", "direct"): _direct(),
    ("all-gather", "hierarchical"): _hierarchical(("rail", _GATHER), ("server", _GATHER)),
    ("all-to-all", "direct"): _direct(),
    ("all-to-all", "pxn"): _relayed(aggregated=False),
    ("all-to-all", "hierarchical"): _relayed(aggregated=True),
    ("broadcast", "ring"): _chains,
    ("broadcast", "direct"): lambda case: [_rows(0, np.arange(1, case.n), 1, 1, 1)],
}


def load(collective: str, algorithm: str, n: int, local: int = 1, chunks: int = 1, channels: int = 1, senders: int | None = None) -> Load:
    """The load of `registry.template` with the same arguments; of at most so many `senders` where all are alike and there are many."""
    check(collective, algorithm, n, local, chunks, channels)
    listed = np.arange(n) if senders is None else np.unique(np.linspace(0, n - 1, min(n, senders)).astype(np.int64))
    lanes = LOADS[collective, algorithm](_Case(n, local, channels, listed))
    whole = _together(*lanes)
    return _chunked(replace(whole, parts=whole.parts * len(lanes)), chunks)


def _chunked(whole: Load, chunks: int) -> Load:
    if chunks == 1:
        return whole
    halved = replace(whole, parts=whole.parts * (2 * chunks - 1))
    others = replace(halved, part=halved.part * 2, times=halved.times * (chunks - 1))
    return replace(_together(halved, others), tasks=whole.tasks * chunks)


@dataclass(frozen=True)
class Lines:
    """The lines of a member: inside its server (near; none where servers have no NVLink) and to other servers (far)."""

    server: np.ndarray  # int[n], of each member
    near_bps: float
    far_bps: float
    data: float = 1.0  # bytes on the wire for a byte of payload
    ack: float = 0.0  # bytes of ACKs on the way back for a byte of payload


def line_seconds(whole: Load, size_bytes: int, lines: Lines) -> dict[int, np.ndarray]:
    """By stage, float64[4n]: how long every line of every member is busy, out and in."""
    n = len(lines.server)
    near = (lines.server[whole.src] == lines.server[whole.dst]) & (lines.near_bps > 0)
    seconds = whole.times * whole.row_bytes(size_bytes) * 8.0 / np.where(near, lines.near_bps or 1.0, lines.far_bps)
    out, back = whole.src + n * near, whole.dst + n * near
    if whole.weight > 1:  # every member gets what it sends
        back = out
    return {int(stage): _busy(seconds * (whole.stage == stage), out, back, 2 * n, lines) for stage in np.unique(whole.stage)}


def _busy(seconds: np.ndarray, out: np.ndarray, back: np.ndarray, size: int, lines: Lines) -> np.ndarray:
    sent, got = (np.bincount(end, seconds, minlength=size) for end in (out, back))
    return np.concatenate([lines.data * sent + lines.ack * got, lines.data * got + lines.ack * sent])
