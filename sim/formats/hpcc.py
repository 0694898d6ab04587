"""A run of the HPCC simulator from its own files: topology, flows, configuration, and optional paths."""

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sim.errors import FormatError
from sim.formats.hpcc_config import HpccConfig, read_config
from sim.formats.hpcc_flows import HpccFlows, read_flows
from sim.formats.hpcc_limits import check_ack_interval, check_buffer, check_steps
from sim.formats.hpcc_paths import read_paths
from sim.formats.text import read_text
from sim.scenario import Fault, Transport
from sim.topology.build import network_notices
from sim.topology.from_file import network_from_text
from sim.topology.network import Network, list_nodes
from sim.topology.routing import base_rtt_ps, max_base_rtt_ps, route
from sim.units import BITS_PER_BYTE, BYTES_PER_KB, PS_PER_S, show_rate

REFERENCE_BPS = 10**11  # our controllers scale their additive steps from 100 Gb/s
Named = tuple[str, str]  # a file's name and its text
LINK_DOWN_BEGINS_US = 2_000_000  # LINK_DOWN counts from 2 s, HPCC simulator


@dataclass(frozen=True)
class HpccCase:
    """Everything that a simulation of those files needs. n flows, P ports."""

    network: Network
    flows: HpccFlows
    config: HpccConfig
    transport: Transport
    data_ptr: np.ndarray  # int64[n + 1]: ports of flow i are data_ports[data_ptr[i]:data_ptr[i + 1]]
    data_ports: np.ndarray  # int32
    ack_ptr: np.ndarray
    ack_ports: np.ndarray
    explicit: np.ndarray  # bool[n]: both paths come from the paths file, not from ECMP
    base_rtt_ps: np.ndarray  # int64[n]: of the whole network with GLOBAL_T 1, else of the flow's path
    window_bytes: np.ndarray  # int64[n]: 0 without a window
    kmin_bytes: np.ndarray | None  # int64[P]; None: the controller's own thresholds
    kmax_bytes: np.ndarray | None
    pmax: np.ndarray | None  # float64[P]
    faults: tuple[Fault, ...]
    notices: tuple[str, ...]


def read_hpcc(
    topology: str | Path, flows: str | Path, config: str | Path, paths: str | Path | None = None, ecmp_seed: int = 1
) -> HpccCase:
    """Read the files at these places; FormatError or ScenarioError, one line, for the first fault."""

    def named(path: str | Path) -> Named:
        return Path(path).name, read_text(path)

    return case_of_texts(named(topology), named(flows), named(config), None if paths is None else named(paths), ecmp_seed)


def case_of_texts(topology: Named, flows: Named, config: Named | None, paths: Named | None = None, ecmp_seed: int = 1, windows: bool = True) -> HpccCase:
    """The same of (file name, text); without a configuration the simulator's defaults hold, and the case says so.

    `windows`: whether base RTTs and windows are worked out, which takes a look at all pairs of hosts; else they are 0.
    """
    settings = HpccConfig() if config is None else read_config(config[1], config[0])
    network = network_from_text(topology[1], topology[0])
    if settings.loss > 0:
        network = replace(network, port_loss=np.where(network.port_loss > 0, network.port_loss, settings.loss))
    listed = read_flows(flows[1], network, flows[0])
    if not len(listed.src):
        raise FormatError(f"{flows[0]}: lists 0 flows: at least 1 is needed")
    given = {} if paths is None else read_paths(paths[1], network, paths[0])
    data, ack, explicit = _paths(network, listed, given, ecmp_seed)
    nothing = np.zeros(len(listed.src), np.int64)
    rtt_ps, window_bytes = _windows(network, settings, data, ack) if windows else (nothing, nothing)
    (kmin, kmax, pmax), scaled = _thresholds(network, settings)
    check_ack_interval(settings)
    transport, unlike = transport_of(settings, network)
    check_steps(settings, transport, REFERENCE_BPS / _nic_rates(network)[0])
    check_buffer(settings, transport, network)
    said = [*settings.notices, *listed.notices, *scaled, *unlike, *network_notices(network)]
    if given and not explicit.all():
        lacking = int((~explicit).sum())
        said.append(f"{lacking} of {len(explicit)} flows {'has' if lacking == 1 else 'have'} no path in {paths[0]}: ECMP's is taken")
    return HpccCase(
        network, listed, settings, transport, *data, *ack, explicit, rtt_ps, window_bytes, kmin, kmax, pmax,
        _faults(settings, network), tuple(said),
    )  # fmt: skip


