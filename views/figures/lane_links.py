"""Which partitions went into which, as numbers to tell and as lines between lanes."""

from dataclasses import dataclass

import pandas as pd

from views.parts.words import plural

MOST_LINKS = 150  # drawn at once; more would hide the lanes
MOST_NAMED = 6  # partitions in one sentence


@dataclass(frozen=True)
class Ways:
    """Other partitions by partition_id, of those that have any, and when each ended. `known`: whether it can be told at all."""

    came_from: dict[int, tuple[int, ...]]
    went_into: dict[int, tuple[int, ...]]
    end_s: dict[int, float]
    known: bool = True


def no_ways() -> Ways:
    """Where nothing is known."""
    return Ways({}, {}, {}, known=False)


def ways_of(partitions: pd.DataFrame) -> Ways:
    """The ways of the partitions table."""
    if partitions["came_from"].isna().any():
        return no_ways()
    ids = partitions["partition_id"].tolist()
    came_from, went_into = (
        {one: tuple(map(int, text.split())) for one, text in zip(ids, partitions[name].tolist(), strict=True) if text}
        for name in ("came_from", "went_into")
    )
    return Ways(came_from, went_into, {one: end for one, end in zip(ids, partitions["end_s"].tolist(), strict=True) if one in went_into})


def told(ways: Ways, partition_id: int) -> list[str]:
    """["came from 2 partitions (12 and 15)", "went into partition 20"], as far as it did."""
    found = []
    for words, of in (("came from", ways.came_from), ("went into", ways.went_into)):
        others = of.get(partition_id, ())
        if len(others) == 1:
            found.append(f"{words} partition {others[0]}")
        elif others:
            first, last = (others[:-1], str(others[-1])) if len(others) <= MOST_NAMED else (others[:MOST_NAMED], f"{len(others) - MOST_NAMED} more")
            found.append(f"{words} {plural(len(others), 'partition')} ({', '.join(map(str, first))} and {last})")
    return found


def links(ways: Ways, placed: pd.Series, window_s: tuple[float, float]) -> pd.DataFrame:
    """Every way between partitions in different rows that happens in a time window, with its two partitions; `placed`: rows by partition_id."""
    row = placed.to_dict()
    found = [
        (ways.end_s[one], row[one], row[other], one, other)
        for one, others in ways.went_into.items()
        if one in row and window_s[0] <= ways.end_s[one] <= window_s[1]
        for other in others
        if other in row and row[other] != row[one]
    ]
    return pd.DataFrame(found, columns=["at_s", "from_row", "to_row", "from_id", "to_id"])
