"""Everything that one run needs, gathered: network, graph of tasks and flows, paths, kernel settings, faults."""

from dataclasses import dataclass

import numpy as np

from sim.errors import ScenarioError
from sim.packet.flows import FlowTable
from sim.packet.layout import MAX_PACKETS_OF_FLOW
from sim.packet.state import Settings
from sim.scenario import Scenario
from sim.topology.build import all_notices, build_network, fault_ports
from sim.topology.network import Network
from sim.topology.routing import base_rtt_ps, explicit_path, route
from sim.transport import has_window, is_long_haul, kernel_settings
from sim.units import BITS_PER_BYTE, PS_PER_S, ps_from_us, show_bytes
from sim.workload.build import build_dag, flow_order
from sim.workload.dag import Dag, FlowKind
from sim.workload.fallback import fallback_notices
from sim.workload.memory import memory_notices


@dataclass(frozen=True)
class TimedFault:
    """A change of some ports at a time: kind as in the scenario, but of links; value the rate factor or the loss probability."""

    at_ps: int
    kind: str
    ports: np.ndarray
    value: float


@dataclass
class Case:
    """F flows of the dag have rows in `table`; `src`, `dst` are node ids, `key` tells flows of a pair apart for ECMP."""

    scenario: Scenario
    network: Network
    dag: Dag
    table: FlowTable
    settings: Settings
    faults: list[TimedFault]
    notices: list[str]
    src: np.ndarray
    dst: np.ndarray
    key: np.ndarray
    ecmp_seed: int

    @property
    def packet_hops(self) -> int:
        """Packet-hops, data and ACKs, of a run without retransmission."""
        packets = -(-self.table.size_bytes // self.settings.payload_bytes)
        acks = -(-packets // self.settings.ack_every)
        return int((packets * np.diff(self.table.data_ptr) + acks * np.diff(self.table.ack_ptr)).sum())


def case_of(scenario: Scenario) -> Case:
    """Build everything that a run of `scenario` needs."""
    network = build_network(scenario.cluster)
    dag = build_dag(scenario)
    src, dst = network.hosts[dag.flow_src], network.hosts[dag.flow_dst]
    key = entropy(dag)
    seed = scenario.cluster.ecmp_seed
    data = route(network, src, dst, key, seed)
    ack = route(network, dst, src, ~key, seed)
    if scenario.traffic is not None and any(flow.path or flow.ack_path for flow in scenario.traffic.flows):
        data, ack = _explicit(scenario, network, data, ack, seed)
    faults = timed_faults(scenario, network)
    settings = kernel_settings(
        scenario.transport, scenario.simulation, network,
        may_lose=any(fault.kind in ("link-down", "loss") for fault in faults),
    )  # fmt: skip
    most = MAX_PACKETS_OF_FLOW * settings.payload_bytes
    if (dag.flow_bytes > most).any():
        raise ScenarioError(
            f"a flow of {show_bytes(int(dag.flow_bytes.max()))} has more than 2^31 - 1 packets of {settings.payload_bytes} B; "
            f"the largest flow with this transport.payload_bytes is {show_bytes(most)}"
        )
    table = flow_table(scenario, network, dag.flow_bytes.astype(np.int64), dag.flow_draw_key.astype(np.int64), data, ack)
    notices = all_notices(scenario, network) + fallback_notices(scenario) + memory_notices(scenario)
    empty = int((dag.flow_bytes == 0).sum())
    if scenario.transport.pfc != "off" and is_long_haul(network).any():
        notices.append("PFC cannot keep long-haul links from losing packets: what overflows a buffer behind one is sent again")
    if empty and not any("of 0 bytes" in said for said in notices):
        notices.append(f"flows of 0 bytes are done after their path's delay: {empty}")
    return Case(scenario, network, dag, table, settings, faults, notices, src, dst, key, seed)


def flow_table(scenario: Scenario, network: Network, size_bytes: np.ndarray, draw_key: np.ndarray, data, ack) -> FlowTable:
    """Flows with what follows from their paths, CSR of ports each: round trips of full packets on idle links, and windows."""
    rtt = base_rtt_ps(network, *data, *ack, scenario.transport.payload_bytes)
    window = np.zeros(len(size_bytes), np.int64)
    if has_window(scenario.transport) and len(size_bytes):
        nic_bps = network.port_rate_bps[data[1][data[0][:-1]]]
        window = np.maximum(1, rtt * (nic_bps / (BITS_PER_BYTE * PS_PER_S))).astype(np.int64)
    return FlowTable(size_bytes, window, rtt, draw_key, *data, *ack)


def entropy(dag: Dag) -> np.ndarray:
    """int64[F]: what the ECMP hash sees of a flow besides its switch: the pair and the purpose (one queue pair each)."""
    pair = dag.flow_src.astype(np.int64) * dag.n_ranks + dag.flow_dst
    own = dag.flow_kind == FlowKind.TRAFFIC
    return pair * 16 + dag.flow_kind + np.where(own, np.arange(dag.n_flows, dtype=np.int64) << 40, 0)


def _explicit(scenario, network, data, ack, seed):
    """Put the paths that the scenario gives in the place of ECMP's."""
    order = flow_order(scenario)
    listed = [scenario.traffic.flows[i] for i in order.tolist()]

    def merged(routed, names):
        ptr, ports = routed
        parts = []
        for f, given in enumerate(names):
            if given is None:
                parts.append(ports[ptr[f] : ptr[f + 1]])
            else:
                parts.append(explicit_path(network, [network.node_id(name) for name in given], f, seed))
        lengths = np.array([len(part) for part in parts], np.int64)
        return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64), np.concatenate(parts).astype(np.int32)

    for flow in listed:
        for given, ends, what in ((flow.path, (flow.src, flow.dst), "path"), (flow.ack_path, (flow.dst, flow.src), "ack_path")):
            if given is not None:
                ids = (network.node_id(given[0]), network.node_id(given[-1]))
                wanted = (int(network.hosts[ends[0]]), int(network.hosts[ends[1]]))
                if ids != wanted:
                    raise ScenarioError(
                        f"traffic.flows {flow.src}->{flow.dst}: {what} leads from {given[0]} to {given[-1]}; it must lead from "
                        f"{network.node_name[wanted[0]]} to {network.node_name[wanted[1]]}"
                    )
    return merged(data, [flow.path for flow in listed]), merged(ack, [flow.ack_path for flow in listed])


def timed_faults(scenario: Scenario, network: Network) -> list[TimedFault]:
    """The scenario's faults in order of time, with the ports they touch."""
    found = [
        TimedFault(
            ps_from_us(fault.at_us), fault.kind.replace("switch", "link"), fault_ports(network, fault),
            fault.rate_factor if fault.kind == "degrade" else (fault.probability or 0.0),
        )
        for fault in scenario.faults
    ]  # fmt: skip
    return sorted(found, key=lambda fault: fault.at_ps)
