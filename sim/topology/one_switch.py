"""All GPUs on one switch: the smallest network, and the one to teach incast on."""

import numpy as np

from sim.scenario import Cluster
from sim.topology.network import LEAF, Network
from sim.topology.wiring import Wiring, add_servers


def one_switch(cluster: Cluster) -> Network:
    """Every GPU has one link to the switch; servers keep their NVLink."""
    wiring = Wiring()
    gpus, x = add_servers(wiring, cluster)
    switch = wiring.add("switch", np.array([x.mean()]), LEAF)
    wiring.connect(gpus, switch, cluster.nic_gbps, cluster.nic_delay_ns)
    return wiring.network()
