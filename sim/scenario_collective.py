"""Which algorithms there are for which collective, the first of each the default, and the rules on who takes part."""

from sim.errors import ScenarioError, did_you_mean

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
