"""Puts a Network together from batches of nodes and links."""

import numpy as np

from sim.scenario import Cluster
from sim.topology.network import FABRIC, HOST, NVLINK, NVSWITCH, Network
from sim.units import bps_from_gbps, ps_from_ns

NVSWITCH_ROW = -0.7
SERVER_GAP = 1.0  # in widths of a GPU


class Wiring:
    """Collects nodes and links in whole arrays; hosts are added first and in rank order."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._node_columns: list[tuple[np.ndarray, ...]] = []
        self._link_columns: list[tuple[np.ndarray, ...]] = []

    def add(
        self, prefix: str, x: np.ndarray, tier: int, row: float | None = None, server: np.ndarray | None = None
    ) -> np.ndarray:
        """int32 ids of len(x) new nodes named prefix0, prefix1, ..."""
        n, first = len(x), len(self._names)
        self._names += [f"{prefix}{index}" for index in range(n)]
        y = np.full(n, tier if row is None else row, np.float64)
        self._node_columns.append(
            (np.full(n, tier, np.int8), np.full(n, -1) if server is None else server, np.asarray(x, np.float64), y)
        )
        return np.arange(first, first + n, dtype=np.int32)

    def connect(self, a: np.ndarray, b: np.ndarray, gbps: float, delay_ns: float, kind: int = FABRIC) -> None:
        """One link from each of `a` to its partner in `b` (broadcast against each other)."""
        a, b = (side.ravel() for side in np.broadcast_arrays(a, b))
        n = len(a)
        self._link_columns.append(
            (a, b, np.full(n, bps_from_gbps(gbps)), np.full(n, ps_from_ns(delay_ns)), np.full(n, kind))
        )

    def network(self) -> Network:
        tier, server, x, y = (np.concatenate(column) for column in zip(*self._node_columns, strict=True))
        a, b, rate_bps, delay_ps, kind = (np.concatenate(column) for column in zip(*self._link_columns, strict=True))
        width = max(float(x.max() - x.min()), 1.0)
        return Network(
            n_nodes=len(tier),
            node_is_host=tier == HOST,
            node_name=tuple(self._names),
            node_tier=tier,
            node_server=server.astype(np.int32),
            node_xy=np.column_stack(((x - x.min()) / width, y)),
            hosts=np.flatnonzero(tier == HOST).astype(np.int32),
            port_src=np.column_stack((a, b)).ravel().astype(np.int32),
            port_dst=np.column_stack((b, a)).ravel().astype(np.int32),
            port_rate_bps=np.repeat(rate_bps, 2).astype(np.int64),
            port_delay_ps=np.repeat(delay_ps, 2).astype(np.int64),
            port_loss=np.zeros(2 * len(a)),
            port_kind=np.repeat(kind, 2).astype(np.int8),
        )


def add_servers(wiring: Wiring, cluster: Cluster) -> tuple[np.ndarray, np.ndarray]:
    """(ids, x) of the GPUs in rank order, grouped in servers; their NVSwitches are wired."""
    rank = np.arange(cluster.gpus)
    server = rank // cluster.gpus_per_node
    x = rank + SERVER_GAP * server
    gpus = wiring.add("gpu", x, HOST, server=server)
    if cluster.nvlink_gbps > 0 and cluster.gpus_per_node > 1:
        size = np.bincount(server)
        switches = wiring.add(
            "nvswitch", np.bincount(server, weights=x) / size, NVSWITCH, NVSWITCH_ROW, server=np.arange(len(size))
        )
        wiring.connect(gpus, switches[server], cluster.nvlink_gbps, cluster.nvlink_delay_ns, NVLINK)
    return gpus, x


def spread(left: float, right: float, n: int) -> np.ndarray:
    """x of n nodes spread evenly over a row."""
    return left + (np.arange(n) + 0.5) * (right - left) / n
