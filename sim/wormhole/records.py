"""What a run of the wormhole kernel leaves to be looked at: episodes, partitions and patterns, as numpy records."""

from dataclasses import dataclass

import numpy as np

from sim.wormhole.layout import CLASS_FIELDS, FORGOTTEN
from sim.wormhole.pattern import NOT_READ, read_patterns

MOST_EPISODES = 500_000  # the first ones are kept
MOST_STATES = 50_000  # of which the pattern is read: those that most episodes began in
BITS_PER_BYTE = 8
PS_PER_S = 10**12

EPISODE = np.dtype(
    [
        ("partition_id", "i8"), ("start_ps", "i8"), ("end_ps", "i8"), ("replayed", "?"), ("skipped_from_ps", "i8"), ("skipped_ps", "i8"),
        ("pattern_id", "i8"), ("flows", "i8"), ("ports", "i8"), ("packet_hops", "i8"), ("executed_hops", "i8"),
    ]
)  # fmt: skip
PARTITION = np.dtype(
    [(name, "i8") for name in ("partition_id", "start_ps", "end_ps", "max_flows", "max_ports", "episodes")]
)
PATTERN = np.dtype(
    [(name, "i8") for name in ("pattern_id", "flows", "ports", "count", "hits", "hops_saved", "total_ps", "states")]
)


@dataclass(frozen=True)
class Records:
    """Tables as records. Of pattern i, `words[i]` say what it is (`pattern.pattern_of`) and `rates_bps[i]` how fast its flows sent."""

    episodes: np.ndarray
    partitions: np.ndarray
    patterns: np.ndarray
    words: list
    rates_bps: list  # payload sent over time, per flow, in the longest episode that was seen of the pattern
    class_rate_bps: np.ndarray  # of ports, by class
    class_delay_ps: np.ndarray
    left_out: tuple[int, int]  # episodes not listed, states not read
    undivided: np.ndarray  # int64[n, 3]: from ps, to ps, packet-hops, where the whole network was simulated packet by packet

    def notices(self) -> list[str]:
        """What these tables do not hold."""
        episodes, states = self.left_out
        found = []
        if episodes:
            found.append(
                f"The episode table holds the first {len(self.episodes):,} of {len(self.episodes) + episodes:,} episodes."
            )
        if states:
            found.append(f"The patterns of {states:,} rarely seen states were not read: their episodes have pattern_id -1.")
        return found


def make_records(w, state, classes, undivided) -> Records:
    """The records of the kernel's memory `w`, solved in the packet simulation `state`; `classes`: what port classes stand for.

    `undivided`: see `Records`.
    """
    count = int(w.p[0]["episodes"])
    log = w.episode[: min(count, MOST_EPISODES)]
    seen, first, visits = np.unique(log["state"], return_index=True, return_counts=True)
    known = seen != FORGOTTEN
    seen, first, visits = seen[known], first[known], visits[known]
    most = np.sort(np.argsort(-visits, kind="stable")[:MOST_STATES])
    wanted = most[np.argsort(first[most], kind="stable")]  # in order of appearance, so that patterns are
    numbers, words, left = read_patterns(w, state, classes, seen[wanted])
    of_state = np.full(int(w.p[0]["states"]) + 1, NOT_READ, np.int64)  # the last entry is for what was forgotten
    of_state[seen[wanted]] = numbers
    episodes = _episodes(w, log, of_state, words)
    left_of = dict(zip(seen[wanted].tolist(), left, strict=True))
    unread = len(seen) - int((numbers != NOT_READ).sum())
    rate_bps, delay_ps = (classes[CLASS_FIELDS.index(name)].astype(np.int64) for name in ("rate_bps", "delay_ps"))
    return Records(
        episodes, partitions_of(episodes), _patterns(episodes, log["state"], words), words,
        _rates(w, int(state.g[0]["payload"]), log, episodes["pattern_id"], left_of, words),
        rate_bps, delay_ps, (count - len(log), unread), undivided,
    )  # fmt: skip


