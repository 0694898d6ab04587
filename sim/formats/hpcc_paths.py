"""Explicit paths of HPCC flows: CSV src,dst,path,ack_path with node ids joined by "-"."""

import csv
import io

import numpy as np

from sim.errors import FormatError, ScenarioError, quoted
from sim.topology.network import Network
from sim.topology.routing import explicit_path
from sim.units import is_whole

HEADER = ["src", "dst", "path", "ack_path"]
Pair = tuple[int, int]


def read_paths(
    text: str, network: Network, file: str = "paths"
) -> dict[Pair, tuple[np.ndarray | None, np.ndarray | None]]:
    """(data ports, ACK ports), each int32 or None where the field is empty, of each (src, dst)."""
    rows = [(line, row) for line, row in enumerate(csv.reader(io.StringIO(text)), 1) if any(cell.strip() for cell in row)]
    top, header = rows[0] if rows else (1, [])
    if [cell.strip() for cell in header] != HEADER:
        raise FormatError(f"{file}:{top}: {quoted(','.join(header))}: must be the header {','.join(HEADER)}")
    found: dict[Pair, tuple[np.ndarray | None, np.ndarray | None]] = {}
    lines: dict[Pair, int] = {}
    for line, row in rows[1:]:
        cells = [cell.strip() for cell in row]
        if len(cells) != len(HEADER) or not (is_whole(cells[0]) and is_whole(cells[1])):
            raise FormatError(
                f"{file}:{line}: {quoted(','.join(cells))}: must be src,dst,path,ack_path, like 0,1,0-2-1,1-2-0"
            )
        pair = int(cells[0]), int(cells[1])
        if pair in lines:
            raise FormatError(f"{file}:{line}: the pair {pair[0]},{pair[1]} stands twice, first in line {lines[pair]}")
        lines[pair] = line
        place = f"{file}:{line}"
        found[pair] = (
            _ports(cells[2], pair, network, f"{place}: path"),
            _ports(cells[3], pair[::-1], network, f"{place}: ack_path"),
        )
    return found


def _ports(cell: str, ends: Pair, network: Network, place: str) -> np.ndarray | None:
    if not cell:
        return None
    nodes = cell.split("-")
    bad = next((node for node in nodes if not is_whole(node) or int(node) >= network.n_nodes), None)
    if bad is not None:
        raise FormatError(f"{place} {quoted(cell)}: node {quoted(bad)}: must be an id from 0 to {network.n_nodes - 1}")
    if (int(nodes[0]), int(nodes[-1])) != ends:
        raise FormatError(f"{place} {quoted(cell)}: must lead from {ends[0]} to {ends[1]}")
    try:
        return explicit_path(network, [int(node) for node in nodes])
    except ScenarioError as problem:
        raise FormatError(f"{place} {quoted(cell)}: {str(problem).partition(': ')[2]}") from None
