"""All-reduce by the NVSwitch (NVLink SHARP), which adds up and multicasts: no messages, but a time.

Each GPU of a server reads the sum of 1/local of the data out of the switch, and writes it back for all to get; in one server both
go on at once. S (local + 1)/local bytes leave every GPU, for its own S is read by all, and its share is written once. What of the
line rate that reaches is taken from the one published measurement: 480 GB/s of bus bandwidth among 8 H100 (NVIDIA/nccl-tests#212);
the same share of the line of an H800 (200 GB/s) gives 213 GB/s, and 215 were measured (NVIDIA/nccl#1374). Across servers each rail
all-reduces its share with a ring in between: then reading and writing, S bytes one way each, follow each other, chunk by chunk.
"""

from collections.abc import Callable

import numpy as np

from sim.units import BITS_PER_BYTE, PS_PER_S
from sim.workload.collective import ring
from sim.workload.collective.compose import in_turn, on_groups
from sim.workload.collective.hierarchical import on_rails
from sim.workload.collective.latency import NVLS_LATENCY_PS
from sim.workload.collective.template import Template

MEASURED_GPUS = 8
MEASURED_BUS_BYTES_PER_S = 480e9  # bus bandwidth, all-reduce of 8 GB or more on one DGX H100 (NVIDIA/nccl-tests#212)
MEASURED_LINE_BPS = 3.6e12  # NVLink of an H100, one direction
EFFICIENCY = (  # (n + 1)/n S over the time of 2(n-1)/n S at the measured bus bandwidth
    MEASURED_BUS_BYTES_PER_S * BITS_PER_BYTE / MEASURED_LINE_BPS * (MEASURED_GPUS + 1) / (2 * (MEASURED_GPUS - 1))
)


def all_reduce_ps(size_bytes, local: int, nvlink_bps: int):
    """Time of an all-reduce of `size_bytes` among the `local` GPUs of one server."""
    return NVLS_LATENCY_PS + one_way_ps(size_bytes, nvlink_bps) * (local + 1) / local


def one_way_ps(size_bytes, nvlink_bps: int):
    """Time in which `size_bytes` leave a GPU, or reach it."""
    return np.asarray(size_bytes, np.float64) * BITS_PER_BYTE * PS_PER_S / (EFFICIENCY * nvlink_bps)


def switch_ps(nodes: int, local: int, nvlink_bps: int, chunks: int = 1) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Time of reading (adding up) or writing a GPU's share of so many bytes; all chunks have one latency together.

    In one server reading has the time of both.
    """

    def took(share_bytes: np.ndarray, adds: np.ndarray) -> np.ndarray:
        size = np.asarray(share_bytes) * local
        if nodes == 1:
            both = NVLS_LATENCY_PS / chunks + all_reduce_ps(size, local, nvlink_bps) - NVLS_LATENCY_PS
            return np.rint(np.where(adds, both, 0)).astype(np.int64)
        return np.rint(NVLS_LATENCY_PS / 2 / chunks + one_way_ps(size, nvlink_bps)).astype(np.int64)

    return took


def all_reduce(n: int, local: int) -> Template:
    """Read the server's sums out of the switch, all-reduce them on the rails, write them back for all of the server."""
    return in_turn(_in_server(_read(local), n), on_rails(ring.all_reduce(n // local), n), _in_server(_write(local), n))


def _in_server(template: Template, n: int) -> Template:
    nodes = n // template.n
    return on_groups(template, np.arange(n).reshape(nodes, -1), n, count=nodes, stride=template.n)


def _read(local: int) -> Template:
    """Nobody reads before all have come."""
    member = np.arange(local)
    came, read = np.meshgrid(member, member)
    share = np.repeat([0, 1], local)
    return Template(
        n=local, src=np.tile(member, 2), dst=np.tile(member, 2), step=share, part=share, parts=np.full(2 * local, local), own=share == 0,
        before=came.ravel(), then=read.ravel() + local, last_member=member, last_message=member + local,
        block=np.tile(member, 2), count=share, adds=share > 0, cycle=local,
    )  # fmt: skip


def _write(local: int) -> Template:
    """A member is done when all have written."""
    member, one = np.arange(local), np.ones(local, np.int64)
    waits, wrote = np.meshgrid(member, member)
    return Template(
        n=local, src=member, dst=member, step=one - 1, part=one, parts=one * local, own=one > 0, before=one[:0], then=one[:0],
        last_member=waits.ravel(), last_message=wrote.ravel(), block=member, cycle=local,
    )  # fmt: skip
