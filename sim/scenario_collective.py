"""Which algorithms there are for which collective, the first of each the default, and the rules on who takes part."""

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from sim.catalogue.gpus import GPUS
from sim.errors import ScenarioError, did_you_mean

if TYPE_CHECKING:
    from sim.scenario_cluster import Cluster
    from sim.scenario_parts import Traffic

ALGORITHMS = {
    "all-reduce": ("ring", "halving-doubling", "double-binary-tree", "direct", "hierarchical", "nvls"),
    "reduce-scatter": ("ring", "halving-doubling", "direct", "hierarchical"),
    "all-gather": ("ring", "halving-doubling", "direct", "hierarchical"),
    "all-to-all": ("direct", "pxn", "hierarchical"),
    "broadcast": ("ring", "direct"),
}
COLLECTIVES = tuple(ALGORITHMS)
ALGORITHM_NAMES = tuple(dict.fromkeys(name for names in ALGORITHMS.values() for name in names))
WITH_CHANNELS = ("ring", "double-binary-tree")
BY_SERVER = ("hierarchical", "pxn", "nvls")  # need whole servers with equally many members each


def check_algorithm(collective: str, algorithm: str, key: str = "algorithm") -> None:
    """ScenarioError with the nearest that exists, unless there is such an algorithm for such a collective."""
    if collective not in ALGORITHMS:
        raise ScenarioError(f"collective = {collective!r} is not one of the choices: {did_you_mean(collective, COLLECTIVES)}")
    known = ALGORITHMS[collective]
    if algorithm in known:
        return
    others = [name for name, names in ALGORITHMS.items() if algorithm in names]
    why = f"is for {' and '.join(others)}, not for {collective}" if others else f"is no algorithm for {collective}"
    raise ScenarioError(f"{key} = {algorithm!r} {why}: {did_you_mean(algorithm, known)}")


def check_channels(algorithm: str, channels: int, local: int, key: str = "channels") -> None:
    """Only rings and trees are split over channels; with several members in a server each channel has a NIC of its own."""
    if channels > 1 and algorithm not in WITH_CHANNELS:
        raise ScenarioError(f"{key} = {channels}: {algorithm} has no channels, only {' and '.join(WITH_CHANNELS)} have; the nearest is 1")
    if local > 1 and channels > local:
        raise ScenarioError(f"{key} = {channels}: must be at most the {local} members in a server, one NIC for each channel; the nearest is {local}")


class Members(NamedTuple):
    """Who takes part in the collective of a scenario."""

    gpus: tuple[int, ...]
    of_server: tuple[int, ...]  # how many members each server in turn has
    local: int  # members in every server, 1 if that is not the same everywhere
    even: bool  # whether it is, and they come server by server


def members(traffic: "Traffic", cluster: "Cluster") -> Members:
    """The members in their order, server by server."""
    ranks = cluster.gpus if traffic.ranks is None else traffic.ranks
    gpus = tuple(range(ranks)) if isinstance(ranks, int) else ranks
    turns = [(server, len(list(found))) for server, found in groupby(gpu // cluster.gpus_per_node for gpu in gpus)]
    of_server = tuple(count for _, count in turns)
    even = len(set(of_server)) == 1 and len({server for server, _ in turns}) == len(turns)
    return Members(gpus, of_server, of_server[0] if even else 1, even)


def in_one_server(traffic: "Traffic", cluster: "Cluster") -> bool:
    """Whether a collective never leaves its server, as far as NVLink joins it."""
    return len(members(traffic, cluster).of_server) == 1 and has_nvlink(cluster)


def has_nvlink(cluster: "Cluster") -> bool:
    """Whether GPUs of one server talk over NVLink."""
    return cluster.gpus_per_node > 1 and (cluster.nvswitches > 0 if cluster.topology == "file" else cluster.nvlink_gbps > 0)


def ranks_from(value: object) -> object:
    """`traffic.ranks` as it is kept: a count or a tuple of GPUs."""
    if isinstance(value, list):
        value = tuple(value)
    whole = value if isinstance(value, tuple) else (value,)
    if value is not None and not all(type(entry) is int for entry in whole):
        given = str(list(value) if isinstance(value, tuple) else value)[:60]
        raise ScenarioError(f"traffic.ranks = {given}: must be how many GPUs, like 16, or which, like [0, 8, 16]")
    return value


def check_collective(traffic: "Traffic", cluster: "Cluster") -> None:
    """The members must exist, and the algorithm must suit where they are."""
    _check_members(traffic.ranks, cluster.gpus)
    who, algorithm = members(traffic, cluster), traffic.algorithm
    check_channels(algorithm, traffic.channels, who.local, "traffic.channels")
    if algorithm not in BY_SERVER:
        return
    chosen = f"traffic.algorithm = {algorithm!r}"
    if not who.even:
        counts = ", ".join(str(count) for count in who.of_server[:6]) + (", ..." if len(who.of_server) > 6 else "")
        other = next(name for name in ALGORITHMS[traffic.collective] if name not in BY_SERVER)
        raise ScenarioError(f"{chosen}: needs equally many GPUs of every server, server by server, not {counts}; the nearest that works is {other!r}")
    if algorithm == "nvls":
        able = [name for name, gpu in GPUS.items() if gpu.nvls]
        if not GPUS[cluster.gpu].nvls:
            raise ScenarioError(f"{chosen}: the NVSwitch of cluster.gpu = {cluster.gpu!r} cannot add up; GPUs with one that can: {', '.join(able)}")
        if who.local == 1 or not has_nvlink(cluster):
            raise ScenarioError(f"{chosen}: needs NVLink and at least 2 GPUs in each server; the nearest that works is 'hierarchical'")


def _check_members(ranks: "int | tuple[int, ...] | None", gpus: int) -> None:
    legal = f"cluster.gpus = {gpus} makes the legal range 0 to {gpus - 1}"
    if isinstance(ranks, int) and not 2 <= ranks <= gpus:
        raise ScenarioError(f"traffic.ranks = {ranks}: must be from 2 to cluster.gpus = {gpus}; the nearest is {max(2, min(ranks, gpus))}")
    if not isinstance(ranks, tuple):
        return
    if len(ranks) < 2:
        raise ScenarioError(f"traffic.ranks = {list(ranks)}: a collective needs at least 2 GPUs")
    seen = set()
    for gpu in ranks:
        if not 0 <= gpu < gpus:
            raise ScenarioError(f"traffic.ranks: there is no GPU {gpu}; {legal}")
        if gpu in seen:
            raise ScenarioError(f"traffic.ranks: GPU {gpu} is listed twice; each takes part once")
        seen.add(gpu)
