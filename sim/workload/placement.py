"""Which host runs which rank: consecutive ranks fill the GPUs of a node, then the next node."""

import numpy as np

from sim.errors import ScenarioError


def place(ranks: int, hosts: int) -> np.ndarray:
    """int32[ranks]: host index of each rank.

    Hosts are numbered node by node, so that tensor-parallel ranks (innermost in the rank order) share
    a node, and data-parallel neighbours sit at the same position of different nodes: on one rail.
    """
    if ranks > hosts:
        raise ScenarioError(f"{ranks} ranks cannot be placed on {hosts} hosts; at most one rank per GPU")
    return np.arange(ranks, dtype=np.int32)


def idle_hosts(ranks: int, hosts: int) -> np.ndarray:
    """int32[hosts - ranks]: host indices that no rank runs on."""
    return np.arange(ranks, hosts, dtype=np.int32)
