"""The 1F1B pipeline schedule: warm-up forwards, then one forward and one backward in turn (arXiv 2104.04473 section 2.2)."""

import numpy as np


def order(stage: int, stages: int, micro_batches: int) -> tuple[np.ndarray, np.ndarray]:
    """What a stage does, in order.

    Returns
    -------
    backward : bool[2m], False for a forward pass
    micro_batch : int64[2m]

    Notes
    -----
    Stage i runs min(p - i - 1, m) forwards ahead, so at most min(p - i, m) micro-batches are in flight;
    the pipeline idles for (p - 1)/m of the work of a stage.
    """
    warm = min(stages - stage - 1, micro_batches)
    steady = micro_batches - warm
    backward = np.zeros(2 * micro_batches, dtype=bool)
    micro_batch = np.empty(2 * micro_batches, dtype=np.int64)
    micro_batch[:warm] = np.arange(warm)
    pairs = slice(warm, warm + 2 * steady)
    backward[pairs] = np.tile([False, True], steady)
    micro_batch[pairs] = np.stack([np.arange(warm, micro_batches), np.arange(steady)], axis=1).ravel()
    backward[warm + 2 * steady :] = True
    micro_batch[warm + 2 * steady :] = np.arange(steady, micro_batches)
    return backward, micro_batch


def in_flight(stage: int, stages: int, micro_batches: int) -> int:
    """Micro-batches whose activations a stage holds at once."""
    return min(stages - stage, micro_batches)
