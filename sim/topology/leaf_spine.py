"""Leaf-spine (two-tier Clos): every leaf has one link to every spine."""

import numpy as np

from sim.scenario import Cluster
from sim.topology.network import LEAF, SPINE, Network
from sim.topology.wiring import Wiring, add_servers, spread


def leaf_spine(cluster: Cluster) -> Network:
    """Consecutive GPUs share a leaf; fewer or slower spine links than hosts oversubscribe it."""
    wiring = Wiring()
    gpus, x = add_servers(wiring, cluster)
    leaf_of_gpu = np.arange(cluster.gpus) // cluster.hosts_per_leaf
    centre = spread(x[0], x[-1], cluster.leaves)
    used = leaf_of_gpu[-1] + 1
    centre[:used] = np.bincount(leaf_of_gpu, weights=x) / np.bincount(leaf_of_gpu)
    if used < cluster.leaves:
        centre[used:] = x[-1] + np.arange(1, cluster.leaves - used + 1) * cluster.hosts_per_leaf
    leaves = wiring.add("leaf", centre, LEAF)
    spines = wiring.add("spine", spread(x[0], centre.max() if used < cluster.leaves else x[-1], cluster.spines), SPINE)
    wiring.connect(gpus, leaves[leaf_of_gpu], cluster.nic_gbps, cluster.nic_delay_ns)
    wiring.connect(leaves[:, None], spines[None, :], cluster.fabric_gbps, cluster.fabric_delay_ns)
    return wiring.network()
