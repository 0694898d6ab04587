"""Ring collectives: all-reduce, reduce-scatter and all-gather (Patarasu and Yuan, JPDC 69(2), 2009).

Member j of a ring of n sends to member j + 1 in every step. What it sends in step k is what it received
in step k - 1, reduced with its own share while the reduction lasts; so that message waits for the arrival
of the one before it. Each step moves a chunk of 1/n of the data.
"""

from dataclasses import dataclass

import numpy as np

from sim.workload.blocks import Edges, FlowKind, Flows
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


def all_reduce(n: int) -> Template:
    """2(n-1) steps of 1/n of the data."""
    return _ring(n, all_reduce_steps(n), own_steps=n)


def reduce_scatter(n: int) -> Template:
    """n-1 steps of 1/n of the data."""
    return _ring(n, reduce_scatter_steps(n), own_steps=n)


def all_gather(n: int) -> Template:
    """n-1 steps of 1/n of the data; nobody passes on before it takes part itself."""
    return _ring(n, all_gather_steps(n), own_steps=n)


def _ring(n: int, steps: int, own_steps: int) -> Template:
    member = np.arange(n)
    message = np.arange(steps * n).reshape(steps, n)
    step = np.repeat(np.arange(steps), n)
    return Template(
        n=n, src=np.tile(member, steps), dst=np.tile((member + 1) % n, steps), step=step,
        part=np.ones(steps * n, np.int64), parts=np.full(steps * n, n), own=step < own_steps,
        before=np.roll(message[:-1], 1, axis=1).ravel(), then=message[1:].ravel(),
        last_member=member if steps else member[:0], last_message=np.roll(message[-1:], 1, axis=1).ravel(), draw=RING_DRAWS,
    )  # fmt: skip


def chunk_bytes(elements, n: int, element_bytes: int):
    """Bytes of one step's flow: ceil(elements / n) elements, as the buffer is padded to a multiple of n."""
    return -(-elements // n) * element_bytes


@dataclass(frozen=True)
class Rings:
    """Node ids of the flows of one collective after the other (a series) on each of several rings.

    `flow[b, g, k, j]` is what member j of ring g sends in step k of the b-th collective of the series.
    """

    flow: np.ndarray  # int64[series, rings, steps, n]

    def arrival(self, step: int) -> np.ndarray:
        """int64[series, rings, n]: the flow that reaches member j in a step."""
        return np.roll(self.flow[:, :, step, :], 1, axis=-1)


def ring_series(
    members: np.ndarray, sizes: np.ndarray, steps: int, kind: FlowKind, first_node: int, first_collective: int
) -> tuple[Flows, Rings]:
    """Flows of a series of equal-shaped ring collectives.

    Parameters
    ----------
    members : int[rings, n], host of each member in ring order
    sizes : int[series], bytes of a step's flow in each collective
    steps : steps of each collective
    first_node : node id of the first flow made here
    first_collective : number of the first collective; they go on by series, then ring
    """
    series, (rings, n) = len(sizes), members.shape
    shape = (series, rings, steps, n)
    collective = first_collective + np.arange(series * rings).reshape(series, rings, 1, 1)
    flows = Flows.of(
        np.broadcast_to(members[None, :, None, :], shape),
        np.roll(members, -1, axis=1)[None, :, None, :],
        sizes[:, None, None, None],
        kind,
        draw_key=RING_DRAWS,
        collective=collective,
        step=np.arange(steps)[:, None],
    )
    return flows, Rings(first_node + np.arange(series * rings * steps * n).reshape(shape))


def chain(rings: Rings, ready: np.ndarray, reducing: int, done: Edges) -> None:
    """Edges of a series of ring collectives.

    A flow waits for the arrival of the step before it, and in its first `reducing` steps for the sender's
    own share, node `ready[series, rings, n]`. A member begins a collective when it has the last chunk of
    the one before (they share a stream).
    """
    flow = rings.flow
    steps = flow.shape[2]
    done.add(np.roll(flow[:, :, : steps - 1, :], 1, axis=-1), flow[:, :, 1:, :])
    done.add(ready[:, :, None, :], flow[:, :, :reducing, :])
    done.add(rings.arrival(steps - 1)[:-1], flow[1:, :, 0, :])
