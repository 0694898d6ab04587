"""k-ary fat-tree (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008, section 3): three tiers of k-port switches."""

import math

import numpy as np

from sim.scenario import Cluster
from sim.topology.network import CORE, LEAF, SPINE, Network
from sim.topology.wiring import Wiring, add_servers, spread


def fat_tree(cluster: Cluster) -> Network:
    """k/2 hosts per edge switch (leaf), k/2 edge switches per pod, (k/2)^2 core switches.

    Oversubscription O leaves k/2/O aggregation switches (spines) in a pod, and cores in proportion.
    Pods without a GPU are not built.
    """
    half = cluster.fat_tree_k // 2
    spines_per_pod = round(half / cluster.oversubscription)
    pods = math.ceil(cluster.gpus / half**2)
    wiring = Wiring()
    gpus, x = add_servers(wiring, cluster)
    leaf_of_gpu = np.arange(cluster.gpus) // half
    right = max(x[-1], 1.0)
    leaves = wiring.add("leaf", spread(0, right, pods * half), LEAF)
    spines = wiring.add("spine", spread(0, right, pods * spines_per_pod), SPINE)
    cores = wiring.add("core", spread(0, right, spines_per_pod * half), CORE)
    wiring.connect(gpus, leaves[leaf_of_gpu], cluster.nic_gbps, cluster.nic_delay_ns)
    leaves, spines = leaves.reshape(pods, half, 1), spines.reshape(pods, spines_per_pod)
    wiring.connect(leaves, spines[:, None, :], cluster.fabric_gbps, cluster.fabric_delay_ns)
    wiring.connect(spines[:, :, None], cores.reshape(1, spines_per_pod, half), cluster.core_gbps, cluster.core_delay_ns)
    return wiring.network()
