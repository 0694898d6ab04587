"""The life of partitions as bars in rows: packed into few rows, and joined until a browser takes them."""

import heapq

import numpy as np
import pandas as pd

MOST_BARS = 4000  # of the 20 k shapes a browser draws at once
MOST_ROWS = 40
HOW = ("skipped", "replayed", "simulated")  # later ones are drawn over earlier ones
BUSIEST, WORKED = "Most packet-hops", "Most simulated"
COLUMNS = ["row", "how", "start_s", "end_s", "partition_id", "count", "flows", "ports", "packet_hops"]


def intervals(episodes: pd.DataFrame) -> pd.DataFrame:
    """Episodes cut at what was skipped in them: columns partition_id, how, start_s, end_s, flows, ports, packet_hops.

    The packet-hops of an episode stand at its first interval.
    """
    kept = ["partition_id", "flows", "ports", "packet_hops"]
    episodes = episodes.assign(how=episodes["how"].astype(str))
    skips = ((episodes["how"] == "simulated") & (episodes["skipped_s"] > 0)).to_numpy()
    whole, cut = episodes[~skips], episodes[skips]
    first, last = cut["skipped_from_s"], cut["skipped_from_s"] + cut["skipped_s"]
    none = cut[kept].assign(packet_hops=0)
    parts = [
        whole[[*kept, "how", "start_s", "end_s"]],
        cut[kept].assign(how="simulated", start_s=cut["start_s"], end_s=first),
        none.assign(how="skipped", start_s=first, end_s=last),
        none.assign(how="simulated", start_s=last, end_s=cut["end_s"]),
    ]
    found = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    return found[found["end_s"] > found["start_s"]].reset_index(drop=True)


def packed_rows(start_s: np.ndarray, end_s: np.ndarray) -> np.ndarray:
    """A row for each interval, the lowest one that is free at its start; none overlap within a row."""
    rows, free, busy, used = np.zeros(len(start_s), np.int64), [], [], 0
    for i in np.lexsort((end_s, start_s)).tolist():
        while busy and busy[0][0] <= start_s[i]:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            rows[i] = heapq.heappop(free)
        else:
            rows[i], used = used, used + 1
        heapq.heappush(busy, (end_s[i], int(rows[i])))
    return rows


def places(here: pd.DataFrame, order: str) -> tuple[pd.Series, int]:
    """(row by partition_id, rows that there would be in all) of the partitions of some episodes.

    Where there are more than `MOST_ROWS` rows, those with most packet-hops, or most of them simulated, are kept.
    """
    life = here.groupby("partition_id").agg(
        start_s=("start_s", "min"), end_s=("end_s", "max"), hops=("packet_hops", "sum"), executed=("executed_hops", "sum")
    )
    life["row"] = packed_rows(life["start_s"].to_numpy(), life["end_s"].to_numpy())
    weight = life.groupby("row")["hops" if order == BUSIEST else "executed"].sum()
    chosen = np.sort(weight.sort_values(ascending=False, kind="stable").index[:MOST_ROWS].to_numpy())
    life = life[life["row"].isin(chosen)]
    return pd.Series(np.searchsorted(chosen, life["row"]), life.index), len(weight)


def lane_bars(episodes: pd.DataFrame, window_s: tuple[float, float], order: str = BUSIEST) -> tuple[pd.DataFrame, pd.Series, int]:
    """(bars with COLUMNS, row by partition_id, rows that there would be in all) of the episodes inside a time window.

    Bars of one row and kind that touch, or lie closer than can be seen, become one, `count` > 1, under the first one's partition.
    """
    here = episodes[(episodes["end_s"] >= window_s[0]) & (episodes["start_s"] <= window_s[1])]
    if not len(here):
        return pd.DataFrame(columns=COLUMNS), pd.Series(dtype=np.int64), 0
    placed, total = places(here, order)
    found = intervals(here[here["partition_id"].isin(placed.index)])
    return _joined(found.assign(row=placed.reindex(found["partition_id"]).to_numpy()), window_s), placed, total


def _joined(found: pd.DataFrame, window_s: tuple[float, float]) -> pd.DataFrame:
    """Join until there are at most MOST_BARS."""
    code = found["how"].map({how: j for j, how in enumerate(HOW)}).to_numpy(np.int64)
    found = found.iloc[np.lexsort((found["start_s"].to_numpy(), code, found["row"].to_numpy()))]
    group = found["row"].to_numpy() * len(HOW) + found["how"].map({how: j for j, how in enumerate(HOW)}).to_numpy(np.int64)
    start, end, who = found["start_s"].to_numpy(), found["end_s"].to_numpy(), found["partition_id"].to_numpy()
    gap_s = 0.0
    for attempt in range(40):
        opens = np.ones(len(found), bool)
        if attempt:
            near = (start[1:] - end[:-1] < gap_s) | ((who[1:] == who[:-1]) & (start[1:] <= end[:-1]))
            opens[1:] = (group[1:] != group[:-1]) | ~near
        if opens.sum() <= MOST_BARS:
            break
        gap_s = (window_s[1] - window_s[0]) / 4000 * (1.6**attempt if attempt else 0.0)  # first only what touches
    first = np.flatnonzero(opens)
    bars = found.iloc[first].copy()
    bars["end_s"] = np.maximum.reduceat(end, first)
    for name in ("flows", "ports"):
        bars[name] = np.maximum.reduceat(found[name].to_numpy(), first)
    bars["packet_hops"] = np.add.reduceat(found["packet_hops"].to_numpy(), first)
    bars["count"] = np.diff(np.append(first, len(found)))
    return bars[COLUMNS].reset_index(drop=True)
