"""All-reduce over two complementary binary trees (Sanders, Speck and Traff, Parallel Computing 35(12), 2009; NCCL since 2.4).

Half of the data goes up one tree, summed on the way, and down again; the other half over the second, in which the inner
nodes of the first are leaves. So everybody sends about S while summing and about S while spreading. Pipelined in chunks,
both go on at once. With several members in a server the trees join servers, and the members of one are a chain.
"""

import numpy as np

from sim.workload.collective.template import Template


def lanes(n: int, local: int, channels: int) -> list[Template]:
    """Two trees for each channel; channel c leaves every server by its member c."""
    return [_tree(chained(parent, local, channel)) for channel in range(channels) for parent in pair(n // local)]


def pair(n: int) -> tuple[np.ndarray, np.ndarray]:
    """int[n] twice: the parent of every node, -1 for the root.

    In the first tree node 0 is the root, with 2^k below it, and an inner node is an even number, in order between what is
    below it; the second is the first mirrored, or for odd n shifted by one.
    """
    node = np.arange(n)
    low = node & -node  # distance to the nodes below, times two
    up = np.where((node ^ low | low << 1) < n, node ^ low | low << 1, node ^ low)
    parent = np.where(node == 0, -1, up)
    second = n - 1 - node if n % 2 == 0 else (node - 1) % n  # the node of the first tree whose place it has
    holder = np.argsort(second)
    return parent, np.where(parent[second] < 0, -1, holder[parent[second]])


def chained(parent: np.ndarray, local: int, first: int) -> np.ndarray:
    """int[nodes x local]: parents where member `first` of every server is in the tree, and each further one below the one before."""
    member = np.arange(len(parent) * local)
    server, place = member // local, (member - first) % local
    above = server * local + (first + place - 1) % local
    tree = np.where(parent[server] < 0, -1, parent[server] * local + first % local)
    return np.where(place > 0, above, tree)


def _tree(parent: np.ndarray) -> Template:
    """Everything up to the root, and down again: message m goes from the m-th member that has a parent, or to it."""
    n, child = len(parent), np.flatnonzero(parent >= 0)
    depth = _depth(parent)
    m, root = len(child), int(np.flatnonzero(parent < 0)[0])
    above, deepest = parent[child], int(depth.max())
    up = np.full(n, -1)
    up[child] = np.arange(m)
    down = np.where(up >= 0, up + m, -1)
    inner, under_root = above != root, np.flatnonzero(above == root)
    passing = np.r_[up[above[inner]], np.repeat(down[child[under_root]], len(under_root)), down[child[inner]]]
    from_below = np.r_[up[child[inner]], np.tile(up[child[under_root]], len(under_root)), down[above[inner]]]
    one = np.ones(2 * m, np.int64)
    return Template(
        n=n, src=np.r_[child, above], dst=np.r_[above, child], step=np.r_[deepest - depth[child], deepest + depth[above]],
        part=one, parts=one, own=np.r_[np.ones(m, bool), above == root], before=from_below, then=passing,
        last_member=np.r_[child, above[under_root]], last_message=np.r_[down[child], up[child[under_root]]],
        draw=np.r_[np.zeros(m, np.int64), 1 + _rank_among_siblings(above)], adds=np.arange(2 * m) < m,
    )  # fmt: skip


def _depth(parent: np.ndarray) -> np.ndarray:
    depth, above = np.zeros(len(parent), np.int64), parent.copy()
    while (above >= 0).any():
        depth += above >= 0
        above = np.where(above >= 0, parent[above], -1)
    return depth


def _rank_among_siblings(above: np.ndarray) -> np.ndarray:
    order = np.argsort(above, kind="stable")
    rank = np.empty(len(above), np.int64)
    rank[order] = np.arange(len(above)) - np.searchsorted(above[order], above[order])
    return rank
