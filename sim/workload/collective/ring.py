"""Ring collectives: all-reduce, reduce-scatter and all-gather (Patarasu and Yuan, JPDC 69(2), 2009).

Member j of a ring of n sends to member j + 1 in every step. What it sends in step k is what it received
in step k - 1, reduced with its own share while the reduction lasts; so that message waits for the arrival
of the one before it; messages of a member share a queue pair. Each step moves a chunk of 1/n of the data.
"""

import numpy as np

from sim.workload.collective.template import Template

RING_DRAWS = 0  # draw key of every member: what symmetry a ring has, random marks do not break


def reduce_scatter_steps(n: int) -> int:
    """Steps after which every member holds its reduced chunk."""
    return n - 1


def all_gather_steps(n: int) -> int:
    """Steps after which every member holds every chunk."""
    return n - 1


def all_reduce_steps(n: int) -> int:
    """A reduce-scatter, then an all-gather."""
    return 2 * (n - 1)


def orders(n: int, local: int, channels: int) -> list[np.ndarray | None]:
    """The order of the members in each of several rings (None: as they are), which leave every server by members of their own.

    Channel c enters the first server at its member c and leaves it at c - 1; the next server is gone through backwards, so
    that a ring stays on the same rail from server to server (with an odd number of servers, but for the last step).
    """
    if local == 1:
        return [None] * channels
    server, place = np.divmod(np.arange(n), local)
    forth = [server * local + (channel + place) % local for channel in range(channels)]
    back = [server * local + (channel + local - 1 - place) % local for channel in range(channels)]
    return [np.where(server % 2, b, f) for f, b in zip(forth, back, strict=True)]


def all_reduce(n: int, order: np.ndarray | None = None) -> Template:
    """2(n-1) steps of 1/n of the data; `order` is that of the members along the ring, if it is not theirs."""
    return _ring(n, order, all_reduce_steps(n), own_steps=n, reducing=n - 1)


def reduce_scatter(n: int, order: np.ndarray | None = None) -> Template:
    """n-1 steps of 1/n of the data."""
    return _ring(n, order, reduce_scatter_steps(n), own_steps=n, reducing=n - 1)


def all_gather(n: int, order: np.ndarray | None = None) -> Template:
    """n-1 steps of 1/n of the data; nobody passes on before it takes part itself."""
    return _ring(n, order, all_gather_steps(n), own_steps=n, reducing=0)


def _ring(n: int, order: np.ndarray | None, steps: int, own_steps: int, reducing: int) -> Template:
    member = np.arange(n)
    order = member if order is None else np.asarray(order)
    message = np.arange(steps * n).reshape(steps, n)
    step = np.repeat(np.arange(steps), n)
    last = message[-2:]  # two messages of a queue pair may overlap, and the one before the last arrive after it
    block = np.tile(member, steps) - step - (reducing > 0)  # its own first in a gather; after n-1 steps of a reduction its own is summed
    return Template(
        n=n, src=np.tile(order, steps), dst=np.tile(np.roll(order, -1), steps), step=step,
        part=np.ones(steps * n, np.int64), parts=np.full(steps * n, n), own=step < own_steps,
        before=np.roll(message[:-1], 1, axis=1).ravel(), then=message[1:].ravel(), earlier=message[:-1].ravel(), later=message[1:].ravel(),
        last_member=np.tile(order, len(last)), last_message=np.roll(last, 1, axis=1).ravel(), draw=RING_DRAWS,
        block=order[block % n], adds=step < reducing, cycle=n,
    )  # fmt: skip


def broadcast(n: int, order: np.ndarray | None = None) -> Template:
    """From the first member on, each passes all of it on to the next; a member is done when the next has it."""
    order = np.arange(n) if order is None else np.roll(order, -int(np.flatnonzero(order == 0)[0]))
    step, one = np.arange(n - 1), np.ones(n - 1, np.int64)
    return Template(
        n=n, src=order[:-1], dst=order[1:], step=step, part=one, parts=one, own=one > 0, before=step[:-1], then=step[1:],
        last_member=order, last_message=np.minimum(np.arange(n), n - 2), draw=RING_DRAWS,
    )  # fmt: skip
