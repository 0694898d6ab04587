"""All-reduce by the NVSwitch (NVLink SHARP), which adds up and multicasts: no messages, but a time.

Each GPU of a server reads the sum of 1/local of the data out of the switch, and writes it back for all to get. S (local + 1)/local
bytes leave every GPU, for its own S is read by all, and its share is written once. What of the line rate that reaches is taken
from the one published measurement: 480 GB/s of bus bandwidth among 8 H100 (NVIDIA/nccl-tests#212); the same share of the line of
an H800 (200 GB/s) gives 213 GB/s, and 215 were measured (NVIDIA/nccl#1374). Across servers each rail all-reduces its share with
a ring between the two halves.
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
    """Time of an all-reduce of `size_bytes` among the `local` GPUs of a server."""
    sent_bits = np.asarray(size_bytes, np.float64) * BITS_PER_BYTE * (local + 1) / local
    return NVLS_LATENCY_PS + sent_bits * PS_PER_S / (EFFICIENCY * nvlink_bps)


def half_ps(local: int, nvlink_bps: int, chunks: int = 1) -> Callable[[np.ndarray], np.ndarray]:
    """Time of one of the two halves, reading or writing, as a function of a GPU's share in bytes; chunks have the latency together."""
    latency = NVLS_LATENCY_PS / chunks

    def half(share_bytes: np.ndarray) -> np.ndarray:
        sending = all_reduce_ps(np.asarray(share_bytes) * local, local, nvlink_bps) - NVLS_LATENCY_PS
        return np.rint((latency + sending) / 2).astype(np.int64)

    return half


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
