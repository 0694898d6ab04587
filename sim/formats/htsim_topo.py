"""htsim topology files: a folded Clos of two or three tiers, given by radices, speeds and latencies of each tier.

Tier 0 are the switches above the hosts. Every switch of tier t has Radix_Down links down, at Downlink_speed_Gbps and with
Downlink_Latency_ns, Bundle of them to each neighbour, and Radix_Up links up. With three tiers, Podsize hosts make a pod; the j-th
switch of tier 1 in each pod meets the j-th group of switches of tier 2. Switch_Latency_ns, which our switches do not have, is put
on the links, half on each side of the switch: the sum over any path is the same.
"""

from dataclasses import dataclass, replace

from sim.errors import FormatError, did_you_mean
from sim.formats.text import quoted, rows_of, whole

HEAD = {"Nodes": (2, 65_536), "Tiers": (2, 3), "Podsize": (1, 65_536)}
OF_TIER = {
    "Downlink_speed_Gbps": "speed_gbps", "Radix_Up": "up", "Radix_Down": "down", "Downlink_Latency_ns": "latency_ns",
    "Switch_Latency_ns": "switch_ns", "Oversubscribed": "oversubscribed", "Bundle": "bundle",
}  # fmt: skip
NUMBERS = {
    "speed_gbps": (1, 100_000), "up": (1, 65_536), "down": (1, 65_536), "latency_ns": (0, 10**8), "switch_ns": (0, 10**8),
    "oversubscribed": (1, 1000), "bundle": (1, 1024),
}  # fmt: skip
LIKE = "Nodes 16  Tiers 2  Podsize 16  Tier 0  Downlink_speed_Gbps 100  Radix_Up 4  Radix_Down 4  Downlink_Latency_ns 1000  Tier 1  ..."
MAX_LINKS = 1_000_000


@dataclass(frozen=True)
class Tier:
    """The switches of one tier; links are counted one by one."""

    speed_gbps: int
    down: int
    latency_ns: int
    up: int = 0  # none on the top tier
    switch_ns: int = 0
    bundle: int = 1


@dataclass(frozen=True)
class HtsimTopo:
    """A folded Clos network."""

    nodes: int
    podsize: int
    tiers: tuple[Tier, ...]

    @property
    def pods(self) -> int:
        return self.nodes // self.podsize


def is_htsim_topo(text: str) -> bool:
    """Whether `text` looks like a topology file."""
    return any(words[0].lower() == "tiers" for _, words in rows_of(text))


def read_topo(text: str, file: str = "network.topo") -> HtsimTopo:
    """The network of `text`; FormatError, one line, for the first fault."""
    head: dict[str, int] = {}
    tiers: dict[int, dict[str, int]] = {}
    lines: dict[object, int] = {}
    current: int | None = None
    for line, words in rows_of(text):
        if words[0].startswith("#"):
            continue
        place = f"{file}:{line}"
        known = {name.lower(): name for name in (*HEAD, "Tier", *OF_TIER)}
        key = known.get(words[0].lower())
        if key is None:
            raise FormatError(f"{place}: {quoted(words[0])} is not a known key: {did_you_mean(words[0], known.values())}")
        if len(words) != 2:
            raise FormatError(f"{place}: {len(words) - 1} values: {key} has one")
        if key == "Tier":
            current = whole(words[1], place, key, 0, 2)
            if current in tiers:
                raise FormatError(f"{place}: Tier {current} stands twice, first in line {lines[current]}")
            tiers[current], lines[current] = {}, line
            continue
        into = head if key in HEAD else tiers.get(current)
        if into is None:
            raise FormatError(f"{place}: {key} stands before any Tier; the file is like {LIKE}")
        name = key if key in HEAD else OF_TIER[key]
        if name in into:
            raise FormatError(f"{place}: {key} stands twice")
        into[name] = whole(words[1], place, key, *(HEAD[key] if key in HEAD else NUMBERS[name]))
    if not head and not tiers:
        raise FormatError(f"{file}: is empty; the file is like {LIKE}")
    return _checked(head, tiers, lines, file)


def _checked(head: dict[str, int], tiers: dict[int, dict[str, int]], lines: dict[object, int], file: str) -> HtsimTopo:
    missing = next((key for key in ("Nodes", "Tiers") if key not in head), None)
    if missing:
        raise FormatError(f"{file}: {missing} is missing; the file is like {LIKE}")
    count, nodes = head["Tiers"], head["Nodes"]
    if sorted(tiers) != list(range(count)):
        raise FormatError(f"{file}: Tiers {count}: needs Tier 0 to Tier {count - 1}, found {', '.join(f'Tier {tier}' for tier in sorted(tiers)) or 'none'}")
    podsize = head.get("Podsize", nodes)
    if nodes % podsize or (count == 3 and "Podsize" not in head):
        legal = [n for n in range(1, nodes + 1) if nodes % n == 0]
        nearest = min(legal, key=lambda n: abs(n - podsize))
        rule = "must divide" if nodes % podsize else "is needed with 3 tiers and must divide"
        raise FormatError(f"{file}: Podsize {podsize}: {rule} Nodes {nodes}; the nearest is {nearest}")
    if count == 2:
        podsize = nodes
    found: list[Tier] = []
    for tier in range(count):
        values, place = tiers[tier], f"{file}:{lines[tier]}: Tier {tier}"
        found.append(_tier(values, tiers.get(tier + 1), place, top=tier == count - 1))
    topo = HtsimTopo(nodes, podsize, tuple(found))
    return _fitted(topo, file, lines)


