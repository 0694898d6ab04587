"""A result as Gantt bars: what each rank computes and sends, condensed until a chart can hold it."""

import numpy as np
import pandas as pd

COMPUTE, NETWORK = "compute", "network"
FLOW_BARS = 6000  # of the 20 k shapes a browser draws at once
TASKS_PER_RANK = 120  # more are too thin to tell apart, and are shown as shares
SIDE_BY_SIDE = 8  # flows of one sender drawn next to each other
OVERLAPPING = ("traffic", "collective", "program")  # kinds of which a sender has several under way at once, without a model around them
WAITING = "wait"  # tasks that stand for no work
STRETCHES = 240  # of the window, in which shares are taken
COLUMNS = ["rank", "lane", "kind", "start_s", "end_s", "low", "high", "count", "bytes", "id"]


def bars(result, ranks, window_s: tuple[float, float]) -> pd.DataFrame:
    """Bars of some ranks inside a time window, few enough to draw.

    Returns columns rank, lane, kind, start_s, end_s, low, high, count, bytes, id. A bar fills its lane from
    `low` to `high` (0..1). With too many tasks, each bar is one kind's share of a short stretch of time
    (`high - low`); with too many flows, those of one rank and kind that nearly touch become one, `count` > 1,
    and `id` is the first one's. Unfinished work ends where the run ended.
    """
    tasks, flows = _inside(_task_bars(result, ranks), window_s), _inside(_flow_bars(result, ranks), window_s)
    crowded = len(tasks) > TASKS_PER_RANK * len(ranks)
    tasks = shares_over_time(tasks, window_s) if crowded else _whole(tasks)
    flows = _merged(flows, window_s) if len(flows) > FLOW_BARS else _whole(flows)
    parts = [part for part in (tasks, flows) if len(part)]
    return pd.concat(parts, ignore_index=True) if parts else tasks


def _inside(found: pd.DataFrame, window_s: tuple[float, float]) -> pd.DataFrame:
    return found[(found["end_s"] >= window_s[0]) & (found["start_s"] <= window_s[1])]


def _whole(found: pd.DataFrame) -> pd.DataFrame:
    return found.assign(count=1)[COLUMNS].reset_index(drop=True)


def _task_bars(result, ranks) -> pd.DataFrame:
    tasks = result.tasks
    tasks = tasks[tasks["rank"].isin(ranks) & tasks["start_s"].notna() & (tasks["kind"] != WAITING)]
    return pd.DataFrame(
        {
            "rank": tasks["rank"],
            "lane": COMPUTE,
            "kind": tasks["kind"].astype(str),
            "start_s": tasks["start_s"],
            "end_s": tasks["end_s"].fillna(result.end_s),
            "low": 0.0,
            "high": 1.0,
            "bytes": tasks["bytes"],
            "id": tasks["task_id"],
        }
    )


def _flow_bars(result, ranks) -> pd.DataFrame:
    flows = result.flows
    flows = flows[flows["src"].isin(ranks) & flows["start_s"].notna()]
    low, high = _side_by_side(flows)
    return pd.DataFrame(
        {
            "rank": flows["src"],
            "lane": NETWORK,
            "kind": flows["kind"].astype(str),
            "start_s": flows["start_s"],
            "end_s": (flows["start_s"] + flows["fct_s"]).fillna(result.end_s),
            "low": low,
            "high": high,
            "bytes": flows["bytes"],
            "id": flows["flow_id"],
        }
    )


def _side_by_side(flows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of each flow in its lane: flows of one sender that overlap take up to `SIDE_BY_SIDE` rows."""
    sender = flows.groupby(["src", "kind"], observed=True)["flow_id"]
    rows = np.where(flows["kind"].isin(OVERLAPPING), np.minimum(sender.transform("size"), SIDE_BY_SIDE), 1)
    row = sender.cumcount() % rows
    return 1 - (row + 1) / rows, 1 - row / rows


def shares_over_time(found: pd.DataFrame, window_s: tuple[float, float]) -> pd.DataFrame:
    """Work that does not overlap within a rank, as each kind's share of equal stretches of time, stacked."""
    groups = list(found.sort_values("start_s").groupby(["rank", "lane", "kind"], observed=True))
    edges = np.linspace(*window_s, STRETCHES + 1)
    reached, pieces = {}, []
    for (rank, lane, kind), part in groups:
        share = np.diff(_busy_until(part["start_s"].to_numpy(), part["end_s"].to_numpy(), edges)) / np.diff(edges)
        low = reached.get((rank, lane), np.zeros(STRETCHES))
        reached[rank, lane] = high = low + share
        here = np.flatnonzero(share > 1e-6)
        begun = np.searchsorted(part["start_s"].to_numpy(), edges)
        pieces.append(
            pd.DataFrame(
                {
                    "rank": rank,
                    "lane": lane,
                    "kind": kind,
                    "start_s": edges[here],
                    "end_s": edges[here + 1],
                    "low": low[here],
                    "high": high[here],
                    "count": np.maximum(np.diff(begun)[here], 2),
                    "bytes": 0,
                    "id": part["id"].iloc[0],
                }
            )  # fmt: skip
        )
    return pd.concat(pieces, ignore_index=True)[COLUMNS]


def _busy_until(start: np.ndarray, end: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Seconds spent in sorted intervals that do not overlap, up to each time."""
    spent = np.concatenate([[0.0], np.cumsum(end - start)])
    return np.interp(at, np.column_stack([start, end]).ravel(), np.column_stack([spent[:-1], spent[1:]]).ravel())


def _merged(found: pd.DataFrame, window_s: tuple[float, float]) -> pd.DataFrame:
    """Join bars of one rank and kind that overlap or lie closer than what the chart can resolve."""
    group = found.groupby(["rank", "lane", "kind"], observed=True).ngroup().to_numpy()
    resolution_s = (window_s[1] - window_s[0]) * (group.max() + 1) / FLOW_BARS
    order = np.lexsort((found["start_s"].to_numpy(), group))
    found, group = found.iloc[order], group[order]
    start, end = found["start_s"].to_numpy(), found["end_s"].to_numpy()
    span = end.max() - start.min() + resolution_s
    reached = np.maximum.accumulate(end + group * span) - group * span  # latest end so far within the group
    opens = np.ones(len(found), dtype=bool)
    opens[1:] = (group[1:] != group[:-1]) | (start[1:] > reached[:-1] + resolution_s)
    merged = _whole(found[opens].assign(low=0.0, high=1.0))
    merged["end_s"] = np.maximum.reduceat(end, np.flatnonzero(opens))
    block = np.cumsum(opens) - 1
    merged["count"] = np.bincount(block)
    merged["bytes"] = np.bincount(block, weights=found["bytes"]).astype(np.int64)
    return merged


def representative_ranks(ranks_by_stage: list[np.ndarray], wanted: int) -> list[int]:
    """A few ranks of every pipeline stage, spread evenly, at least one each."""
    each = max(1, wanted // max(len(ranks_by_stage), 1))
    chosen = []
    for ranks in ranks_by_stage:
        picks = np.unique(np.linspace(0, len(ranks) - 1, min(each, len(ranks))).round().astype(int))
        chosen.extend(int(rank) for rank in np.asarray(ranks)[picks])
    return chosen