def _paths(network: Network, flows: HpccFlows, given: dict, seed: int) -> tuple[tuple, tuple, np.ndarray]:
    """CSR of the data paths and of the ACK paths, and which flows have both from the file."""
    pairs = list(zip(flows.src.tolist(), flows.dst.tolist(), strict=True))
    key = (flows.sport.astype(np.int64) << 16) | flows.dport
    forth = _merge(
        route(network, flows.src, flows.dst, key, seed), [given.get(pair, (None, None))[0] for pair in pairs]
    )
    back = _merge(
        route(network, flows.dst, flows.src, ~key, seed), [given.get(pair, (None, None))[1] for pair in pairs]
    )
    explicit = np.array([all(path is not None for path in given.get(pair, (None, None))) for pair in pairs], bool)
    return forth, back, explicit


def _merge(routed: tuple[np.ndarray, np.ndarray], explicit: list[np.ndarray | None]) -> tuple[np.ndarray, np.ndarray]:
    if all(path is None for path in explicit):
        return routed
    ptr, ports = routed
    chosen = [ports[ptr[flow] : ptr[flow + 1]] if path is None else path for flow, path in enumerate(explicit)]
    return np.concatenate(([0], np.cumsum([len(path) for path in chosen]))).astype(np.int64), np.concatenate(
        chosen
    ).astype(np.int32)


def _windows(network: Network, config: HpccConfig, data: tuple, ack: tuple) -> tuple[np.ndarray, np.ndarray]:
    """Base RTT and window of each flow: W = rate x RTT, of the largest pair with GLOBAL_T 1."""
    n = len(data[0]) - 1
    if config.global_t:
        rtt, bdp = max_base_rtt_ps(network, config.payload_bytes)
        rtt_ps, window = np.full(n, rtt, np.int64), np.full(n, bdp, np.int64)
    else:
        rtt_ps = base_rtt_ps(network, *data, *ack, config.payload_bytes)
        window = (rtt_ps * (bottleneck_bps(network, *data) / (BITS_PER_BYTE * PS_PER_S))).astype(np.int64)
    return rtt_ps, window if config.has_window else np.zeros(n, np.int64)


def bottleneck_bps(network: Network, ptr: np.ndarray, ports: np.ndarray) -> np.ndarray:
    """int64[n]: the slowest port of each path."""
    return np.minimum.reduceat(network.port_rate_bps[ports], ptr[:-1]) if len(ports) else np.zeros(0, np.int64)


def _thresholds(network: Network, config: HpccConfig) -> tuple[tuple, list[str]]:
    """Marking thresholds per port; a rate that the maps leave out takes the nearest one's, scaled with the rate."""
    if not config.marking:
        never = np.full(network.n_ports, 2**62, np.int64)
        return (never, never, np.zeros(network.n_ports)), ["ENABLE_QCN 0: no packet is marked"]
    if None in (config.kmin_kb, config.kmax_kb, config.pmax):
        missing = [
            key
            for key, value in (("KMIN_MAP", config.kmin_kb), ("KMAX_MAP", config.kmax_kb), ("PMAX_MAP", config.pmax))
            if value is None
        ]
        return (None, None, None), [f"{', '.join(missing)} not given: the controller's own marking thresholds are used"]
    rates, of_port = np.unique(network.port_rate_bps, return_inverse=True)
    rows, said = [], []
    for rate in rates.tolist():
        row, taken = [], []
        for name, table, grows in (
            ("kmin", config.kmin_kb, True),
            ("kmax", config.kmax_kb, True),
            ("pmax", config.pmax, False),
        ):
            nearest = min(table, key=lambda known: (abs(math.log(known / rate)), known))
            taken.append(nearest)
            row.append(table[nearest] * (rate / nearest if grows else 1))
            if nearest != rate and name == "kmin":
                said.append(
                    f"no thresholds are given for {show_rate(rate)}: those of {show_rate(nearest)} are scaled with the rate"
                )
        if row[0] > row[1]:
            most = row[1] * taken[0] / rate
            raise FormatError(
                f"{config.file}:{config.given['KMIN_MAP'][0]}: KMIN_MAP {config.kmin_kb[taken[0]]:g} kB at {show_rate(taken[0])}: "
                f"must be at most {most:g} kB, as KMAX_MAP in line {config.given['KMAX_MAP'][0]} has it there; the nearest is {most:g}"
            )
        rows.append((round(row[0] * BYTES_PER_KB), round(row[1] * BYTES_PER_KB), row[2]))
    kmin, kmax, pmax = (np.array(column)[of_port] for column in zip(*rows, strict=True))
    return (kmin.astype(np.int64), kmax.astype(np.int64), pmax.astype(np.float64)), said


