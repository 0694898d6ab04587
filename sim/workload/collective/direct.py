"""Collectives by direct messages, every member to every other at once: the way of alltoall in NCCL and of small groups on a switch.

In position k of its list a member has member + k + 1. Messages of one position draw alike.
"""

import numpy as np

from sim.workload.collective.template import Template

NONE = np.zeros(0, np.int64)


def all_to_all(n: int) -> Template:
    """1/n of what a member has to send, to each of the n-1 others."""
    src, dst, step = _pairs(n)
    return _at_once(n, src, dst, step, block=dst * n + src, cycle=n * n)


def reduce_scatter(n: int) -> Template:
    """Everybody's share of 1/n of the data, to the member that it belongs to."""
    src, dst, step = _pairs(n)
    return _at_once(n, src, dst, step, block=dst, cycle=n, adds=True)


def all_gather(n: int) -> Template:
    """A member's 1/n of the data, to each of the others."""
    src, dst, step = _pairs(n)
    return _at_once(n, src, dst, step, block=src, cycle=n)


def all_reduce(n: int) -> Template:
    """A reduce-scatter, and as soon as a member has its whole sum, that sum to all others."""
    src, dst, step = _pairs(n)
    m, member = len(src), np.arange(n)
    message = np.arange(m)
    meeting = m + member
    sum_of = meeting[src]
    return Template(
        n=n, src=np.r_[src, member, src], dst=np.r_[dst, member, dst], step=np.r_[step, np.full(n, n), n + 1 + step],
        part=np.r_[np.ones(m, np.int64), np.zeros(n, np.int64), np.ones(m, np.int64)], parts=np.full(2 * m + n, n),
        own=np.r_[np.ones(m + n, bool), np.zeros(m, bool)],
        before=np.r_[message, sum_of], then=np.r_[meeting[dst], m + n + message],
        last_member=np.r_[dst, member], last_message=np.r_[m + n + message, meeting],
        draw=np.r_[step, np.zeros(n, np.int64), step], block=np.r_[dst, member, src],
        count=np.r_[np.ones(m, np.int64), np.zeros(n, np.int64), np.ones(m, np.int64)], adds=np.r_[np.ones(m + n, bool), np.zeros(m, bool)], cycle=n,
    )  # fmt: skip


def broadcast(n: int) -> Template:
    """Everything from the first member to each of the others; it is done when all have it."""
    dst = np.arange(1, n)
    src, message, one = np.zeros(n - 1, np.int64), np.arange(n - 1), np.ones(n - 1, np.int64)
    return Template(
        n=n, src=src, dst=dst, step=message, part=one, parts=one, own=one > 0, before=NONE, then=NONE,
        last_member=np.r_[dst, src], last_message=np.r_[message, message], draw=message,
    )  # fmt: skip


def _pairs(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    src, step = np.tile(np.arange(n), n - 1), np.repeat(np.arange(n - 1), n)
    return src, (src + step + 1) % n, step


def _at_once(n: int, src: np.ndarray, dst: np.ndarray, step: np.ndarray, **carries) -> Template:
    m = len(src)
    return Template(
        n=n, src=src, dst=dst, step=step, part=np.ones(m, np.int64), parts=np.full(m, n), own=np.ones(m, bool), before=NONE, then=NONE,
        last_member=dst, last_message=np.arange(m), draw=step, **carries,
    )  # fmt: skip
