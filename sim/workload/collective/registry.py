"""Every algorithm of every collective by name."""

from collections.abc import Callable

from sim.errors import ScenarioError
from sim.scenario_collective import BY_SERVER, check_algorithm, check_channels
from sim.workload.collective import direct, double_binary_tree, halving_doubling, hierarchical, nvls, pxn, ring
from sim.workload.collective.compose import beside, chunked
from sim.workload.collective.template import Template

Lanes = Callable[[int, int, int], list[Template]]  # (n, local, channels): templates among which the data are split


def _one(build: Callable[[int], Template]) -> Lanes:
    return lambda n, local, channels: [build(n)]


def _by_server(build: Callable[[int, int], Template]) -> Lanes:
    return lambda n, local, channels: [build(n, local)]


def _rings(build: Callable[..., Template]) -> Lanes:
    def lanes(n: int, local: int, channels: int) -> list[Template]:
        return [build(n, order) for order in ring.orders(n, local, channels)]

    return lanes


LANES: dict[tuple[str, str], Lanes] = {
    ("all-reduce", "ring"): _rings(ring.all_reduce),
    ("all-reduce", "halving-doubling"): _one(halving_doubling.all_reduce),
    ("all-reduce", "double-binary-tree"): double_binary_tree.lanes,
    ("all-reduce", "direct"): _one(direct.all_reduce),
    ("all-reduce", "hierarchical"): _by_server(hierarchical.all_reduce),
    ("all-reduce", "nvls"): _by_server(nvls.all_reduce),
    ("reduce-scatter", "ring"): _rings(ring.reduce_scatter),
    ("reduce-scatter", "halving-doubling"): _one(halving_doubling.reduce_scatter),
    ("reduce-scatter", "direct"): _one(direct.reduce_scatter),
    ("reduce-scatter", "hierarchical"): _by_server(hierarchical.reduce_scatter),
    ("all-gather", "ring"): _rings(ring.all_gather),
    ("all-gather", "halving-doubling"): _one(halving_doubling.all_gather),
    ("all-gather", "direct"): _one(direct.all_gather),
    ("all-gather", "hierarchical"): _by_server(hierarchical.all_gather),
    ("all-to-all", "direct"): _one(direct.all_to_all),
    ("all-to-all", "pxn"): _by_server(pxn.all_to_all),
    ("all-to-all", "hierarchical"): _by_server(hierarchical.all_to_all),
    ("broadcast", "ring"): _rings(ring.broadcast),
    ("broadcast", "direct"): _one(direct.broadcast),
}


def template(collective: str, algorithm: str, n: int, local: int = 1, chunks: int = 1, channels: int = 1) -> Template:
    """The template of a collective among n members, `local` in each server and numbered server by server.

    Parameters
    ----------
    chunks : parts of every message, sent one after the other
    channels : rings or trees that share the data, each over a NIC of its own

    Raises
    ------
    ScenarioError
        There is no such combination; names the nearest.
    """
    check(collective, algorithm, n, local, chunks, channels)
    return beside([chunked(lane, chunks) for lane in LANES[collective, algorithm](n, local, channels)])


def check(collective: str, algorithm: str, n: int, local: int, chunks: int, channels: int) -> None:
    """What `template` refuses."""
    check_algorithm(collective, algorithm)
    check_channels(algorithm, channels, local)
    if n < 2:
        raise ScenarioError(f"{collective} among {n} members: must be at least 2; the nearest is 2")
    if chunks < 1 or channels < 1 or local < 1:
        raise ScenarioError(f"chunks = {chunks}, channels = {channels}, local = {local}: must all be at least 1; the nearest is 1")
    if n % local:
        lower = n // local * local
        raise ScenarioError(f"{collective} among {n} members, {local} in each server: must be whole servers; the nearest are {lower} and {lower + local}")
    if algorithm == "nvls" and local < 2:
        raise ScenarioError(f"{collective} by nvls with {local} member in each server: the NVSwitch needs at least 2; the nearest is hierarchical")


__all__ = ["BY_SERVER", "LANES", "check", "template"]
