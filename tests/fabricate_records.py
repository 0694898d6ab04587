"""Test helper: made-up records of the wormhole kernel, of any size, with no simulation behind them."""

import numpy as np
import pandas as pd

HOPS = 1000  # packet-hops of an episode


def episodes(lanes: int = 3, each: int = 4, length_s: float = 1e-5) -> pd.DataFrame:
    """`lanes` partitions at once, each followed by others, `each` episodes a lane; the first is simulated and skips its middle half.

    Every second episode a lane passes to another partition.
    """
    lane, order = np.divmod(np.arange(lanes * each), each)
    start = order * length_s
    first = order == 0
    return pd.DataFrame(
        {
            "partition_id": lane * each + order // 2,
            "start_s": start,
            "end_s": (order + 1) * length_s,
            "how": np.where(first, "simulated", "replayed"),
            "skipped_from_s": np.where(first, start + 0.25 * length_s, np.nan),
            "skipped_s": np.where(first, 0.5 * length_s, 0.0),
            "pattern_id": lane % 2,
            "flows": 1 + lane,
            "ports": 4 + 4 * lane,
            "packet_hops": HOPS * (1 + lane),
            "executed_hops": np.where(first, HOPS // 4, 0),
        }
    )


def patterns(count: int = 3) -> pd.DataFrame:
    """Patterns 0, 1, ...: the n-th has n + 1 flows and saved the most in the middle of the list."""
    number = np.arange(count)
    return pd.DataFrame(
        {
            "pattern_id": number, "flows": number + 1, "ports": 4 * (number + 1), "count": 10 + number, "hits": 9 + number,
            "hops_saved": 1000 * (1 + number % 2), "mean_length_s": 1e-5 * (number + 1), "states": 1 + number,
        }
    )  # fmt: skip
