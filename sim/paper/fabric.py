"""The network as episodes see it: paths, rates and latencies at present, and small cases cut out of it for a few flows."""

from dataclasses import replace

import numpy as np

from sim.case import Case
from sim.flow_level_paths import tails
from sim.packet import state as memory
from sim.packet.flows import FlowTable
from sim.packet.state import headroom_bytes
from sim.topology.network import Network
from sim.workload.dag import Dag

OF_NODE = ("buffer_bytes", "reserve_bytes", "pool_bytes", "shift", "xoff_floor", "buffered")  # follow from all of a switch's ports


class Fabric:
    """Paths and rates from one fault to the next; a port that is down has rate 0.

    `delivered_after_ps`, `acked_after_ps`: of each flow, from its last bit at its slowest port until it is delivered, and acknowledged.
    """

    def __init__(self, case: Case, table: FlowTable, wire_bits: np.ndarray, capacity_bps: np.ndarray):
        self.case, self.table = case, table
        self.up = capacity_bps > 0
        self.network = replace(case.network, port_rate_bps=np.maximum(1, capacity_bps).astype(np.int64))
        self.whole = memory.make_state(self.network, case.settings._replace(bins=2, bin_shift=62), np.zeros(1, np.int64), 2, 2, 2)
        self.delivered_after_ps, self.acked_after_ps = tails(case, table, wire_bits)
        data, acks = table.data_ports.tolist(), table.ack_ports.tolist()
        self._data = data, table.data_ptr.tolist()
        self._acks = acks, table.ack_ptr.tolist()
        self._ports: dict[int, list[int]] = {}

    def paths(self, f: int) -> tuple[list[int], list[int]]:
        """Ports of the data of flow `f`, and of its ACKs."""
        (data, data_ptr), (acks, ack_ptr) = self._data, self._acks
        return data[data_ptr[f] : data_ptr[f + 1]], acks[ack_ptr[f] : ack_ptr[f + 1]]

    def ports(self, f: int) -> list[int]:
        """All ports that flow `f` queues in."""
        found = self._ports.get(f)
        if found is None:
            data, acks = self.paths(f)
            found = self._ports[f] = data + acks
        return found

    def is_whole(self, f: int) -> bool:
        """Whether every port of the paths of flow `f` is up."""
        return bool(self.up[self.ports(f)].all())

    def line_bps(self, f: int) -> int:
        """Rate of the NIC port of flow `f`."""
        return int(self.network.port_rate_bps[self.ports(f)[0]])

    def cut_out(self, flows: list[int], size_bytes: np.ndarray) -> tuple[Case, np.ndarray]:
        """(a case of these flows alone, all from time 0 on, on the links that they use; its ports here)."""
        paths = [self.paths(f) for f in flows]
        links = np.unique(np.array([p for data, acks in paths for p in (*data, *acks)], np.int64) >> 1)
        ports = np.stack([2 * links, 2 * links + 1], axis=1).ravel()
        network = self._cut_network(ports)
        data = _renumbered([data for data, _ in paths], links)
        acks = _renumbered([acks for _, acks in paths], links)
        mine, table, settings = np.array(flows), self.table, self.case.settings
        cut = FlowTable(size_bytes, table.window_bytes[mine], table.base_rtt_ps[mine], table.draw_key[mine], *data, *acks)
        settings = settings._replace(
            kmin_bytes=settings.kmin_bytes[ports], kmax_bytes=settings.kmax_bytes[ports], pmax=settings.pmax[ports], bins=2, bin_shift=62
        )
        none = np.zeros(len(flows), np.int64)
        case = Case(self.case.scenario, network, _dag(self.case.dag, size_bytes), cut, settings, [], [], none, none + 1, none, 0)
        return case, ports

    def _cut_network(self, ports: np.ndarray) -> Network:
        whole = self.network
        nodes = np.unique(whole.port_src[ports])
        return Network(
            n_nodes=len(nodes), node_is_host=whole.node_is_host[nodes], node_name=tuple(whole.node_name[node] for node in nodes.tolist()),
            node_tier=whole.node_tier[nodes], node_server=whole.node_server[nodes], node_xy=whole.node_xy[nodes],
            hosts=np.flatnonzero(whole.node_is_host[nodes]).astype(np.int32),
            port_src=np.searchsorted(nodes, whole.port_src[ports]).astype(np.int32),
            port_dst=np.searchsorted(nodes, whole.port_dst[ports]).astype(np.int32),
            port_rate_bps=whole.port_rate_bps[ports], port_delay_ps=whole.port_delay_ps[ports], port_loss=whole.port_loss[ports],
            port_kind=whole.port_kind[ports], hosts_forward=whole.hosts_forward,
        )  # fmt: skip

    def fit(self, state, ports: np.ndarray) -> None:
        """Give the packet simulation of a cut-out the buffers and thresholds that its switches have with all their ports."""
        nodes = np.unique(self.network.port_src[ports])
        for name in OF_NODE:
            state.node[name] = self.whole.node[name][nodes]
        settings = self.case.settings
        wire = settings.payload_bytes + settings.header_bytes
        state.port["shift"] = self.whole.port["shift"][ports]
        state.port["headroom_bytes"] = headroom_bytes(self.case.network.port_rate_bps[ports], self.network.port_delay_ps[ports], wire)


def _renumbered(paths: list[list[int]], links: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """CSR of paths over the ports of `links`, two each."""
    ports = np.array([p for path in paths for p in path], np.int64)
    ptr = np.cumsum([0, *map(len, paths)]).astype(np.int64)
    return ptr, (2 * np.searchsorted(links, ports >> 1) + (ports & 1)).astype(np.int32)


def _dag(whole: Dag, size_bytes: np.ndarray) -> Dag:
    """A graph of flows that wait for nothing; of `whole` it keeps what no run looks at."""
    n, none = len(size_bytes), np.zeros(0, np.int64)
    ptr, successors, zeros = np.zeros(n + 1, np.int64), np.zeros(0, np.int32), np.zeros(n, np.int32)
    return replace(
        whole, task_rank=none, task_duration_ps=none, flow_src=zeros, flow_dst=zeros + 1, flow_bytes=size_bytes,
        start_ps=np.zeros(n, np.int64), indegree=zeros, done_ptr=ptr, done_succ=successors, acked_ptr=ptr, acked_succ=successors,
    )  # fmt: skip
