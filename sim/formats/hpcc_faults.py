"""What the HPCC simulator's files carry of a scenario's faults: one link that fails for good, and links that lose packets throughout."""

import math
from dataclasses import dataclass, replace

import numpy as np

from sim.formats.hpcc import LINK_DOWN_BEGINS_US
from sim.scenario import Fault
from sim.topology.build import fault_ports
from sim.topology.network import Network
from sim.units import PS_PER_US, ps_from_us

NEVER_DOWN = 0, 0, 0
SHOWN = 4  # faults that are told one by one


@dataclass(frozen=True)
class Carried:
    """Faults as the files say them. LINK_DOWN counts whole us from 2 s on, so that the flows start `shift_ps` later there."""

    network: Network  # with the losses that hold throughout
    link_down: tuple[int, int, int]  # us after 2 s, node, node; NEVER_DOWN without one
    shift_ps: int
    left: tuple[Fault, ...]  # what they cannot say

    def without_config(self, faults: tuple[Fault, ...]) -> "Carried":
        """The same where there is no configuration to hold LINK_DOWN."""
        if self.link_down == NEVER_DOWN:
            return self
        lost = _fails_for_good(faults, self.network)
        return replace(self, link_down=NEVER_DOWN, shift_ps=0, left=tuple(fault for fault in faults if fault is lost or fault in self.left))


def carried(faults: tuple[Fault, ...], network: Network) -> Carried:
    """What of `faults` the files carry."""
    down = _fails_for_good(faults, network)
    lossy = [fault for fault in faults if fault.kind == "loss" and fault.at_us == 0 and not _met_later(fault, faults, network, ("loss",))]
    loss = network.port_loss.copy()
    for fault in lossy:
        loss[fault_ports(network, fault)] = fault.probability
    left = tuple(fault for fault in faults if fault is not down and all(fault is not other for other in lossy))
    network = replace(network, port_loss=loss)
    if down is None:
        return Carried(network, NEVER_DOWN, 0, left)
    at_ps = ps_from_us(down.at_us)
    us = max(1, math.ceil(at_ps / PS_PER_US))  # 0 means never
    return Carried(network, (us, network.node_id(down.a), network.node_id(down.b)), (LINK_DOWN_BEGINS_US + us) * PS_PER_US - at_ps, left)


def told(left: tuple[Fault, ...]) -> list[str]:
    """The faults that are left out, in words."""
    words = [f"{fault.kind} of {fault.where} at {fault.at_us:g} us" for fault in left[:SHOWN]]
    return words + ([f"{len(left) - SHOWN} more fault{'s' * (len(left) > SHOWN + 1)}"] if len(left) > SHOWN else [])


def _fails_for_good(faults: tuple[Fault, ...], network: Network) -> Fault | None:
    """The first link-down that nothing undoes."""
    downs = [fault for fault in faults if fault.kind == "link-down" and not _met_later(fault, faults, network, ("link-up", "switch-up"))]
    return min(downs, key=lambda fault: fault.at_us, default=None)


def _met_later(fault: Fault, faults: tuple[Fault, ...], network: Network, kinds: tuple[str, ...]) -> bool:
    """Whether a fault of these kinds, of the same time or later, touches the same links."""
    ports = fault_ports(network, fault)
    others = (other for other in faults if other is not fault and other.kind in kinds and other.at_us >= fault.at_us)
    return any(np.isin(ports, fault_ports(network, other)).any() for other in others)
