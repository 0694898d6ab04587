"""A network as flat arrays: nodes, and one port for each direction of each link."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sim.errors import ScenarioError, did_you_mean

FABRIC, NVLINK = 0, 1  # port_kind
NVSWITCH, HOST, LEAF, SPINE, CORE = -1, 0, 1, 2, 3  # node_tier
SWITCH, END, FORWARDER = 0, 1, 2  # node_role: END is a host that packets of others cannot pass, FORWARDER one that they can
NAMES_SHOWN = 12


@dataclass(frozen=True, eq=False)
class Network:
    """Nodes and ports. Port 2i is link i from a to b, port 2i + 1 the way back: reverse(p) = p ^ 1.

    A port belongs to `port_src`: its queue is there, and it sends to `port_dst`.
    """

    n_nodes: int
    node_is_host: np.ndarray  # bool[n_nodes]
    node_name: tuple[str, ...]
    node_tier: np.ndarray  # int8[n_nodes]: 0 host, 1 leaf, 2 spine, 3 core, -1 NVSwitch
    node_server: np.ndarray  # int32[n_nodes]: server of a GPU or NVSwitch, -1 elsewhere
    node_xy: np.ndarray  # float64[n_nodes, 2]: where to draw it; x in 0..1, y the row
    hosts: np.ndarray  # int32[n_hosts]: node of rank 0, 1, ...
    port_src: np.ndarray  # int32[P]
    port_dst: np.ndarray  # int32[P]
    port_rate_bps: np.ndarray  # int64[P]
    port_delay_ps: np.ndarray  # int64[P]
    port_loss: np.ndarray  # float64[P]: probability that a packet is lost on the wire
    port_kind: np.ndarray  # int8[P]: 0 fabric, 1 NVLink
    hosts_forward: bool = False  # whether packets of others may pass through hosts

    @property
    def n_ports(self) -> int:
        return len(self.port_src)

    @property
    def n_hosts(self) -> int:
        return len(self.hosts)

    @cached_property
    def node_role(self) -> np.ndarray:
        """int8[n_nodes]: SWITCH, END or FORWARDER."""
        return np.where(self.node_is_host, FORWARDER if self.hosts_forward else END, SWITCH).astype(np.int8)

    @cached_property
    def out_ports(self) -> tuple[np.ndarray, np.ndarray]:
        """(ptr int32[n_nodes + 1], ports int32[P]): the ports of each node, by rising id."""
        order = np.argsort(self.port_src, kind="stable").astype(np.int32)
        ptr = np.zeros(self.n_nodes + 1, np.int32)
        np.cumsum(np.bincount(self.port_src, minlength=self.n_nodes), out=ptr[1:])
        return ptr, order

    @cached_property
    def _id_of_name(self) -> dict[str, int]:
        return {name: node for node, name in enumerate(self.node_name)}

    def node_id(self, name: str | int) -> int:
        """The node of a name such as "leaf3", or of its id written as a number."""
        node = self._id_of_name.get(str(name))
        if node is None and str(name).isdecimal() and int(name) < self.n_nodes:
            node = int(name)
        if node is None:
            some = did_you_mean(name, self.node_name).split("known: ")[0]
            raise ScenarioError(
                f"node {name!r} is not in the network: {some}nodes are {list_nodes(self, range(self.n_nodes))}, or ids 0 to {self.n_nodes - 1}"
            )
        return node

    def ports_between(self, a: str | int, b: str | int) -> np.ndarray:
        """int32: the ports from a to b, one per parallel link; their reverses are the way back."""
        start, end = self.node_id(a), self.node_id(b)
        found = np.flatnonzero((self.port_src == start) & (self.port_dst == end)).astype(np.int32)
        if not len(found):
            beside = np.unique(self.port_dst[self.port_src == start])
            raise ScenarioError(
                f"there is no link {self.node_name[start]}-{self.node_name[end]}; {self.node_name[start]} has links to {list_nodes(self, beside)}"
            )
        return found

    def ports_of_switch(self, name: str | int) -> np.ndarray:
        """int32: all ports of a switch, and those that lead to it."""
        node = self.node_id(name)
        if self.node_is_host[node]:
            switches = list_nodes(self, np.flatnonzero(~self.node_is_host))
            raise ScenarioError(f"{self.node_name[node]} is not a switch; the switches are {switches}")
        return np.flatnonzero((self.port_src == node) | (self.port_dst == node)).astype(np.int32)

    def port_name(self, port: int) -> str:
        return f"{self.node_name[self.port_src[port]]}->{self.node_name[self.port_dst[port]]}"


def connected(n_nodes: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """int64[n_nodes]: the smallest id among the nodes that links a-b join each node to."""
    label = np.arange(n_nodes)
    while (label[a] != label[b]).any():
        np.minimum.at(label, label[b], label[a])
        np.minimum.at(label, label[a], label[b])
        while (label != label[label]).any():
            label = label[label]
    return label


def list_nodes(network: Network, nodes: object) -> str:
    """Names of `nodes`, runs such as gpu0 to gpu7 drawn together, cut when long."""
    runs: list[list[int]] = []
    for node in nodes:
        if runs and node == runs[-1][-1] + 1 and network.node_tier[node] == network.node_tier[runs[-1][-1]]:
            runs[-1].append(int(node))
        else:
            runs.append([int(node)])
    words = []
    for run in runs:
        names = [network.node_name[node] for node in run]
        words += [f"{names[0]} to {names[-1]}"] if len(names) > 2 else names
    return ", ".join(words[:NAMES_SHOWN]) + (
        f", and {len(words) - NAMES_SHOWN} more" if len(words) > NAMES_SHOWN else ""
    )
