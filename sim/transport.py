"""From a scenario's transport section to what the packet kernel runs on."""

import numpy as np

from sim.congestion.registry import CONTROLLERS, FIXED_POINT, parameter_row
from sim.errors import ScenarioError
from sim.packet.layout import PFC_DYNAMIC, PFC_FIXED, PFC_OFF
from sim.packet.state import LONG_HAUL_BYTES, PFC_RESERVE_BYTES, Settings, headroom_bytes
from sim.scenario import Simulation, Transport
from sim.topology.network import Network
from sim.units import BITS_PER_BYTE, BYTES_PER_KB, show_bytes, show_rate

PFC = {"off": PFC_OFF, "fixed": PFC_FIXED, "dynamic": PFC_DYNAMIC}
PFC_HYSTERESIS_BYTES = 3072  # xon below xoff unless given, HPCC simulator
NEVER_MARKS = 2**62
NS3_TX_QUANTUM_BYTES, NS3_QUEUE_QUANTUM_BYTES = 128, 80  # units of the HPCC simulator's INT header, times INT_MULTI
NS3_INT_MULTI = 4  # the HPCC simulator's runner at 100 Gb/s


def marking_thresholds(transport: Transport, network: Network) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(kmin_bytes, kmax_bytes, pmax) per port, scaled with the port's rate from the reference rate."""
    default = CONTROLLERS[transport.congestion_control].MARKING
    kmin_kb, kmax_kb, pmax = (
        given if given is not None else usual
        for given, usual in zip((transport.ecn_kmin_kb, transport.ecn_kmax_kb, transport.ecn_pmax), default, strict=True)
    )
    if kmin_kb > kmax_kb:
        kmin_kb, kmax_kb = (kmin_kb, kmin_kb) if transport.ecn_kmin_kb is not None else (kmax_kb, kmax_kb)
    if not np.isfinite(kmin_kb):
        never = np.full(network.n_ports, NEVER_MARKS, np.int64)
        return never, never, np.zeros(network.n_ports)
    scale = network.port_rate_bps / (transport.ecn_reference_gbps * 1e9) * BYTES_PER_KB
    return (
        np.round(kmin_kb * scale).astype(np.int64),
        np.round(kmax_kb * scale).astype(np.int64),
        np.full(network.n_ports, float(pmax)),
    )


def check_clock(transport: Transport, simulation: Simulation, network: Network) -> None:
    """Refuse a clock on which a full packet takes no time: any number of them would be sent at one instant."""
    wire = transport.payload_bytes + transport.header_bytes
    fastest = int(network.port_rate_bps.max(initial=1))
    if simulation.resolution == "1ns" and wire * BITS_PER_BYTE * 10**9 <= fastest:
        least = fastest // (BITS_PER_BYTE * 10**9) + 1
        raise ScenarioError(
            f"simulation.resolution = 1ns: a packet of {wire} B takes less than a nanosecond at {show_rate(fastest)}; "
            f"the nearest packet with its header is {least} B, or resolution = 1ps"
        )


def check_buffers(transport: Transport, network: Network) -> None:
    """Refuse a buffer that cannot hold its PFC thresholds and headroom: a lossless class never drops."""
    need, headroom, name, ports = buffer_need(transport, network)
    buffer = transport.buffer_mb * 1e6
    if need <= buffer:
        return
    hint = f"the nearest buffer_mb is {np.ceil(need / 1e4) / 100:g}"
    left = (buffer - headroom) / max(1, ports) / BYTES_PER_KB
    if transport.pfc == "fixed" and left >= 1:
        hint += f", or pfc_xoff_kb = {np.floor(left):g}"
    raise ScenarioError(
        f"transport.buffer_mb = {transport.buffer_mb:g}: {name} has {ports} ports whose PFC thresholds and headroom take "
        f"{show_bytes(need)}; {hint}"
    )