def _tier(values: dict[str, int], above: dict[str, int] | None, place: str, top: bool) -> Tier:
    key_of = {name: key for key, name in OF_TIER.items()}
    missing = next((key_of[name] for name in ("speed_gbps", "latency_ns") if name not in values), None)
    if missing is None and not top and "down" not in values:
        missing = "Radix_Down"
    if missing:
        raise FormatError(f"{place}: {missing} is missing; the file is like {LIKE}")
    if top and "up" in values:
        raise FormatError(f"{place}: Radix_Up {values['up']}: the top tier has no links up; leave it out")
    numbers = {name: value for name, value in values.items() if name != "oversubscribed"}
    if not top:
        down_gbps, up_gbps = values["down"] * values["speed_gbps"], (above or {}).get("speed_gbps", values["speed_gbps"])
        if "up" not in values:
            up, rest = divmod(down_gbps, up_gbps * values.get("oversubscribed", 1))
            if rest or not up:
                raise FormatError(f"{place}: Radix_Up is missing, and Radix_Down {values['down']} x {values['speed_gbps']} Gb/s is no whole number of links up")
            numbers["up"] = up
        elif "oversubscribed" in values and down_gbps != values["oversubscribed"] * values["up"] * up_gbps:
            raise FormatError(
                f"{place}: Oversubscribed {values['oversubscribed']}: disagrees with Radix_Down {values['down']} x {values['speed_gbps']} over "
                f"Radix_Up {values['up']} x {up_gbps} Gb/s = {down_gbps / (values['up'] * up_gbps):g}; give one of the two"
            )
    return Tier(**{"down": 0, **numbers})


def _fitted(topo: HtsimTopo, file: str, lines: dict[object, int]) -> HtsimTopo:
    """The radices against each other; that of the top tier is filled in."""
    tiers = list(topo.tiers)
    tor, own = tiers[0], topo.podsize * tiers[0].bundle
    if own % tor.down or tor.down % tor.bundle:
        raise FormatError(
            f"{file}:{lines[0]}: Tier 0: Radix_Down {tor.down}: must divide the {own} links of the {topo.podsize} hosts of a pod, "
            f"and be a multiple of Bundle {tor.bundle}; the nearest that works is {tor.bundle * topo.podsize}"
        )
    links, below = topo.nodes * tor.bundle, own // tor.down  # below: switches of the tier below in a pod
    for index, tier in enumerate(tiers[1:], 1):
        place, up = f"{file}:{lines[index]}: Tier {index}", tiers[index - 1].up
        if up % tier.bundle:
            raise FormatError(f"{place}: Bundle {tier.bundle}: must divide the {up} links up of each switch of tier {index - 1}; the nearest is 1")
        joined = below if index == 1 else topo.pods
        if tier.down not in (0, joined * tier.bundle):
            raise FormatError(
                f"{place}: Radix_Down {tier.down}: each of its switches meets {joined} switches below with {tier.bundle} links each; "
                f"the nearest is {joined * tier.bundle}"
            )
        tiers[index] = replace(tier, down=joined * tier.bundle)
        links += topo.pods * below * up
        below = up // tier.bundle
    if links > MAX_LINKS:
        raise FormatError(f"{file}: this network has {links} links: at most {MAX_LINKS} are simulated")
    return replace(topo, tiers=tuple(tiers))


def ends(topo: HtsimTopo):
    """(tier, lower node, upper node) of every link; hosts first, then the switches tier by tier."""
    tor, pods = topo.tiers[0], topo.pods
    hosts_of, tors = tor.down // tor.bundle, topo.podsize * tor.bundle // tor.down
    first = topo.nodes
    for host in range(topo.nodes):
        for _ in range(tor.bundle):
            yield 0, host, first + host // hosts_of
    second = first + pods * tors
    bundle = topo.tiers[1].bundle
    aggs = tor.up // bundle
    for pod in range(pods):
        for leaf in range(tors):
            for agg in range(aggs):
                for _ in range(bundle):
                    yield 1, first + pod * tors + leaf, second + pod * aggs + agg
    if len(topo.tiers) == 3:
        third, bundle = second + pods * aggs, topo.tiers[2].bundle
        cores = topo.tiers[1].up // bundle
        for pod in range(pods):
            for agg in range(aggs):
                for core in range(cores):
                    for _ in range(bundle):
                        yield 2, second + pod * aggs + agg, third + agg * cores + core


def graph_text(topo: HtsimTopo) -> str:
    """The network in the topology format of the HPCC simulator."""
    links = list(ends(topo))
    nodes = 1 + max(upper for _, _, upper in links)
    below_ns = [0, *(tier.switch_ns for tier in topo.tiers)]
    of_tier = [f"{tier.speed_gbps}Gbps {tier.latency_ns + (tier.switch_ns + below) / 2:.16g}ns 0" for tier, below in zip(topo.tiers, below_ns)]
    rows = [f"{lower} {upper} {of_tier[tier]}" for tier, lower, upper in links]
    return "\n".join([f"{nodes} {nodes - topo.nodes} {len(rows)}", " ".join(map(str, range(topo.nodes, nodes))), *rows]) + "\n"


def topo_text(topo: HtsimTopo) -> str:
    """The network in htsim's format."""
    rows = [f"Nodes {topo.nodes}", f"Tiers {len(topo.tiers)}", f"Podsize {topo.podsize}"]
    for index, tier in enumerate(topo.tiers):
        rows += ["", f"Tier {index}"]
        for key, name in OF_TIER.items():
            value = getattr(tier, name, None)
            if value is not None and not (name == "up" and index == len(topo.tiers) - 1):
                rows.append(f"{key} {value}")
    return "\n".join(rows) + "\n"
