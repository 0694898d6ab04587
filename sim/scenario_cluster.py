"""The cluster of a scenario: GPUs, servers, links, and the sizes of its network filled in and checked."""

import math
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from sim.catalogue.gpus import GPUS
from sim.catalogue.nodes import NODES
from sim.errors import ScenarioError, did_you_mean
from sim.scenario_base import Part

TOPOLOGIES = ("one-switch", "leaf-spine", "fat-tree", "rail-optimised", "file")
FROM_NODE = ("gpu", "gpus_per_node", "nic_gbps")  # what a server of the catalogue says
LEAF_PORTS_DOWN = 32  # half of a 64-port switch, the common 400G/800G radix

SIZES_USED_BY = {
    "leaves": ("leaf-spine", "rail-optimised"),
    "spines": ("leaf-spine", "rail-optimised"),
    "hosts_per_leaf": ("leaf-spine", "rail-optimised"),
    "fat_tree_k": ("fat-tree",),
    "tiers": ("rail-optimised",),
    "pod_servers": ("rail-optimised",),
    "oversubscription": ("leaf-spine", "fat-tree", "rail-optimised"),
    "core_oversubscription": ("rail-optimised",),
    "fabric_gbps": ("leaf-spine", "fat-tree", "rail-optimised"),
    "fabric_delay_ns": ("leaf-spine", "fat-tree", "rail-optimised"),
    "core_gbps": ("fat-tree", "rail-optimised"),
    "core_delay_ns": ("fat-tree", "rail-optimised"),
    "graph": ("file",),
    "nvswitches": ("file",),
    "hosts_forward": ("file",),
    "nic_gbps": TOPOLOGIES[:4],
    "nic_delay_ns": TOPOLOGIES[:4],
    "nvlink_gbps": TOPOLOGIES[:4],
    "nvlink_delay_ns": TOPOLOGIES[:4],
}


def _rate(default: float | None, meaning: str, **rules: float) -> float:
    return Field(default, description=f"Gb/s, {meaning}", le=100_000, **(rules or {"ge": 0.001}))


def _delay(default: float | None, meaning: str) -> float:
    return Field(default, description=f"ns, {meaning}", ge=0, le=1e8)


def _count(default: int | None, meaning: str) -> int:
    return Field(default, description=meaning, ge=1, le=1_000_000)


