"""What the wormhole kernel noted of a run, as far as there is any: episodes, partitions, patterns; and who was under way when."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from sim.result_partitions import incidence, partitions_at
from sim.units import PS_PER_S

UNKNOWN = -1
IN_PACKETS = ("very packet was simulated", "were simulated packet by packet")  # of a notice


@dataclass(frozen=True)
class UnderWay:
    """A partition at a moment; its number is negative where the kernel's records have none that fits."""

    partition_id: int
    flows: np.ndarray
    ports: np.ndarray


def table(result, name: str):
    """`episodes` (as `episodes` here makes them), `partitions` or `patterns` of a result; None if there are none."""
    found = episodes(result) if name == "episodes" else getattr(result, name)
    return found if len(found) else None


def in_packets(result) -> str | None:
    """The engine's sentence that every packet was simulated for a time, and the network not divided."""
    return next((notice for notice in result.raw.notices if any(words in notice for words in IN_PACKETS)), None)


def episodes(result) -> pd.DataFrame:
    """Episodes, and each stretch in which the network was not divided as one more, of partition UNKNOWN with no flows of its own."""
    found, noted = result.episodes, result.raw.records
    if noted is None or not len(noted.undivided):
        return found
    from_ps, to_ps, hops = noted.undivided.T
    rest = pd.DataFrame(
        {
            "partition_id": UNKNOWN, "start_s": from_ps / PS_PER_S, "end_s": to_ps / PS_PER_S, "how": "simulated", "skipped_from_s": np.nan,
            "skipped_s": 0.0, "pattern_id": UNKNOWN, "flows": 0, "ports": 0, "packet_hops": hops, "executed_hops": hops,
        }
    )  # fmt: skip
    return pd.concat([found.assign(how=found["how"].astype(str)), rest], ignore_index=True)


def undivided(result, time_s: float) -> bool:
    """Whether the whole network was simulated packet by packet at a time, with all its flows as one."""
    noted, at_ps = result.raw.records, time_s * PS_PER_S
    return noted is not None and bool(((noted.undivided[:, 0] <= at_ps) & (noted.undivided[:, 1] > at_ps)).any())


def middle_of(result, partition_id: int) -> float:
    """Seconds: the middle of a partition's longest episode."""
    found = episodes(result)
    own = found[found["partition_id"] == partition_id]
    longest = own.loc[(own["end_s"] - own["start_s"]).idxmax()]
    return float((longest["start_s"] + longest["end_s"]) / 2)


def under_way(result, time_s: float) -> list[UnderWay]:
    """The partitions at a time, with the numbers that the kernel gave them; where the network was not divided all flows, as one of number UNKNOWN.

    The kernel notes sizes and times, not members: an episode began when a flow of its partition last started, or one on its ports
    last ended. Twins, of equal size and begun at one instant, are numbered in the order of their first flows.
    """
    parts = partitions_at(result, time_s)
    if parts and undivided(result, time_s):
        return [UnderWay(UNKNOWN, *(np.unique(np.concatenate([getattr(part, ids) for part in parts])) for ids in ("flows", "ports")))]
    known = result.episodes
    now = known[(known["start_s"] <= time_s) & (known["end_s"] > time_s)].sort_values(["start_s", "partition_id"])
    numbers: dict[int, list[int]] = {}
    for flows, number in zip(now["flows"].tolist(), now["partition_id"].tolist(), strict=True):
        numbers.setdefault(flows, []).append(number)
    sizes = [len(part.flows) for part in parts]
    fits = {size for size in set(sizes) if sizes.count(size) == len(numbers.get(size, ()))}
    changed_ps = _last_changes(result, parts, round(time_s * PS_PER_S))
    found = []
    for j in sorted(range(len(parts)), key=lambda j: (changed_ps[j], parts[j].flows[0])):
        number = numbers[sizes[j]].pop(0) if sizes[j] in fits else UNKNOWN - j
        found.append(UnderWay(number, parts[j].flows, parts[j].ports))
    return found


def _last_changes(result, parts, at_ps: int) -> list[int]:
    """When a flow of each partition last started, or one that shared a port with it ended, in picoseconds."""
    raw = result.raw
    start_ps, acked_ps = raw.start_ps[result.dag.n_tasks :], raw.acked_ps
    ended = np.flatnonzero((acked_ps >= 0) & (acked_ps <= at_ps))
    member, port = incidence(raw, ended, acked_ps[ended])
    left_ps = np.zeros(result.network.n_ports + 1, np.int64)  # one more, for the other direction of a last port without
    np.maximum.at(left_ps, port, acked_ps[ended[member]])
    both = np.maximum(left_ps[:-1], left_ps[np.arange(len(left_ps) - 1) ^ 1])
    return [max(int(start_ps[part.flows].max()), int(both[part.ports].max(initial=0))) for part in parts]