def buffer_need(transport: Transport, network: Network) -> tuple[float, float, str, int]:
    """(bytes of PFC thresholds and headroom, bytes of headroom alone, name, ports) of the switch that needs the largest buffer."""
    if transport.pfc == "off":
        return 0.0, 0.0, "", 0
    wire = transport.payload_bytes + transport.header_bytes + CONTROLLERS[transport.congestion_control].DATA_TELEMETRY_BYTES
    rooms = headroom_bytes(network.port_rate_bps, network.port_delay_ps, wire)
    headroom = np.bincount(network.port_dst, weights=rooms, minlength=network.n_nodes)
    degree = np.bincount(network.port_dst, minlength=network.n_nodes)
    each = PFC_RESERVE_BYTES if transport.pfc == "dynamic" else transport.pfc_xoff_kb * BYTES_PER_KB
    need = np.where(network.node_is_host, 0, headroom + degree * each)
    worst = int(np.argmax(need))
    return float(need[worst]), float(headroom[worst]), network.node_name[worst], int(degree[worst])


def kernel_settings(
    transport: Transport,
    simulation: Simulation,
    network: Network,
    *,
    may_lose: bool = False,
    thresholds: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
    int_multi: int = NS3_INT_MULTI,
    var_window: bool | None = None,
    rate_bound: bool = True,
) -> Settings:
    """Settings of the packet kernel for this transport on this network.

    `may_lose`: the scenario has lossy or failing links, so that lost packets must be timed. `thresholds`,
    `int_multi`, `var_window`, `rate_bound` take the place of the controller's own, for foreign files.
    """
    check_buffers(transport, network)
    check_clock(transport, simulation, network)
    fixed = transport.hpcc_arithmetic == "fixed"
    module = (FIXED_POINT if fixed else CONTROLLERS)[transport.congestion_control]
    kmin, kmax, pmax = thresholds if thresholds is not None else marking_thresholds(transport, network)
    exact = fixed or transport.int_telemetry == "exact"
    xoff = round((transport.pfc_xoff_kb or 0) * BYTES_PER_KB)
    xon = round(transport.pfc_xon_kb * BYTES_PER_KB) if transport.pfc_xon_kb is not None else xoff - PFC_HYSTERESIS_BYTES
    return Settings(
        controller=module.NUMBER,
        parameters=parameter_row(transport.congestion_control, transport.parameters),
        kmin_bytes=kmin,
        kmax_bytes=kmax,
        pmax=pmax,
        payload_bytes=transport.payload_bytes,
        header_bytes=transport.header_bytes + module.DATA_TELEMETRY_BYTES,
        ack_bytes=transport.ack_bytes + module.ACK_TELEMETRY_BYTES,
        ack_every=transport.ack_every,
        ack_priority=transport.ack_priority == "strict",
        whole_ns=simulation.resolution == "1ns",
        pfc=PFC[transport.pfc],
        buffer_bytes=round(transport.buffer_mb * 1e6),
        xoff_bytes=xoff,
        xon_bytes=max(0, xon),
        var_window=module.VAR_WINDOW if var_window is None else var_window,
        rate_bound=rate_bound,
        telemetry=transport.congestion_control == "hpcc",
        telemetry_tx_quantum=1 if exact else NS3_TX_QUANTUM_BYTES * int_multi,
        telemetry_queue_quantum=1 if exact else NS3_QUEUE_QUANTUM_BYTES * int_multi,
        timeout_ps=round(transport.retransmit_timeout_us * 1e6),
        has_loss=bool(may_lose or transport.pfc == "off" or (network.port_loss > 0).any() or is_long_haul(network).any()),
        seed=simulation.seed,
        bins=simulation.sample_bins + simulation.sample_bins % 2,
    )


def is_long_haul(network: Network) -> np.ndarray:
    """bool[P]: links with more in flight than PFC can hold back; there a full buffer loses packets."""
    return network.port_rate_bps / 8 * (network.port_delay_ps / 1e12) > LONG_HAUL_BYTES


def has_window(transport: Transport) -> bool:
    """Whether flows may only have one bandwidth-delay product in flight."""
    if transport.window == "auto":
        return CONTROLLERS[transport.congestion_control].HAS_WINDOW
    return transport.window == "bdp"
