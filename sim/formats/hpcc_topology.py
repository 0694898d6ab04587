"""Topology files of the HPCC simulator, written: nNodes nSwitches nLinks, the switch ids, then src dst rate delay loss per link."""

import numpy as np

from sim.topology.network import NVSWITCH, Network


def topology_text(network: Network) -> str:
    """The network in that format, with node ids as they are; NVSwitches come first among the switches."""
    switches = np.flatnonzero(~network.node_is_host)
    switches = switches[np.argsort(network.node_tier[switches] != NVSWITCH, kind="stable")]
    columns = (network.port_src, network.port_dst, network.port_rate_bps, network.port_delay_ps, network.port_loss)
    rows = zip(*(column[::2].tolist() for column in columns), strict=True)
    return "\n".join(
        [
            f"{network.n_nodes} {len(switches)} {network.n_ports // 2}",
            " ".join(map(str, switches.tolist())),
            *(f"{a} {b} {rate}bps {delay}ps {loss!r}" for a, b, rate, delay, loss in rows),
        ]
    )


def unsaid(network: Network) -> list[str]:
    """What the format cannot carry of a network, one line each."""
    nvswitches = int((network.node_tier == NVSWITCH).sum())
    said = []
    if nvswitches:
        said.append(f"{nvswitches} NVSwitches are written as the first of the switches: cluster.nvswitches = {nvswitches} tells them apart again")
    if network.hosts_forward:
        said.append("that hosts forward is not carried: cluster.hosts_forward = true brings it back")
    if any(not name.isdecimal() for name in network.node_name):
        said.append("node names are not carried: nodes are numbered")
    return said
