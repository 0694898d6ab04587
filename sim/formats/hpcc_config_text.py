"""Configuration files of the HPCC simulator, written from a transport section, and what they cannot carry of one."""

import numpy as np

from sim.congestion.registry import CONTROLLERS
from sim.errors import FormatError
from sim.formats.hpcc import REFERENCE_BPS, transport_of
from sim.formats.hpcc_config import CONTROLLERS as MODES
from sim.formats.hpcc_config import read_config
from sim.scenario import Transport
from sim.topology.network import Network
from sim.transport import has_window, marking_thresholds
from sim.units import BYTES_PER_KB

MIB_PER_MB = 1 / 1.048576
RATES = {"additive_mbps": "RATE_AI", "hyper_mbps": "RATE_HAI", "min_rate_mbps": "MIN_RATE"}
KEYS = {
    "gain": "EWMA_GAIN", "alpha_interval_us": "ALPHA_RESUME_INTERVAL", "decrease_interval_us": "RATE_DECREASE_INTERVAL",
    "increase_interval_us": "RP_TIMER", "recovery_stages": "FAST_RECOVERY_TIMES", "clamp_target": "CLAMP_TARGET_RATE",
    "target": "U_TARGET", "max_stage": "MI_THRESH", "fast_react": "FAST_REACT",
}  # fmt: skip
UNMARKED = 10**9  # kB: no queue gets there


def config_text(transport: Transport, network: Network, stop_s: float, link_down: tuple[int, int, int] = (0, 0, 0)) -> tuple[str, list[str]]:
    """(text, fields of `transport` that it does not carry); FormatError for a controller that the simulator does not have."""
    number = {name: mode for mode, name in MODES.items()}
    control = transport.congestion_control
    if control not in number:
        raise FormatError(f"congestion_control {control!r} is not in the HPCC simulator: {', '.join(number)} are")
    rows = [
        f"CC_MODE {number[control]}", f"PACKET_PAYLOAD_SIZE {transport.payload_bytes}", f"BUFFER_SIZE {max(1, round(transport.buffer_mb * MIB_PER_MB))}",
        f"L2_ACK_INTERVAL {1 if transport.ack_every == 1 else transport.payload_bytes * transport.ack_every}", f"HAS_WIN {int(has_window(transport))}",
        "GLOBAL_T 0", f"SIMULATOR_STOP_TIME {stop_s:.12g}", *_parameters(transport, network), *_maps(transport, network),
        *([f"LINK_DOWN {' '.join(map(str, link_down))}"] if link_down[0] else []),
    ]  # fmt: skip
    text = "\n".join(rows) + "\n"
    back, _ = transport_of(read_config(text), network)
    return text, _unlike(transport, back)


def values_of(transport: Transport) -> dict[str, float]:
    """All parameters of the controller, its own where the section gives none."""
    return {row.name: transport.parameters.get(row.name, row.value) for row in CONTROLLERS[transport.congestion_control].PARAMETERS}


def _parameters(transport: Transport, network: Network) -> list[str]:
    nic_bps = int(np.unique(network.port_rate_bps[network.node_is_host[network.port_src]])[0])
    dctcp = transport.congestion_control == "dctcp"
    rows = []
    for name, value in values_of(transport).items():
        if name in RATES:
            key = "DCTCP_RATE_AI" if dctcp and name == "additive_mbps" else RATES[name]
            scale = 1 if name == "min_rate_mbps" else nic_bps / REFERENCE_BPS
            rows.append(f"{key} {value * scale:.12g}Mb/s")
        elif name in KEYS:
            rows.append(f"{KEYS[name]} {value:.12g}")
    return rows


def _maps(transport: Transport, network: Network) -> list[str]:
    """Marking thresholds of every rate in the network."""
    kmin, kmax, pmax = marking_thresholds(transport, network)
    rates, port = np.unique(network.port_rate_bps, return_index=True)
    columns = (("KMIN_MAP", np.minimum(kmin / BYTES_PER_KB, UNMARKED)), ("KMAX_MAP", np.minimum(kmax / BYTES_PER_KB, UNMARKED)), ("PMAX_MAP", pmax))
    return [f"{key} {len(rates)} " + " ".join(f"{rate} {values[at]:.12g}" for rate, at in zip(rates.tolist(), port.tolist())) for key, values in columns]


def _unlike(transport: Transport, back: Transport) -> list[str]:
    """Names of the fields that a reader of the text would not get."""
    elsewhere = {"ecn_kmin_kb", "ecn_kmax_kb", "ecn_pmax", "ecn_reference_gbps", "parameters", "window", "buffer_mb"}
    found = [name for name in type(transport).model_fields if name not in elsewhere and getattr(transport, name) != getattr(back, name)]
    if abs(transport.buffer_mb - back.buffer_mb) > 0.01 * transport.buffer_mb:
        found.append("buffer_mb")
    mine, its = values_of(transport), values_of(back)
    return found + [f"parameters.{name}" for name, value in mine.items() if abs(value - its[name]) > 1e-9 * abs(value)]
