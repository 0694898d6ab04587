"""Chakra execution traces as values: the nodes of all ranks in columns, and the groups of ranks that collectives run in."""

from dataclasses import dataclass

import numpy as np

from sim.errors import ScenarioError
from sim.workload import program_text

COMPUTE, SEND, RECV, COLLECTIVE = range(4)  # kinds of nodes
COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "barrier")
EVERYONE = ""  # name of the group of all ranks
MAX_RANKS = 65_536
MAX_NODES = 20_000_000
MAX_BYTES = 2**50
MAX_PS = 10**18
MAX_ID = 2**64 - 1
MAX_NAME = 40
LISTS = ("id", "kind", "cpu", "duration_ps", "n_bytes", "peer", "tag", "collective", "group", "n_deps")
KEYS = ("nodes_of_rank", *LISTS, "deps", "names", "groups", "members")
LIMITS = {
    "id": (0, MAX_ID), "kind": (0, 3), "cpu": (0, 1), "duration_ps": (0, MAX_PS), "n_bytes": (0, MAX_BYTES), "peer": (-1, MAX_RANKS - 1),
    "tag": (-(2**63), 2**63 - 1), "collective": (-1, len(COLLECTIVES) - 1), "group": (-1, MAX_NODES), "n_deps": (0, MAX_NODES),
}  # fmt: skip


def short(name: str) -> str:
    """A name of a trace as it may stand in a line: no line ends, not too long."""
    return " ".join(name.split())[:MAX_NAME]


@dataclass(frozen=True)
class ChakraWork:
    """N nodes, rank by rank in the order of the files; a node's dependencies are positions among all of them."""

    nodes_of_rank: np.ndarray  # int64[R]
    id: np.ndarray  # uint64[N], as in the files
    kind: np.ndarray  # int64[N]
    cpu: np.ndarray  # int64[N]: 1 for work of the CPU
    duration_ps: np.ndarray  # int64[N], of compute
    n_bytes: np.ndarray  # int64[N], of messages and collectives
    peer: np.ndarray  # int64[N]: the other rank of a message, or the root of a broadcast; -1 none
    tag: np.ndarray  # int64[N]
    collective: np.ndarray  # int64[N], index into COLLECTIVES, -1 none
    group: np.ndarray  # int64[N], index into groups, -1 none
    n_deps: np.ndarray  # int64[N]
    deps: np.ndarray  # int64[sum of n_deps]
    names: list[str]  # [N]
    groups: list[str]
    members: list[list[int]]  # ranks of each group, rising

    @property
    def ranks(self) -> int:
        return len(self.nodes_of_rank)

    @property
    def rank(self) -> np.ndarray:
        """int64[N]: the rank of each node."""
        return np.repeat(np.arange(self.ranks), self.nodes_of_rank)

    def describe(self, node: int, rank: int) -> str:
        """A node in words: "COLL 'grad' (node 7, group dp) on rank 2"."""
        kind = ("COMP", "SEND", "RECV", "COLL")[self.kind[node]]
        if self.kind[node] == COLLECTIVE:
            kind = COLLECTIVES[self.collective[node]]
        group = f", group {short(self.groups[self.group[node]]) or 'of all ranks'}" if self.group[node] >= 0 else ""
        return f"{kind} {short(self.names[node])!r} (node {self.id[node]}{group}) on rank {rank}"


def one_all_reduce(ranks: int, n_bytes: int) -> ChakraWork:
    """The trace of a single all-reduce over all ranks."""
    one = np.ones(ranks, np.int64)
    return ChakraWork(
        one, id=one.astype(np.uint64), kind=one * COLLECTIVE, cpu=one * 0, duration_ps=one * 0, n_bytes=one * n_bytes, peer=-one, tag=one * 0,
        collective=one * 0, group=one * 0, n_deps=one * 0, deps=one[:0], names=["all-reduce"] * ranks, groups=[EVERYONE], members=[list(range(ranks))],
    )  # fmt: skip


def to_text(work: ChakraWork) -> str:
    """The canonical text of a work graph."""
    columns = {key: getattr(work, key).tolist() for key in ("nodes_of_rank", *LISTS, "deps")}
    return program_text.pack({**columns, "names": work.names, "groups": work.groups, "members": work.members})


def from_text(text: str) -> ChakraWork:
    """The work graph of a canonical text; ScenarioError for the first thing wrong with it."""
    content = program_text.unpack(text, KEYS)
    of_rank = program_text.whole_column(content["nodes_of_rank"], "nodes_of_rank", 0, MAX_NODES)
    n = int(of_rank.sum())
    if not 1 <= len(of_rank) <= MAX_RANKS:
        raise ScenarioError(f"program.work: {len(of_rank)} ranks: must be from 1 to {MAX_RANKS}")
    columns = {key: program_text.whole_column(content[key], key, *LIMITS[key], length=n) for key in LISTS}
    deps = program_text.whole_column(content["deps"], "deps", 0, max(0, n - 1), int(columns["n_deps"].sum()))
    groups = program_text.word_column(content["groups"], "groups")
    if not isinstance(content["members"], list) or len(content["members"]) != len(groups):
        raise ScenarioError("program.work: members must be a list of ranks for each of the groups; import the files again")
    members = [program_text.whole_column(ranks, "members", 0, len(of_rank) - 1).tolist() for ranks in content["members"]]
    work = ChakraWork(of_rank, **columns, deps=deps, names=program_text.word_column(content["names"], "names", n), groups=groups, members=members)
    _check_references(work)
    return work


def _check_references(work: ChakraWork) -> None:
    rank, ranks = work.rank, work.ranks
    message = (work.kind == SEND) | (work.kind == RECV)
    collective = work.kind == COLLECTIVE
    for what, wrong in (
        ("peer is no other rank", message & ((work.peer < 0) | (work.peer >= ranks) | (work.peer == rank))),
        ("its collective is missing", collective & (work.collective < 0)),
        ("its group is missing", collective & ((work.group < 0) | (work.group >= len(work.groups)))),
    ):
        if wrong.any():
            raise ScenarioError(f"program.work: node {int(np.flatnonzero(wrong)[0])}: {what}; import the files again")
    if len(work.deps) and (np.repeat(rank, work.n_deps) != rank[work.deps]).any():
        raise ScenarioError("program.work: a node depends on one of another rank; import the files again")
    members = [set(ranks) for ranks in work.members]
    rooted = np.flatnonzero(collective & (work.peer >= 0)).tolist()
    stray = next((node for node in rooted if int(work.peer[node]) not in members[work.group[node]]), None)
    if stray is not None:
        raise ScenarioError(f"program.work: node {stray}: its root is not in its group; import the files again")
    for name, members in zip(work.groups, work.members, strict=True):
        if len(set(members)) != len(members):
            raise ScenarioError(f"program.work: group {name!r} has a rank twice; import the files again")
