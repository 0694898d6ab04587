"""The folded Clos that a network is, as an htsim topology; refused with the reason where it is none."""

from collections import Counter

import numpy as np

from sim.errors import FormatError
from sim.formats.htsim_topo import HtsimTopo, Tier, ends
from sim.topology.network import FABRIC, NVSWITCH, Network
from sim.units import BPS_PER_GBPS, PS_PER_NS

NEAREST = "leaf-spine and fat-tree clusters whose switches are all full can be"


def tree_of(network: Network) -> tuple[HtsimTopo, list[str]]:
    """(topology, what it leaves out); FormatError if the network is no folded Clos of two or three tiers."""
    fabric = np.flatnonzero(network.port_kind[::2] == FABRIC) * 2
    a, b, tier = network.port_src[fabric], network.port_dst[fabric], network.node_tier.astype(int)
    swap = tier[a] > tier[b]
    low, high = np.where(swap, b, a), np.where(swap, a, b)
    top = int(tier.max())
    if top not in (2, 3):
        raise _refused(f"it has {top} tiers of switches, htsim's have 2 or 3")
    if (tier[high] != tier[low] + 1).any():
        link = int(np.flatnonzero(tier[high] != tier[low] + 1)[0])
        raise _refused(f"the link {network.node_name[low[link]]}-{network.node_name[high[link]]} does not join neighbouring tiers")
    tiers = [_tier(network, fabric[tier[low] == level], low[tier[low] == level], high[tier[low] == level], level, top) for level in range(top)]
    podsize = network.n_hosts
    if top == 3:
        pods = _pods(network, low, high, tier)
        podsize = network.n_hosts // pods
    topo = HtsimTopo(network.n_hosts, podsize, tuple(tiers))
    _check_wiring(network, topo, low, high, tier)
    said = []
    if (network.node_tier == NVSWITCH).any():
        said.append("NVSwitches and NVLink are not carried by htsim's topologies")
    if network.port_loss.any():
        said.append("loss on links is not carried by htsim's topologies")
    return topo, said


def _refused(why: str) -> FormatError:
    return FormatError(f"as an htsim topology this network cannot be written: {why}; {NEAREST}")


def _tier(network: Network, ports: np.ndarray, low: np.ndarray, high: np.ndarray, level: int, top: int) -> Tier:
    """The switches above `level`: equal numbers of links, rates and delays, whole Gb/s and ns."""
    rates, delays = np.unique(network.port_rate_bps[ports]), np.unique(network.port_delay_ps[ports])
    if len(rates) != 1 or len(delays) != 1:
        raise _refused(f"links above tier {level} have {len(rates)} rates and {len(delays)} delays, one each is carried")
    if rates[0] % BPS_PER_GBPS or delays[0] % PS_PER_NS:
        raise _refused(f"links above tier {level} run at {rates[0] / BPS_PER_GBPS:g} Gb/s with {delays[0] / PS_PER_NS:g} ns, whole numbers are carried")
    down, bundle = Counter(high.tolist()), Counter(zip(low.tolist(), high.tolist(), strict=True))
    up = Counter(network.port_src[network.port_kind == FABRIC][_upward(network)].tolist())
    own_up = {up.get(switch, 0) for switch in down}
    if len(set(down.values())) != 1 or len(set(bundle.values())) != 1 or len(own_up) != 1:
        raise _refused(f"switches above tier {level} differ in their numbers of links")
    return Tier(int(rates[0] // BPS_PER_GBPS), next(iter(down.values())), int(delays[0] // PS_PER_NS), own_up.pop(), 0, next(iter(bundle.values())))


def _upward(network: Network) -> np.ndarray:
    ports = network.port_kind == FABRIC
    return network.node_tier[network.port_dst[ports]] > network.node_tier[network.port_src[ports]]


def _pods(network: Network, low: np.ndarray, high: np.ndarray, tier: np.ndarray) -> int:
    """Parts into which the network falls without its top tier."""
    label = np.arange(network.n_nodes)
    inner = tier[high] < 3
    x, y = low[inner], high[inner]
    while (label[x] != label[y]).any():
        np.minimum.at(label, y, label[x])
        np.minimum.at(label, x, label[y])
    pods = len(np.unique(label[network.hosts]))
    if network.n_hosts % pods:
        raise _refused(f"its {pods} pods have different numbers of hosts")
    return pods


def _check_wiring(network: Network, topo: HtsimTopo, low: np.ndarray, high: np.ndarray, tier: np.ndarray) -> None:
    """Node for node in rising order the links must be htsim's."""
    order = np.concatenate([np.flatnonzero(tier == level) for level in range(int(tier.max()) + 1)])
    position = np.full(network.n_nodes, -1)
    position[order] = np.arange(len(order))
    try:
        wanted = Counter((lower, upper) for _, lower, upper in ends(topo))
    except ZeroDivisionError:
        wanted = Counter()
    if wanted != Counter(zip(position[low].tolist(), position[high].tolist(), strict=True)):
        raise _refused("its switches are wired in another order")
