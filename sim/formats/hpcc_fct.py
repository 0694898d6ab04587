"""The HPCC simulator's result file: sip dip sport dport bytes start_ns fct_ns ideal_fct_ns, a line per finished flow."""

from pathlib import Path

import numpy as np

from sim.formats.hpcc import HpccCase, bottleneck_bps
from sim.topology.routing import base_rtt_ps
from sim.units import BITS_PER_BYTE, PS_PER_NS

FIRST_ADDRESS = 0x0B000001  # address of node h: this + h x 256
HEADER_BYTES = 48  # on every packet, telemetry apart
NS_PER_S = 10**9


def ideal_fct_ns(case: HpccCase) -> np.ndarray:
    """int64[n]: base RTT of the flow's path + all its bytes with headers at the path's slowest link, as the HPCC simulator has it.

    That counts a payload on each of the H links and no ACK, where a lone flow needs H - 1 packets and H ACKs besides its bytes: there as
    here it ends up to H payloads - (H - 1) packets - H ACKs before this, 75 ns on one link of 100 Gb/s. `sim.ideal` is the exact time.
    """
    flows, payload = case.flows, case.config.payload_bytes
    rtt_ps = base_rtt_ps(case.network, case.data_ptr, case.data_ports, case.ack_ptr, case.ack_ports, payload)
    wire_bytes = flows.bytes + -(-flows.bytes // payload) * HEADER_BYTES
    rate = bottleneck_bps(case.network, case.data_ptr, case.data_ports)
    whole, rest = np.divmod(wire_bytes * BITS_PER_BYTE, rate)
    return rtt_ps // PS_PER_NS + whole * NS_PER_S + (rest.astype(np.float64) * NS_PER_S / rate).astype(np.int64)


def fct_text(case: HpccCase, fct_ps: np.ndarray) -> str:
    """The lines of the flows that have finished (fct_ps >= 0), in the order in which they did. `fct_ps`: int64[n]."""
    flows = case.flows
    fct_ps = np.asarray(fct_ps, np.int64)
    done = np.flatnonzero(fct_ps >= 0)
    done = done[np.argsort(flows.start_ps[done] + fct_ps[done], kind="stable")]
    columns = (
        FIRST_ADDRESS + flows.src.astype(np.int64) * 256, FIRST_ADDRESS + flows.dst.astype(np.int64) * 256, flows.sport, flows.dport,
        flows.bytes, flows.start_ps // PS_PER_NS, (fct_ps + PS_PER_NS // 2) // PS_PER_NS, ideal_fct_ns(case),
    )  # fmt: skip
    rows = zip(*(column[done].tolist() for column in columns), strict=True)
    return "".join(
        f"{sip:08x} {dip:08x} {sport} {dport} {size} {start} {fct} {ideal}\n"
        for sip, dip, sport, dport, size, start, fct, ideal in rows
    )


def write_fct(path: str | Path, case: HpccCase, fct_ps: np.ndarray) -> None:
    """Write `fct_text` to a file."""
    Path(path).write_text(fct_text(case, fct_ps), "utf-8")
