"""What a flow means to the fluid model: bits on the wire, share of ACKs, ways there and back; and faults as capacities."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sim import ideal
from sim.case import Case, TimedFault
from sim.errors import RunError
from sim.faults import Faults
from sim.packet.flows import FlowTable
from sim.units import BITS_PER_BYTE, PS_PER_S


class Volumes(NamedTuple):
    """Per flow: packets, ACKs, bits of data on the wire with headers, bits of ACKs per bit of data."""

    packets: np.ndarray
    acks: np.ndarray
    wire_bits: np.ndarray
    ack_share: np.ndarray


def volumes(case: Case) -> Volumes:
    """What the flows of a case put on the wire; nothing is lost, so nothing is sent twice.

    The share of ACKs is at most 1: a message smaller than its ACK does not wait for it.
    """
    settings, size = case.settings, case.table.size_bytes
    packets = -(-size // settings.payload_bytes)
    acks = -(-packets // settings.ack_every)
    wire_bits = (size + packets * settings.header_bytes) * float(BITS_PER_BYTE)
    ack_bits = acks * settings.ack_bytes * float(BITS_PER_BYTE)
    share = np.divide(ack_bits, wire_bits, out=np.zeros(len(size)), where=wire_bits > 0)
    return Volumes(packets, acks, wire_bits, np.minimum(1.0, share))


def sums_over_paths(values: np.ndarray, ptr: np.ndarray, ports: np.ndarray) -> np.ndarray:
    """Sum of a value of the ports over each path of a CSR list."""
    total = np.concatenate((np.zeros(1, values.dtype), np.cumsum(values[ports[: ptr[-1]]])))
    return total[ptr[1:]] - total[ptr[:-1]]


def ideal_fct_ps(case: Case, table: FlowTable) -> np.ndarray:
    """int64[F]: completion of each flow alone on the idle paths of `table`, as in packet mode."""
    return ideal.ideal_fct_ps(replace(case, table=table))


def tails(case: Case, table: FlowTable, wire_bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """int64[F] each, ps from when a flow has been served: until its last packet has arrived, and until its last ACK is back.

    Propagation, and storing and forwarding one packet at every other hop: what a lone flow takes beyond its bits at its
    slowest port, so that one is exact.
    """
    network = case.network
    if not len(wire_bits):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    slowest = np.minimum.reduceat(network.port_rate_bps[table.data_ports], table.data_ptr[:-1])
    served = np.rint(wire_bits * PS_PER_S / slowest).astype(np.int64)
    back = sums_over_paths(network.port_delay_ps, table.ack_ptr, table.ack_ports)
    send_ack = case.settings.ack_bytes * BITS_PER_BYTE * PS_PER_S / network.port_rate_bps
    sent = np.rint(sums_over_paths(send_ack, table.ack_ptr, table.ack_ports)).astype(np.int64)
    acked = np.maximum(0, ideal_fct_ps(case, table) - served)
    return np.maximum(0, acked - back - np.where(wire_bits > 0, sent, 0)), acked


def refuse_losses(case: Case) -> None:
    """A fluid has no packets that could be lost: RunError if the scenario loses some at random."""
    lossy = np.flatnonzero(case.network.port_loss > 0)
    losing = [fault for fault in case.faults if fault.kind == "loss" and fault.value > 0]
    if len(lossy) or losing:
        port = int(lossy[0] if len(lossy) else losing[0].ports[0])
        raise RunError(
            f"mode flow cannot lose packets, but the link {case.network.port_name(port)} does: use mode packet, or take the loss out; "
            "link-down, link-up and degrade work in mode flow"
        )


class FluidFaults(Faults):
    """The scenario's faults as changes of capacity. What is under way on a failing link is not lost: it moves with its flow."""

    def __init__(self, case: Case):
        super().__init__(case)
        self.built_bps = case.network.port_rate_bps.astype(float)
        self._factor = np.ones(case.network.n_ports)

    def apply_due(self, now: int, ended: np.ndarray) -> tuple[FlowTable, np.ndarray]:
        """Apply what is due at `now`; the paths and capacities from now on. `ended`: bool per flow."""
        self.ended = ended
        while self.pending and self.pending[0].at_ps <= now:
            self._apply(self.pending.pop(0))
        return self._paths(now), np.where(self.down, 0.0, np.maximum(1, np.round(self.built_bps * self._factor)))

    def _apply(self, fault: TimedFault) -> None:
        if fault.kind == "degrade":
            self._factor[fault.ports] = fault.value
        elif fault.kind in ("link-down", "link-up"):
            self.down[fault.ports] = fault.kind == "link-down"
