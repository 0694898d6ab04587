"""Rail-optimised fat-tree (as described by Wang et al., "Rail-only", arXiv 2307.12169): GPU r of every server on a leaf of rail r."""

import math

import numpy as np

from sim.scenario import Cluster
from sim.topology.network import CORE, LEAF, SPINE, Network
from sim.topology.wiring import Wiring, add_servers, spread


def rail_optimised(cluster: Cluster) -> Network:
    """Servers in units of `hosts_per_leaf`; each unit has one leaf per rail.

    With two tiers every leaf has one link to every spine. With three, that holds inside a pod of
    `pod_servers` servers, and spine j of every pod has one link to each core switch of group j.
    """
    rails, servers = cluster.gpus_per_node, cluster.servers()
    wiring = Wiring()
    gpus, x = add_servers(wiring, cluster)

    server = np.arange(servers)
    pod_of_server = server // cluster.pod_servers
    pods = pod_of_server[-1] + 1
    unit_key = pod_of_server * cluster.pod_servers + server % cluster.pod_servers // cluster.hosts_per_leaf
    _, unit_of_server = np.unique(unit_key, return_inverse=True)
    pod_of_unit = np.zeros(unit_of_server[-1] + 1, np.int64)
    pod_of_unit[unit_of_server] = pod_of_server

    edge = x.reshape(servers, rails)
    left = np.array([edge[pod_of_server == pod].min() for pod in range(pods)])
    right = np.array([edge[pod_of_server == pod].max() for pod in range(pods)])
    leaves_in_pod = np.bincount(pod_of_unit) * rails
    leaves = wiring.add(
        "leaf", np.concatenate([spread(*row) for row in zip(left, right, leaves_in_pod, strict=True)]), LEAF
    )
    spines = wiring.add(
        "spine", np.concatenate([spread(a, b, cluster.spines) for a, b in zip(left, right, strict=True)]), SPINE
    )
    leaves, spines = leaves.reshape(-1, rails), spines.reshape(pods, cluster.spines)

    rank = np.arange(cluster.gpus)
    wiring.connect(gpus, leaves[unit_of_server[rank // rails], rank % rails], cluster.nic_gbps, cluster.nic_delay_ns)
    wiring.connect(leaves[:, :, None], spines[pod_of_unit][:, None, :], cluster.fabric_gbps, cluster.fabric_delay_ns)
    if cluster.tiers == 3:
        down_gbps = leaves_in_pod.max() * cluster.fabric_gbps
        per_group = max(1, math.ceil(down_gbps / (cluster.core_gbps * cluster.core_oversubscription) - 1e-9))
        cores = wiring.add("core", spread(x[0], x[-1], cluster.spines * per_group), CORE)
        wiring.connect(
            spines[:, :, None], cores.reshape(1, cluster.spines, per_group), cluster.core_gbps, cluster.core_delay_ns
        )
    return wiring.network()
