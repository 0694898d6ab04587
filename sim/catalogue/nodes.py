"""Servers as they are sold: GPUs, NICs and NVLink of each, one row apiece with its source."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Node:
    """One server, or the part of a rack that shares NVLink."""

    name: str
    gpu: str  # name in sim.catalogue.gpus
    gpus_per_node: int
    nics: int  # for the network between GPUs; those for storage and management apart
    nic_gbps: float
    nvlink_gbps: float  # per GPU and direction
    hbm_bytes: int  # of all its GPUs
    source: str


_ROWS = (
    Node("dgx-a100", "A100-SXM-80", 8, 8, 200.0, 2_400.0, 640 * 10**9,
         "NVIDIA DGX A100 datasheet (640GB): 8 A100 80GB, 8 single-port ConnectX-6 HDR 200 Gb/s, NVLink 600 GB/s both ways per GPU"),
    Node("dgx-h100", "H100-SXM", 8, 8, 400.0, 3_600.0, 640 * 10**9,
         "NVIDIA DGX H100 datasheet: 8 H100, 8 single-port ConnectX-7 NDR 400 Gb/s on 4 OSFP, NVLink 900 GB/s both ways per GPU"),
    Node("hgx-h800", "H800-SXM", 8, 8, 400.0, 1_600.0, 640 * 10**9,
         "arXiv 2505.09343 section 4.1 and 2412.19437 section 3.1: 8 H800, 8 ConnectX-7 400 Gb/s; NVLink 400 GB/s both ways per GPU"),
    Node("hgx-h200", "H200-SXM", 8, 8, 400.0, 3_600.0, 1_128 * 10**9,
         "NVIDIA DGX H200 datasheet (the board with its NICs): 8 H200, 1128 GB, 8 ConnectX-7 400 Gb/s, NVLink 900 GB/s both ways per GPU"),
    Node("dgx-b200", "B200-SXM", 8, 8, 400.0, 7_200.0, 1_440 * 10**9,
         "NVIDIA DGX B200 datasheet: 8 B200, 1440 GB, 8 single-port ConnectX-7 400 Gb/s on 4 OSFP, NVLink 14.4 TB/s both ways in all"),
    Node("gb200-nvl72", "GB200", 72, 72, 400.0, 7_200.0, 13_392 * 10**9,
         "NVIDIA DGX GB200 datasheet: 72 GPUs in one NVLink domain of 130 TB/s, 13.4 TB, 72 single-port ConnectX-7 400 Gb/s"),
    Node("dgx-b300", "B300-SXM", 8, 8, 800.0, 7_200.0, 2_160 * 10**9,
         "NVIDIA DGX B300 datasheet: 8 B300, 2.1 TB, 8 ConnectX-8 800 Gb/s, NVLink 14.4 TB/s both ways in all"),
    Node("gb300-nvl72", "GB300", 72, 72, 800.0, 7_200.0, 20_088 * 10**9,
         "NVIDIA GB300 NVL72 datasheet: 72 GPUs in one NVLink domain of 130 TB/s, 20 TB, 72 ConnectX-8 800 Gb/s"),
)  # fmt: skip

NODES: dict[str, Node] = {row.name: row for row in _ROWS}