def transport_of(config: HpccConfig, network: Network) -> tuple[Transport, list[str]]:
    """The transport section that behaves as `config` says, and what it cannot express."""
    nic_bps = _nic_rates(network)
    scale = REFERENCE_BPS / int(nic_bps[0])
    said = []
    if len(nic_bps) > 1:
        said.append(
            f"NICs run at {', '.join(show_rate(rate) for rate in nic_bps)}: RATE_AI and RATE_HAI hold at {show_rate(nic_bps[0])} and grow with the rate"
        )
    parameters = {name: value for name, value in _parameters(config, scale).items() if value is not None}
    if not config.dynamic_pfc:
        said.append("USE_DYNAMIC_PFC_THRESHOLD 0: the threshold stays dynamic, as it does in the HPCC simulator")
    if config.back_to_zero:
        said.append("L2_BACK_TO_ZERO 1: a loss goes back to the lost packet, not to the start of its chunk")
    return Transport(
        congestion_control=config.controller,
        payload_bytes=config.payload_bytes,
        ack_every=max(1, math.ceil(config.ack_interval_bytes / config.payload_bytes)),
        pfc="dynamic",
        buffer_mb=config.buffer_mib * 1.048576,
        int_telemetry="ns3",
        window="bdp" if config.has_window else "none",
        parameters=parameters,
    ), said


def _nic_rates(network: Network) -> np.ndarray:
    """Rates of the hosts' ports, rising."""
    return np.unique(network.port_rate_bps[network.node_is_host[network.port_src]])


def _parameters(config: HpccConfig, scale: float) -> dict[str, float | None]:
    def mbps(rate_bps: int | None, factor: float = 1.0) -> float | None:
        return None if rate_bps is None else rate_bps * factor / 1e6

    def number(value: float | None) -> float | None:
        return None if value is None else float(value)

    least = {"min_rate_mbps": mbps(config.min_rate_bps)}
    steps = {"additive_mbps": mbps(config.additive_bps, scale), "hyper_mbps": mbps(config.hyper_bps, scale)}
    return {
        "dcqcn": {
            **least,
            **steps,
            "gain": config.gain,
            "alpha_interval_us": config.alpha_interval_us,
            "decrease_interval_us": config.decrease_interval_us,
            "increase_interval_us": config.increase_interval_us,
            "recovery_stages": number(config.recovery_stages),
            "clamp_target": number(config.clamp_target),
        },
        "hpcc": {
            **least,
            "additive_mbps": steps["additive_mbps"],
            "target": config.u_target,
            "max_stage": number(config.mi_thresh),
            "fast_react": number(config.fast_react),
        },
        "timely": {**least, **steps},
        "dctcp": {**least, "gain": config.gain, "additive_mbps": mbps(config.dctcp_additive_bps, scale)},
    }[config.controller]


def _faults(config: HpccConfig, network: Network) -> tuple[Fault, ...]:
    time_us, a, b = config.link_down
    if time_us == 0:
        return ()
    if max(a, b) >= network.n_nodes or not ((network.port_src == a) & (network.port_dst == b)).any():
        beside = np.unique(network.port_dst[network.port_src == a])
        has = f"nodes are 0 to {network.n_nodes - 1}" if max(a, b) >= network.n_nodes else f"{a} has links to {list_nodes(network, beside)}"
        raise FormatError(f"{config.place('LINK_DOWN')}: there is no link {a}-{b} in the topology: {has}")
    return (Fault(kind="link-down", a=a, b=b, at_us=LINK_DOWN_BEGINS_US + time_us),)
