"""Which GPU runs which rank."""

import numpy as np

from sim.errors import ScenarioError
from sim.workload.strategy import Strategy


def place(strategy: Strategy, gpus: int, gpus_per_node: int, seed: int, first_gpu: int = 0) -> np.ndarray:
    """int64[ranks]: GPU of each rank, on `gpus` GPUs from `first_gpu` on, numbered server by server.

    Notes
    -----
    "packed": ranks fill server after server, so that tensor-parallel ranks (innermost in the rank order) share a server, and
    data-parallel neighbours sit at the same position of different servers: on one rail. "spread": tensor-parallel groups go
    round the servers one by one. "random": tensor-parallel groups lie at random places, drawn from the seed.
    """
    ranks = strategy.world
    if ranks > gpus:
        raise ScenarioError(f"{ranks} ranks cannot be placed on {gpus} GPUs; at most one rank per GPU")
    block = strategy.tp if gpus_per_node % strategy.tp == 0 else gpus_per_node
    slots = np.arange(gpus // block)
    if strategy.placement == "spread":
        server = (first_gpu + slots * block) // gpus_per_node
        slots = np.argsort(slots - np.searchsorted(server, server), kind="stable")
    elif strategy.placement == "random":
        slots = np.random.default_rng([seed, gpus]).permutation(slots)
    found = (slots[: -(-ranks // block), None] * block + np.arange(block)).ravel()[:ranks]
    return found + first_gpu
