"""From a cluster to its network, whatever the family."""

import numpy as np

from sim.scenario import Cluster, Fault, Scenario, notices
from sim.scenario_parts import OF_SWITCHES
from sim.scenario_rules import LARGE_BDP_BYTES
from sim.topology.fat_tree import fat_tree
from sim.topology.from_file import network_from_text
from sim.topology.leaf_spine import leaf_spine
from sim.topology.network import Network
from sim.topology.one_switch import one_switch
from sim.topology.rail_optimised import rail_optimised
from sim.units import show_bytes, show_plural, show_rate, show_time

FAMILIES = {"one-switch": one_switch, "leaf-spine": leaf_spine, "fat-tree": fat_tree, "rail-optimised": rail_optimised}


def build_network(cluster: Cluster) -> Network:
    """The network of `cluster`; rank i is host i."""
    if cluster.topology == "file":
        return network_from_text(cluster.graph, "cluster.graph", cluster.gpus_per_node, cluster.nvswitches, cluster.hosts_forward)
    return FAMILIES[cluster.topology](cluster)


def fault_ports(network: Network, fault: Fault) -> np.ndarray:
    """int32: the ports that a fault touches, both directions of every parallel link."""
    if fault.kind in OF_SWITCHES:
        return network.ports_of_switch(fault.a)
    ports = network.ports_between(fault.a, fault.b)
    return np.sort(np.concatenate((ports, ports ^ 1)))


def network_notices(network: Network) -> list[str]:
    """Links that are legal but worth a word: more in flight than any queue holds."""
    in_flight = network.port_rate_bps / 8 * (network.port_delay_ps / 1e12)
    long = np.flatnonzero(in_flight[::2] > LARGE_BDP_BYTES) * 2
    if not len(long):
        return []
    worst = long[np.argmax(in_flight[long])]
    ends = f"{network.node_name[network.port_src[worst]]}-{network.node_name[network.port_dst[worst]]}"
    return [
        f"{show_plural(len(long), 'link has', 'links have')} a large bandwidth-delay product: {ends} holds {show_bytes(in_flight[worst])} in flight "
        f"({show_rate(network.port_rate_bps[worst])}, {show_time(network.port_delay_ps[worst] / 1e12)})"
    ]


def all_notices(scenario: Scenario, network: Network) -> list[str]:
    """Every notice before a run: those of the scenario, and of links that only the network knows."""
    return notices(scenario) + (network_notices(network) if scenario.cluster.topology == "file" else [])
