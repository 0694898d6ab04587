"""Published bandwidths of collectives, from the catalogue's rates, NCCL's rate of a link and its latency model."""

import re
from dataclasses import dataclass, replace

from sim.catalogue.gpus import Gpu
from sim.catalogue.nodes import NODES
from sim.published_jobs import gpu_of
from sim.published_models import NotGiven
from sim.published_rates import PAYLOAD_SHARE, nvlink_bytes_per_s
from sim.published_rows import PublishedRow
from sim.units import PS_PER_S
from sim.workload.collective.busbw import factor
from sim.workload.collective.latency import latency_ps
from sim.workload.collective.nvls import all_reduce_ps

LARGE_BYTES = 8 * 10**9  # where a row names no size: bandwidth, not latency
HDR_GBPS = 200.0
NICS = re.compile(r"\b([1-9]\d{0,5})\s*(?:x\s*|NICs?\s+)([1-9]\d{0,5})\s*G\b|\b([1-9]\d{0,5})\s*HDR|CX-?7\s+([1-9]\d{0,5})\s*G", re.IGNORECASE)
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(KB|MB|GB|KiB|MiB|GiB)")
SIZES = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
SERVERS = re.compile(r"\b([1-9]\d{0,5})\s*(?:nodes|servers|x\s*(?:8\s*)?[ABH]\d{3})", re.IGNORECASE)
OPERATIONS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")


@dataclass(frozen=True)
class _Wires:
    """What a row says of its machines."""

    gpu: Gpu | None
    members: int
    local: int  # members in a server
    server_bytes_per_s: float | None  # payload of a server's NICs together

    @property
    def across(self) -> bool:
        return self.members > self.local


def bandwidth(row: PublishedRow, case: str = "") -> float:
    """Bytes/s that the metric of a row asks for; `case` is the part of the metric that a number belongs to, where there are several.

    Raises
    ------
    NotGiven
        The rate of a link is not given, or the metric is none of these: bus or algorithm bandwidth, payload of a NIC,
        dispatch and combine.
    """
    text = row.metric.lower()
    if row.unit != "GB/s":
        raise NotGiven(f"{row.metric!r} is in {row.unit or 'no unit'}, not in GB/s")
    wires = _wires(row)
    if "payload rate per nic" in text:
        return _network(wires)
    if "dispatch" in text or "combine" in text:
        return _network(wires) if wires.across else _nvlink(wires, row)
    if wires.members < 2:
        raise NotGiven("gpus = 1: a collective is among 2 GPUs or more")
    if "busbw" not in text and "algbw" not in text:
        raise NotGiven(f"metric {row.metric!r} is not a bus bandwidth")
    operation = next((name for name in OPERATIONS if name in text), "all-gather")
    if "busbw" not in text:
        return bandwidth(replace(row, metric=f"busbw {row.metric}"), case) / float(factor(operation, wires.members))
    if operation == "all-to-all" and wires.across:
        nodes = wires.members // wires.local
        return nodes / (nodes - 1) * _network(wires) / wires.local
    return _bus(row, wires, operation, case)


def _bus(row: PublishedRow, wires: _Wires, operation: str, case: str) -> float:
    """Bytes moved over the time of a ring (or of the NVSwitch): the slower of NVLink and a server's NICs, and the latency of its steps."""
    members = wires.members
    given = SIZE.search(case) or SIZE.search(row.metric)
    size = float(given[1]) * SIZES[given[2]] if given else LARGE_BYTES
    moved = size * float(factor(operation, members))
    if "nvls" in row.metric.lower() and wires.gpu is not None and not wires.across:
        return moved / (float(all_reduce_ps(size, wires.local, wires.gpu.nvlink_bps)) / PS_PER_S)
    rates = [nvlink_bytes_per_s(wires.gpu)] if wires.gpu is not None and wires.local > 1 else []
    rates += [_network(wires)] if wires.across or not rates else []
    latency = 0.0 if case == "peak" else latency_ps(operation, "ring", members, wires.local) / PS_PER_S
    return moved / (moved / min(rates) + latency)


def _network(wires: _Wires) -> float:
    if wires.server_bytes_per_s is None:
        raise NotGiven("the rate of the NICs is not given")
    return wires.server_bytes_per_s


def _nvlink(wires: _Wires, row: PublishedRow) -> float:
    if wires.gpu is None:
        raise NotGiven(f"GPU {row.gpu!r} is not in the catalogue")
    return nvlink_bytes_per_s(wires.gpu)


def _wires(row: PublishedRow) -> _Wires:
    """NICs as the row names them, else those of the server that the catalogue lists for a DGX of this GPU."""
    gpu = gpu_of(row.gpu)
    node = next((node for node in NODES.values() if gpu is not None and node.gpu == gpu.name), None)
    members, servers = row.gpus or 2, SERVERS.search(row.gpu)
    local = members // int(servers[1]) if servers and members % int(servers[1]) == 0 else min(members, node.gpus_per_node if node else 1)
    if members % max(1, local):
        raise NotGiven(f"{members} GPUs are not whole servers of {local}")
    found, local = NICS.search(row.gpu), max(1, local)
    if found is None:
        whole = node is not None and "DGX" in row.gpu.upper() and "NIC" not in row.gpu.upper()
        return _Wires(gpu, members, local, node.nics * _payload(node.nic_gbps) if whole else None)
    count, gbps, hdr, single = found.groups()
    return _Wires(gpu, members, local, int(count or hdr or 1) * _payload(HDR_GBPS if hdr else float(gbps or single)))


def _payload(gbps: float) -> float:
    return gbps * 1e9 / 8 * PAYLOAD_SHARE
