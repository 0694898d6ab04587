"""What a run has counted, and the time series that its result shows."""

from dataclasses import dataclass

import numpy as np

from sim.topology.network import Network
from sim.units import PS_PER_S

SERIES = {"tx_bytes": "tx_bytes", "max_queue_bytes": "max_queue", "marks": "marks", "paused_ps": "paused_ps"}


@dataclass(frozen=True)
class Books:
    """Ports, time bins, totals, and the flows under way (ids, packets acknowledged, marks, retransmits)."""

    port: np.ndarray
    bins: np.ndarray
    n_bins: int
    bin_shift: int
    counters: dict[str, int]
    live: tuple


def bins_until(books: Books, end_ps: int) -> int:
    """Time bins up to the end, or to the last one in which anything was sent (a run that cannot go on stops progressing before)."""
    sent = np.flatnonzero(books.bins["tx_bytes"].reshape(books.n_bins, -1).any(axis=1))
    return min(books.n_bins, max(end_ps >> books.bin_shift, int(sent.max(initial=0))) + 1)


def series(books: Books, network: Network, used_ports: np.ndarray, bins: int, end_ps: int) -> dict[str, np.ndarray]:
    """The first `bins` time bins of every port, [P, bins], by name as in `RawRun`."""
    by_port = books.bins.reshape(books.n_bins, -1).T
    found = {}
    for name, column in SERIES.items():
        values = by_port[column][:, :bins]
        full = np.zeros((network.n_ports, bins), values.dtype)
        full[used_ports] = values[: used_ports.size]
        found[f"series_{name}"] = full
    _carry_over(found["series_tx_bytes"], network.port_rate_bps, 1 << books.bin_shift)
    _book_open_pauses(books, found["series_paused_ps"], end_ps)
    return found


def _carry_over(tx_bytes: np.ndarray, rate_bps: np.ndarray, bin_ps: int) -> None:
    """The kernel books a packet where it starts: what a port cannot have sent within that bin belongs to the next."""
    room = np.ceil(rate_bps * (bin_ps / (8 * PS_PER_S)))
    for b in range(tx_bytes.shape[1] - 1):
        over = np.maximum(0, tx_bytes[:, b] - room).astype(np.int64)
        tx_bytes[:, b] -= over
        tx_bytes[:, b + 1] += over


def _book_open_pauses(books: Books, paused_ps: np.ndarray, end_ps: int) -> None:
    """Pauses that still last when the run ends count up to its end."""
    port, width = books.port, 1 << books.bin_shift
    for p in np.flatnonzero(port["paused"]).tolist():
        since = int(port["paused_since"][p])
        edges = np.clip(np.arange(paused_ps.shape[1] + 1) * width, since, max(end_ps, since))
        paused_ps[p] += np.diff(edges)