class Cluster(Part):
    """GPUs, one NIC each, in servers with an NVLink domain, joined by a network."""

    SECTION: ClassVar[str] = "cluster"

    topology: Literal[TOPOLOGIES] = Field(description="shape of the network")
    node: str | None = Field(None, description="server of the catalogue: fills gpu, gpus_per_node and nic_gbps where they are not given")
    gpu: str = Field("H100-SXM", description="GPU of the catalogue: peak FLOP/s and memory")
    gpus: int = Field(description="GPUs, each with one NIC", ge=2, le=65_536)
    gpus_per_node: int = Field(8, description="GPUs in a server", ge=1, le=1024)
    nvlink_gbps: float | None = _rate(None, "NVLink per GPU and direction (0: no NVLink; default: the GPU's)", ge=0)
    nvlink_delay_ns: float = _delay(250.0, "NVLink, GPU to NVSwitch")
    nic_gbps: float = _rate(400.0, "NIC and its link to the first switch")
    nic_delay_ns: float = _delay(1000.0, "NIC to first switch")
    leaves: int | None = _count(None, "leaf switches in all")
    spines: int | None = _count(None, "spine switches (per pod with three tiers)")
    hosts_per_leaf: int | None = _count(None, "NICs on a leaf switch")
    fat_tree_k: int | None = Field(None, description="ports per switch of the fat-tree, even", ge=2, le=128)
    tiers: int = Field(2, description="switch tiers of the rail-optimised network, 2 or 3", ge=2, le=3)
    pod_servers: int | None = _count(None, "servers in a pod (three tiers)")
    oversubscription: float = Field(1.0, description="host capacity over uplink capacity of a leaf", ge=0.01, le=1000)
    core_oversubscription: float = Field(
        1.0, description="leaf capacity over core capacity of a spine (three tiers)", ge=0.01, le=1000
    )
    fabric_gbps: float | None = _rate(None, "leaf to spine (default: nic_gbps)")
    fabric_delay_ns: float = _delay(1000.0, "leaf to spine")
    core_gbps: float | None = _rate(None, "spine to core (default: fabric_gbps)")
    core_delay_ns: float | None = _delay(None, "spine to core (default: fabric_delay_ns)")
    graph: str | None = Field(None, description="the network as text in the HPCC simulator's topology format")
    nvswitches: int = Field(0, description="of the switches that graph lists, the first n are NVSwitches inside servers", ge=0, le=1_000_000)
    hosts_forward: bool = Field(False, description="whether GPUs hand on packets of others, as in rings and meshes of NPUs (graph)")
    ecmp_seed: int = Field(1, description="seed of every switch's path hash", ge=0, le=2**31 - 1)

    @model_validator(mode="before")
    @classmethod
    def _count_hosts_of_graph(cls, values: object) -> object:
        if not isinstance(values, dict) or values.get("topology") != "file":
            return values
        if not values.get("graph"):
            raise ScenarioError(
                'cluster.graph is missing: topology \'file\' needs file = "topology.txt" or graph = "..." (HPCC format)'
            )
        header = str(values["graph"]).split(None, 2)[:2]
        if len(header) < 2 or not all(word.isdecimal() for word in header):
            raise ScenarioError(
                f"cluster.graph begins {' '.join(header)!r}: must begin with nNodes nSwitches nLinks, like 3 1 2"
            )
        hosts = int(header[0]) - int(header[1])
        if values.get("gpus", hosts) != hosts:
            raise ScenarioError(
                f"cluster.gpus = {values['gpus']}: cluster.graph has {header[0]} nodes - {header[1]} switches = {hosts} hosts; leave gpus out"
            )
        if type(nvswitches := values.get("nvswitches", 0)) is int and nvswitches > int(header[1]):
            raise ScenarioError(f"cluster.nvswitches = {nvswitches}: cluster.graph has {header[1]} switches; the nearest is {header[1]}")
        return {**values, "gpus": hosts}

    @model_validator(mode="after")
    def _fill_and_check(self) -> "Cluster":
        self._fill_from_node()
        if self.gpu not in GPUS:
            raise ScenarioError(f"cluster.gpu = {self.gpu!r} is not in the catalogue: {did_you_mean(self.gpu, GPUS)}")
        fabric = self.nic_gbps if self.fabric_gbps is None else self.fabric_gbps
        self._resolve(
            nvlink_gbps=GPUS[self.gpu].nvlink_bps / 1e9 if self.nvlink_gbps is None else self.nvlink_gbps,
            fabric_gbps=fabric,
            core_gbps=fabric if self.core_gbps is None else self.core_gbps,
            core_delay_ns=self.fabric_delay_ns if self.core_delay_ns is None else self.core_delay_ns,
        )
        if self.topology == "file":
            self.model_fields_set.discard("gpus")  # counted from the graph
            return self
        self._check_servers()
        fill = {
            "leaf-spine": self._fill_leaf_spine,
            "fat-tree": self._fill_fat_tree,
            "rail-optimised": self._fill_rails,
        }
        fill.get(self.topology, lambda: None)()
        return self

    def _fill_from_node(self) -> None:
        if self.node is None:
            return
        if self.node not in NODES:
            raise ScenarioError(f"cluster.node = {self.node!r} is not in the catalogue: {did_you_mean(self.node, NODES)}")
        self._resolve(**{key: getattr(NODES[self.node], key) for key in FROM_NODE if key not in self.model_fields_set})

    def servers(self) -> int:
        return math.ceil(self.gpus / self.gpus_per_node)

    def _check_servers(self) -> None:
        whole = self.gpus % self.gpus_per_node == 0
        needs_whole = self.topology == "rail-optimised" or (self.nvlink_gbps > 0 and self.gpus > self.gpus_per_node)
        if needs_whole and not whole:
            lower = self.gpus // self.gpus_per_node * self.gpus_per_node
            upper = lower + self.gpus_per_node
            raise ScenarioError(
                f"cluster.gpus = {self.gpus}: must be whole servers of cluster.gpus_per_node = {self.gpus_per_node}; "
                + (f"the nearest are {lower} and {upper}" if lower else f"the nearest is {upper}")
            )

    def _fill_spines(self, hosts_per_leaf: int) -> int:
        down = hosts_per_leaf * self.nic_gbps
        if self.spines is None:
            return max(1, math.ceil(down / (self.fabric_gbps * self.oversubscription) - 1e-9))
        actual = down / (self.spines * self.fabric_gbps)
        if self.oversubscription != 1 and abs(actual / self.oversubscription - 1) > 0.01:
            raise ScenarioError(
                f"cluster.oversubscription = {self.oversubscription:g}: disagrees with cluster.spines = {self.spines}, "
                f"which make {hosts_per_leaf} x {self.nic_gbps:g} over {self.spines} x {self.fabric_gbps:g} Gb/s = {actual:g}; give one of the two"
            )
        return self.spines

    def _fill_leaf_spine(self) -> None:
        per_leaf = self.hosts_per_leaf
        if per_leaf is None:
            per_leaf = math.ceil(self.gpus / self.leaves) if self.leaves else min(self.gpus, LEAF_PORTS_DOWN // 2)
        leaves = self.leaves or math.ceil(self.gpus / per_leaf)
        if leaves * per_leaf < self.gpus:
            raise ScenarioError(
                f"cluster.leaves = {leaves}: {leaves} leaves x {per_leaf} hosts_per_leaf hold {leaves * per_leaf} of the {self.gpus} GPUs; "
                f"the nearest are leaves = {math.ceil(self.gpus / per_leaf)} or hosts_per_leaf = {math.ceil(self.gpus / leaves)}"
            )
        self._resolve(hosts_per_leaf=per_leaf, leaves=leaves, spines=self._fill_spines(per_leaf))

    def _fill_fat_tree(self) -> None:
        smallest = next(k for k in range(2, 130, 2) if k**3 // 4 >= self.gpus or k == 128)
        k = self.fat_tree_k or smallest
        if k % 2:
            raise ScenarioError(f"cluster.fat_tree_k = {k}: must be even; the nearest are {k - 1} and {k + 1}")
        if k**3 // 4 < self.gpus:
            raise ScenarioError(
                f"cluster.fat_tree_k = {k}: a fat-tree of {k}-port switches holds k^3/4 = {k**3 // 4} hosts, "
                f"cluster.gpus is {self.gpus}; the smallest that fits is {smallest}"
            )
        uplinks = k / 2 / self.oversubscription
        if uplinks < 1 or abs(uplinks - round(uplinks)) > 1e-9 or uplinks > k / 2:
            legal = [k // 2 / n for n in range(1, k // 2 + 1)]
            nearest = min(legal, key=lambda ratio: abs(ratio - self.oversubscription))
            raise ScenarioError(
                f"cluster.oversubscription = {self.oversubscription:g}: a {k}-ary fat-tree has {k // 2} down links per edge switch, "
                f"so k/2 / oversubscription must be whole and at most {k // 2}; the nearest is {nearest:g}"
            )
        self._resolve(fat_tree_k=k)

    def _fill_rails(self) -> None:
        servers = self.servers()
        pod = servers
        if self.tiers == 3:
            pod = min(self.pod_servers or min(LEAF_PORTS_DOWN, max(1, math.ceil(servers / 2))), servers)
        per_leaf = min(self.hosts_per_leaf or LEAF_PORTS_DOWN, pod)
        leaves = self.gpus_per_node * sum(
            math.ceil(min(pod, servers - first) / per_leaf) for first in range(0, servers, pod)
        )
        if self.leaves not in (None, leaves):
            raise ScenarioError(
                f"cluster.leaves = {self.leaves}: {servers} servers with {per_leaf} on a leaf and {self.gpus_per_node} rails "
                f"make {leaves} leaves; leave it out, or change cluster.hosts_per_leaf"
            )
        self._resolve(pod_servers=pod, hosts_per_leaf=per_leaf, leaves=leaves, spines=self._fill_spines(per_leaf))

    def unused_sizes(self) -> list[str]:
        """Keys that were given but mean nothing for this topology."""
        return [
            name
            for name, families in SIZES_USED_BY.items()
            if name in self.model_fields_set and self.topology not in families
        ]
