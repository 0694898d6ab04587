"""What a collective costs besides its bytes: the latency terms of NCCL's model, protocol Simple (NVIDIA/nccl src/graph/tuning.cc).

Of the steps of a ring over N servers ncclTopoTuneModel (commit 01afd20) charges nInterSteps = N - 1 as steps between servers, of an
all-reduce's 2N (some versions 2(N - 1)); a tree has 2 log2i(N), a whole number rounded down. NCCL has a ring, a tree and NVLS: steps
of the other algorithms are charged like a ring's, those that leave the server as dearer.
"""

import numpy as np

from sim.units import PS_PER_US
from sim.workload.collective.halving_doubling import Seats
from sim.workload.collective.ring import all_gather_steps, all_reduce_steps

RING_BASE_LATENCY_PS = round(8.4 * PS_PER_US)  # of any collective: baseLat
RING_STEP_LATENCY_PS = round(3.4 * PS_PER_US)  # over NVLink: hwLat, ring
RING_STEP_NETWORK_LATENCY_PS = 14 * PS_PER_US  # from server to server: hwLat, ring and tree
TREE_STEP_LATENCY_PS = 4 * PS_PER_US  # over NVLink, along the chain in a server: hwLat, tree
NVLS_LATENCY_PS = 25 * PS_PER_US  # reduction in the NVSwitch, base included
NVLS_NETWORK_LATENCY_PS = 18 * PS_PER_US  # what other servers add to it


def latency_ps(collective: str, algorithm: str, n: int, local: int = 1, joined: bool = True) -> int:
    """Time of a collective of no bytes among n members, `local` in each server, which NVLink joins or not."""
    nodes = n // local
    if algorithm == "nvls":
        return NVLS_LATENCY_PS + NVLS_NETWORK_LATENCY_PS * (nodes > 1)
    if algorithm == "double-binary-tree":
        step = TREE_STEP_LATENCY_PS if joined else RING_STEP_NETWORK_LATENCY_PS
        levels = (local - 1) * step + (nodes.bit_length() - 1) * RING_STEP_NETWORK_LATENCY_PS
        return round(RING_BASE_LATENCY_PS + 2 * levels)
    inside, across = steps(collective, algorithm, n, local)
    step = RING_STEP_LATENCY_PS if joined else RING_STEP_NETWORK_LATENCY_PS
    return RING_BASE_LATENCY_PS + inside * step + across * RING_STEP_NETWORK_LATENCY_PS


def steps(collective: str, algorithm: str, n: int, local: int) -> tuple[int, int]:
    """How many steps must follow each other, in the server and from server to server."""
    nodes, rounds = n // local, 2 if collective == "all-reduce" else 1
    if algorithm == "ring":
        total, between = rounds * all_gather_steps(n), rounds * nodes if collective == "all-reduce" else nodes - 1
        across = min(total, between) if nodes > 1 else 0
        return total - across, across
    if algorithm == "halving-doubling":
        return _exchanges(n, local, rounds)
    if algorithm == "hierarchical" and collective != "all-to-all":
        rail = all_reduce_steps(nodes) if rounds == 2 else all_gather_steps(nodes)
        return rounds * (local - 1), rail
    if algorithm in ("pxn", "hierarchical"):
        return int(local > 1), int(nodes > 1)
    return (0, rounds) if nodes > 1 else (rounds, 0)


def _exchanges(n: int, local: int, rounds: int) -> tuple[int, int]:
    seats = Seats(n)
    server = seats.member // local
    distances = [1 << power for power in range(seats.count.bit_length() - 1)]
    leaves = [bool((server != server[np.arange(seats.count) ^ distance]).any()) for distance in distances] * rounds
    if seats.pairs:  # handed over before, and back afterwards
        pair = np.arange(seats.pairs)
        leaves += [bool((2 * pair // local != (2 * pair + 1) // local).any())] * 2
    return leaves.count(False), leaves.count(True)