def _episodes(w, log, of_state, words) -> np.ndarray:
    found = np.zeros(len(log), EPISODE)
    replayed = log["hit"] > 0
    lasted = log["to_ps"] - log["from_ps"]
    skipped = np.where(replayed, 0, np.minimum(log["skipped_ps"], lasted))
    pattern = of_state[log["state"]]
    ports = np.append([int(some[1]) for some in words], 0).astype(np.int64)
    found["partition_id"], found["start_ps"], found["end_ps"], found["replayed"] = log["part"], log["from_ps"], log["to_ps"], replayed
    found["skipped_ps"] = skipped
    found["skipped_from_ps"] = np.where(skipped > 0, log["from_ps"] + np.minimum(log["skip_from"], lasted - skipped), -1)
    found["pattern_id"], found["flows"] = pattern, log["flows"]
    found["ports"] = np.where(pattern == NOT_READ, log["ports"], ports[pattern])
    found["packet_hops"] = log["hops"] + log["skipped"]
    found["executed_hops"] = np.where(replayed, 0, log["hops"])
    return found


def partitions_of(episodes: np.ndarray) -> np.ndarray:
    """The life of every partition, from its episodes."""
    ids, inverse, count = np.unique(episodes["partition_id"], return_inverse=True, return_counts=True)
    found = np.zeros(len(ids), PARTITION)
    found["partition_id"], found["episodes"] = ids, count
    found["start_ps"] = np.iinfo(np.int64).max
    for name, of, extreme in (
        ("start_ps", "start_ps", np.minimum), ("end_ps", "end_ps", np.maximum),
        ("max_flows", "flows", np.maximum), ("max_ports", "ports", np.maximum),
    ):  # fmt: skip
        extreme.at(found[name], inverse, episodes[of])
    return found


def _patterns(episodes, states, words) -> np.ndarray:
    read = episodes["pattern_id"] != NOT_READ
    episodes, states = episodes[read], states[read]
    which = episodes["pattern_id"]
    found = np.zeros(len(words), PATTERN)
    found["pattern_id"] = np.arange(len(words))
    found["flows"], found["ports"] = [int(some[0]) for some in words], [int(some[1]) for some in words]
    for name, values in (
        ("count", 1), ("hits", episodes["replayed"]), ("hops_saved", episodes["packet_hops"] - episodes["executed_hops"]),
        ("total_ps", episodes["end_ps"] - episodes["start_ps"]),
    ):  # fmt: skip
        np.add.at(found[name], which, values)
    by_state = np.unique(np.stack([which, states]), axis=1)[0] if len(which) else which
    found["states"] = np.bincount(by_state, minlength=len(words))
    return found


def _rates(w, payload, log, which, left_of, words) -> list:
    """float64[flows] of each pattern: payload that its flows sent over time, in bit/s, in its longest episode of known outcome; 0 of none."""
    lasted = log["to_ps"] - log["from_ps"]
    told = np.flatnonzero((which != NOT_READ) & (log["outcome"] != FORGOTTEN))
    order = told[np.lexsort((lasted[told], which[told]))]
    last = order[np.flatnonzero(np.append(np.diff(which[order]) != 0, True))] if len(order) else order
    found = [np.zeros(int(some[0])) for some in words]
    for episode in last.tolist():
        outcome = w.outcome[log["outcome"][episode]]
        at = int(outcome["at"])
        at += 2 + 2 * int(w.arena[at]) + int(w.arena[at + 1])
        flows = int(log["flows"][episode])
        sends = w.arena[at + 1 : at + 4 * flows : 4]
        sent_bytes = np.minimum(sends * payload, left_of[int(log["state"][episode])])
        found[which[episode]] = sent_bytes * (BITS_PER_BYTE * PS_PER_S / max(1, int(lasted[episode])))
    return found
