"""The HPCC simulator's files as a scenario: topology, flows, configuration, and optional paths."""

import re

import numpy as np

from sim.formats.hpcc import HpccCase, case_of_texts
from sim.formats.hpcc_paths import HEADER
from sim.formats.hpcc_topology import topology_text
from sim.formats.import_messages import messages
from sim.formats.import_parts import Found, plain_name
from sim.formats.text import rows_of
from sim.scenario import Scenario
from sim.units import BYTES_PER_KB, PS_PER_S, PS_PER_US, parse_rate_bps, ps_from_s, show_rate

TAKES = "a topology (nNodes nSwitches nLinks ...), a flow file (nFlows, src dst pg dport bytes start_s), a configuration (CC_MODE 3 ...), and paths (CSV)"
TOPOLOGY, FLOWS, CONFIG, PATHS = "topology", "flow file", "configuration", "paths file"
NEVER_KB = 1e9  # a threshold that no queue reaches


def scenario_of(found: Found) -> tuple[Scenario, list[str]]:
    """The scenario of the files, and what to know about it."""
    kind_of = {found.text(name): what_is(name, found.text(name)) for name in found.left}
    topology, flows, config, paths = (found.take_where(kind, lambda text, kind=kind: kind_of[text] == kind) for kind in (TOPOLOGY, FLOWS, CONFIG, PATHS))
    found.end()
    for file, what in ((topology, TOPOLOGY), (flows, FLOWS)):
        if file is None:
            raise found.missing(what)
    case = case_of_texts(topology, flows, config, paths, windows=False)
    listed = case.flows
    said = [*case.notices]
    if config is None:
        said.append("no configuration is given: DCQCN with the HPCC simulator's defaults")
    names = [file[0] for file in (topology, flows, config, paths) if file]
    origin_ps = int(listed.start_ps.min())
    host = np.full(case.network.n_nodes, -1)
    host[case.network.hosts] = np.arange(case.network.n_hosts)
    data = {
        "name": plain_name(flows[0]), "title": f"HPCC simulator {plain_name(flows[0])}",
        "description": f"Imported from {', '.join(names)}: {len(listed.src)} flows; time 0 is {origin_ps / PS_PER_S:g} s there.",
        "cluster": {"topology": "file", "graph": topology_text(case.network) + "\n"},
        "transport": {**case.transport.given(), **_marking(case, said)},
        "simulation": _simulation(case, origin_ps, said),
        "faults": [{**fault.given(), "at_us": max(0.0, fault.at_us - origin_ps / PS_PER_US)} for fault in case.faults],
        **messages(case.network.n_hosts, host[listed.src], host[listed.dst], listed.bytes, listed.start_ps - origin_ps, ", ".join(names), _paths(case)),
    }  # fmt: skip
    if not data["faults"]:
        del data["faults"]
    if case.config.global_t and case.config.has_window:
        said.append("GLOBAL_T 1: windows are one bandwidth-delay product of each flow's own path; `python -m sim hpcc` takes the network's longest")
    return Scenario.from_data(data), said


def what_is(name: str, text: str) -> str | None:
    """Which of the four kinds a file is, by its words wherever its lines end; by its name where they leave it open; None: of no kind."""
    rows = rows_of(text)
    if "".join(rows[0][1]).startswith(",".join(HEADER)):
        return PATHS
    if re.fullmatch(r"[A-Z][A-Z0-9_]+", next((words[0] for _, words in rows if not words[0].startswith("#")), "")):
        return CONFIG
    words = text.split()
    if not words[0].isdecimal():
        return None
    if any(parse_rate_bps(word) is not None for word in words):  # topologies alone hold rates
        return TOPOLOGY
    if len(words) % 6 == 1 and len(words) == 1 + 6 * int(words[0]):
        return FLOWS
    if len(words) > 2 and words[1].isdecimal() and words[2].isdecimal() and len(words) == 3 + int(words[1]) + 5 * int(words[2]):
        return TOPOLOGY
    named = [kind for kind, part in ((TOPOLOGY, "topo"), (FLOWS, "flow")) if part in name.lower()]
    return named[0] if len(named) == 1 else {1: FLOWS, 3: TOPOLOGY}.get(len(rows[0][1]))


def _simulation(case: HpccCase, origin_ps: int, said: list[str]) -> dict:
    limit_ps = ps_from_s(case.config.stop_s) - origin_ps
    if limit_ps <= 0:
        said.append(f"SIMULATOR_STOP_TIME {case.config.stop_s:g} is before the first flow: the run has no time limit")
        return {}
    return {"time_limit_s": limit_ps / PS_PER_S}


def _marking(case: HpccCase, said: list[str]) -> dict:
    """The thresholds of the transport section: given at one rate, and scaled with the rate for others."""
    if not case.config.marking:
        return {"ecn_kmin_kb": NEVER_KB, "ecn_kmax_kb": NEVER_KB}
    if case.kmin_bytes is None:
        return {}
    network = case.network
    at_switch = np.flatnonzero(~network.node_is_host[network.port_src])
    ports = at_switch if len(at_switch) else np.arange(network.n_ports)
    rates, count = np.unique(network.port_rate_bps[ports], return_counts=True)
    rate = int(rates[np.argmax(count)])
    port = int(ports[network.port_rate_bps[ports] == rate][0])
    low, high, most = int(case.kmin_bytes[port]), int(case.kmax_bytes[port]), float(case.pmax[port])
    scale = network.port_rate_bps[ports] / rate
    off = np.abs(np.stack([case.kmin_bytes[ports] - low * scale, case.kmax_bytes[ports] - high * scale]))
    if (off > 1).any() or (case.pmax[ports] != most).any():
        said.append(f"marking thresholds are those of {show_rate(rate)}, scaled with the rate for other links, though the maps say otherwise for them")
    return {"ecn_kmin_kb": low / BYTES_PER_KB, "ecn_kmax_kb": high / BYTES_PER_KB, "ecn_pmax": most, "ecn_reference_gbps": rate / 1e9}


def _paths(case: HpccCase) -> list[dict] | None:
    """Node names along the paths of the flows that have them from the paths file."""
    if not case.explicit.any():
        return None
    network = case.network

    def nodes(ptr: np.ndarray, ports: np.ndarray, flow: int) -> tuple[str, ...]:
        own = ports[ptr[flow] : ptr[flow + 1]]
        return tuple(network.node_name[node] for node in [network.port_src[own[0]], *network.port_dst[own]])

    return [
        {"path": nodes(case.data_ptr, case.data_ports, flow), "ack_path": nodes(case.ack_ptr, case.ack_ports, flow)} if explicit else {}
        for flow, explicit in enumerate(case.explicit.tolist())
    ]
