"""Test helper: made-up records of the wormhole kernel, of any size, with no simulation behind them."""

import numpy as np
import pandas as pd

from sim.wormhole.records import Records

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


def kernel(hops: int) -> dict:
    """What the kernel would have counted after so many packet-hops: a tenth simulated, half replayed, the rest skipped."""
    executed, replayed = hops // 10, hops // 2
    return {
        "interrupts": 40, "rollbacks": 0,
        "packet_hops": {"total": hops, "executed": executed, "replayed": replayed, "skipped": hops - executed - replayed, "irreducible": executed},
        "memo": {"patterns": 7, "hits": 21, "misses": 7, "bytes": 4096},
        "partitions": {"formed": 6, "merges": 2, "splits": 1, "max_flows": 4},
    }  # fmt: skip


def add_to(result) -> None:
    """Make a made-up result one of wormhole mode: as if all its flows were one partition all the time."""
    raw = result.raw
    raw.level, raw.kernel = "exact", kernel(raw.counters["packet_hops"])
    result.episodes = episodes(lanes=2, each=2, length_s=result.end_s / 2)
    result.partitions = result.episodes.groupby("partition_id", as_index=False).agg(start_s=("start_s", "min"), end_s=("end_s", "max"))
    result.partitions = result.partitions.assign(came_from="", went_into="")
    result.patterns = patterns(16)
    raw.records = records(16)


def records(count: int):
    """The words of patterns whose n-th is n + 1 flows into one port, over a port of their own and one shared way back."""
    words = []
    for flows in range(1, count + 1):
        paths = [[2 + j, 0, -1] for j in range(flows)] + [[1, -1] for _ in range(flows)]
        order = [path for j in range(flows) for path in (paths[j], paths[flows + j])]
        words.append(np.array([flows, flows + 2, *sum(order, []), *([0] * (flows + 2))], np.int64))
    none = np.zeros(0)
    return Records(
        episodes=none, partitions=none, patterns=none, words=words, rates_bps=[np.full(n, 1e11 / n) for n in range(1, count + 1)],
        class_rate_bps=np.array([100_000_000_000]), class_delay_ps=np.array([1_000_000]), left_out=(0, 0), undivided=np.zeros((0, 3), np.int64),
    )  # fmt: skip
