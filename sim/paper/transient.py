"""A few flows simulated packet by packet from given rates, in an otherwise empty network, looked at once a microsecond."""

from math import ceil
from typing import NamedTuple

import numpy as np

from sim.paper.carry import Carry
from sim.paper.cut_out import CutOut
from sim.paper.fabric import Fabric
from sim.units import BITS_PER_BYTE, PS_PER_S

SAMPLE_PS = 10**6  # between two samples, the published 1 us
SAMPLE_HOPS = 300  # packet-hops that take as long as one look at the flows
ENDLESS_PACKETS = 2**30  # more than any run gets to


class View(NamedTuple):
    """Which flows of a simulation an episode looks at, in its order; its start on the simulation's clock, in samples; what was delivered by then."""

    flows: np.ndarray
    zero: float
    base_bytes: np.ndarray


class Transient(CutOut):
    """The packet simulation of a cut-out whose flows all enter at time 0, and the view of the episode that goes on in it.

    Of each flow is seen what its receiver has the latency of its path later, so that what is delivered begins at once and evenly.
    `view`: of an episode after the first; `cuts` are what it and those between have made of flows, [(sample, flows, packets)].
    `endless`: the flows of the view go on for ever, as if they had more to send.
    """

    def __init__(self, fabric: Fabric, carry: Carry, flows: list[int], carried: np.ndarray, size_bytes, cuts=(), view: View | None = None, endless=False):
        self._recipe = fabric, carry, flows, carried, size_bytes
        self._cuts, self._to_do = [], list(cuts)
        super().__init__(fabric, flows, size_bytes)
        self._carry, self.counted = carry, None
        self.told_ps = 0  # up to where on the simulation's clock others may know what happened
        self._later = fabric.delivered_after_ps[flows] / SAMPLE_PS
        self._grid = 0  # samples on the simulation's clock
        self._history = np.zeros((ceil(self._later.max() - self._later.min()) + 4, len(flows)))
        self._enter(carried)
        self.view = view or View(np.arange(len(flows)), 0.0, np.zeros(len(flows)))
        if endless:
            self._make_endless()

    def _enter(self, carried: np.ndarray) -> None:
        """Let the flows enter, each with what it carries."""
        self.enter()
        self._carry.give(self.state.flow, self.slots, carried, 0)

    def catch_up(self, number: int, most: int) -> bool:
        """Run on to `number` samples after the episode's start, or as far as `most` goes (see `cost`); whether it got there."""
        most += self.cost
        while self._to_do:
            sample, flows, packets = self._to_do[0]
            if not self._look_until(sample, most):
                return False
            if packets is None:
                self._extend(self.slots[flows])
            else:
                self._cut(flows, packets)
            del self._to_do[0]
        self._number = number
        return self._look_until(self._seen_by(number), most)

    def _seen_by(self, number: int) -> int:
        """The sample on the simulation's clock by which is known what was delivered `number` samples after the episode's start."""
        return ceil(self.view.zero + number + self._later.max())

    def _look_until(self, last: int, most: int) -> bool:
        """Run on to this sample on the simulation's clock, or as far as `most` goes; what was delivered is noted by sample."""
        while self._grid < last:
            if self.cost >= most:
                return False
            self._grid += 1
            self.run_to(self._grid * SAMPLE_PS)
            packets, size = self.state.flow["expected"][self.slots], self.state.flow["size_bytes"][self.slots]
            delivered = np.minimum((packets + 0.5) * self.case.settings.payload_bytes, size)
            self._history[self._grid % len(self._history)] = np.where(packets > 0, delivered, 0.0)
        return True

    @property
    def cost(self) -> int:
        """Packet-hops simulated, looks at the flows counted as SAMPLE_HOPS."""
        return self.packet_hops() + self._grid * SAMPLE_HOPS

    def _cut(self, flows: np.ndarray, packets: np.ndarray) -> None:
        """Let these flows have so many packets in all, or those that they have sent."""
        flow, slots = self.state.flow, self.slots[flows]
        packets = np.maximum(packets, flow["next_packet"][slots])
        less = flow["packets"][slots] - packets
        flow["packets"][slots] = packets
        flow["size_bytes"][slots] -= less * self.case.settings.payload_bytes
        self.state.g[0]["unsent_packets"] -= less.sum()
        self._cuts.append((self._grid, flows, packets))

    def _make_endless(self) -> None:
        """Let the flows of the view have ever more to send from where it begins, whatever has been cut off them there."""
        since, mine = int(self.view.zero), self.view.flows
        before = [cut for cut in self._to_do if cut[0] <= since]
        later = [(sample, flows, packets, ~np.isin(flows, mine)) for sample, flows, packets in self._to_do if sample > since]
        self._to_do = [*before, (since, mine, None), *((sample, flows[others], packets[others]) for sample, flows, packets, others in later)]

    def _extend(self, slots: np.ndarray) -> None:
        """Let flows have ever more to send."""
        flow, g = self.state.flow, self.state.g[0]
        flow["packets"][slots] += ENDLESS_PACKETS
        flow["size_bytes"][slots] = flow["packets"][slots] * int(g["payload"])
        g["unsent_packets"] += len(slots) * ENDLESS_PACKETS

    def go_on(self, flows: np.ndarray, passed: float, delivered_bytes: np.ndarray, need_bytes: np.ndarray):
        """A new episode of these flows of the view alone, `passed` samples after the start of the present one.

        By then they have delivered `delivered_bytes` here, and have `need_bytes` left: less than here, if some has been skipped.
        Returns how to make this simulation again as it then is.
        """
        mine, base = self.view.flows[flows], self.view.base_bytes[flows] + delivered_bytes
        skipped = self.state.flow["size_bytes"][self.slots[mine]] - base - need_bytes
        packets = self.state.flow["packets"][self.slots]
        fewer = packets - packets
        fewer[mine] = np.maximum(0, np.round(skipped / self.case.settings.payload_bytes))
        gone = np.setdiff1d(self.view.flows[np.isinf(self.ends())], mine)
        fewer[gone] = packets[gone]
        if (cut := np.flatnonzero(fewer)).size:
            self._cut(cut, packets[cut] - fewer[cut])
        view = self.view = View(mine, self.view.zero + passed, base)
        recipe, cuts = self._recipe, list(self._cuts)
        return lambda endless: Transient(*recipe, cuts, view, endless)

    def delivered_bytes(self) -> np.ndarray:
        """float64[n]: payload that each flow has delivered in the episode.

        Half a packet is added: so much is under way at a moment, on average, that is not tied to arrivals.
        """
        mine = self.view.flows
        time = self.view.zero + self._number + self._later[mine]
        whole = np.floor(time).astype(np.int64)
        early, late = (self._history[at % len(self._history), mine] for at in (whole, np.minimum(whole + 1, self._grid)))
        return np.maximum(0.0, early + (late - early) * (time - whole) - self.view.base_bytes)

    def tell(self) -> None:
        """Others may know what has happened up to the present sample."""
        self.told_ps = self._seen_by(self._number) * SAMPLE_PS

    def acked_ps(self, place: int) -> int:
        """When the last ACK of the simulation's flow `place` came back on its clock; if that is not known yet, how far it is."""
        acked_ps = int(self.plan.flow["acked"][place])
        return acked_ps if 0 <= acked_ps < self.told_ps else self.told_ps

    @property
    def slowest(self) -> float:
        """Samples that a packet takes at the slowest port."""
        settings = self.case.settings
        wire_bits = (settings.payload_bytes + settings.header_bytes) * BITS_PER_BYTE
        return wire_bits * PS_PER_S / SAMPLE_PS / float(self.case.network.port_rate_bps.min())

    def ends(self) -> np.ndarray:
        """float64[n]: samples from the episode's start until each flow was delivered, latency left out; infinite if it is not yet."""
        mine = self.view.flows
        ended_ps = self.plan.node["ended"][mine]
        return np.where(ended_ps >= 0, ended_ps / SAMPLE_PS - self._later[mine] - self.view.zero, np.inf)

    def rates_bps(self) -> np.ndarray:
        """float64[n]: what the controller of each flow lets it send."""
        return self._carry.allowed_bps(self.state.flow, self.slots[self.view.flows])

    def carried(self) -> np.ndarray:
        """What the flows would take to another episode."""
        return self._carry.take(self.state.flow, self.slots[self.view.flows], int(self.limit_ps))

    def marks(self) -> np.ndarray:
        """int64: marks on the packets of each of `flows`."""
        return self.state.flow["marks"][self.slots].copy()
