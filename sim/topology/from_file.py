"""Any graph, read strictly from the text format of the HPCC simulator's topology files."""

import numpy as np

from sim.errors import SHOWN, FormatError, quoted
from sim.topology.network import FABRIC, HOST, LEAF, NVLINK, NVSWITCH, SPINE, Network, connected
from sim.topology.wiring import NVSWITCH_ROW
from sim.units import is_whole, parse_rate_bps, parse_time_ps, plain_number

LINK = "a link is: src dst rate delay loss, like 0 2 100Gbps 1us 0"
MAX_NODES = 100_000
MAX_LOSS = 0.999999  # largest that is written in six digits
ARCH = 0.6  # in rows: how deep hosts that are wired to each other hang below those that are not


def network_from_text(text: str, file: str = "topology", gpus_per_node: int = 8, nvswitches: int = 0, hosts_forward: bool = False) -> Network:
    """The network of `text`: nNodes nSwitches nLinks, the switch ids, then src dst rate delay loss per link.

    Parallel links and links between hosts are kept. `file` names the source in errors. The first `nvswitches` of the switch
    ids are NVSwitches, their links NVLink. `hosts_forward`: whether packets of others may pass through hosts.

    Raises
    ------
    FormatError
        One line: file, line, value, rule, the nearest legal thing.
    """
    words = [(word, line) for line, row in enumerate(text.splitlines(), 1) for word in row.split()]
    n_nodes, n_switches, n_links = _header(words, file)
    (_, switches_line), (_, links_line) = words[1:3]
    switches = _switches(words[3 : 3 + n_switches], n_nodes, n_switches, f"{file}:{switches_line}", file)
    links = _links(words[3 + n_switches :], n_links, n_nodes, f"{file}:{links_line}", file)
    is_host = np.ones(n_nodes, bool)
    is_host[switches] = False
    a, b = links[0], links[1]
    is_nvswitch = np.zeros(n_nodes, bool)
    is_nvswitch[switches[:nvswitches]] = True
    inside = is_nvswitch[a] | is_nvswitch[b]
    tier = np.where(is_nvswitch, NVSWITCH, _tiers(is_host, a[~inside], b[~inside]))
    hosts = np.flatnonzero(is_host).astype(np.int32)
    server = np.full(n_nodes, -1, np.int32)
    server[hosts] = np.arange(len(hosts)) // gpus_per_node
    for switch, gpu in ((a, b), (b, a)):
        joins = is_nvswitch[switch] & is_host[gpu]
        server[switch[joins]] = server[gpu[joins]]
    return Network(
        n_nodes=n_nodes,
        node_is_host=is_host,
        node_name=tuple(str(node) for node in range(n_nodes)),
        node_tier=np.minimum(tier, 127).astype(np.int8),
        node_server=server,
        node_xy=_positions(tier, a, b),
        hosts=hosts,
        port_src=np.column_stack((a, b)).ravel().astype(np.int32),
        port_dst=np.column_stack((b, a)).ravel().astype(np.int32),
        port_rate_bps=np.repeat(links[2], 2).astype(np.int64),
        port_delay_ps=np.repeat(links[3], 2).astype(np.int64),
        port_loss=np.repeat(links[4], 2).astype(np.float64),
        port_kind=np.repeat(np.where(inside, NVLINK, FABRIC), 2).astype(np.int8),
        hosts_forward=hosts_forward,
    )


def _header(words: list[tuple[str, int]], file: str) -> tuple[int, int, int]:
    head = [word for word, _ in words[:3]]
    lines = [line for _, line in words[:3]] + [1] * 3
    if len(head) < 3 or not all(is_whole(word) for word in head):
        raise FormatError(f"{file}:{lines[0]}: {quoted(' '.join(head))}: must be nNodes nSwitches nLinks, three counts like 3 1 2")
    n_nodes, n_switches, n_links = (int(word) for word in head)
    if not 2 <= n_nodes <= MAX_NODES:
        raise FormatError(f"{file}:{lines[0]}: {n_nodes} nodes: must be from 2 to {MAX_NODES}; the nearest is {min(max(n_nodes, 2), MAX_NODES)}")
    if n_switches > n_nodes - 2:
        raise FormatError(
            f"{file}:{lines[1]}: {n_switches} switches of {n_nodes} nodes: at least 2 must be hosts; the nearest is {n_nodes - 2}"
        )
    if n_links < 1:
        raise FormatError(f"{file}:{lines[2]}: 0 links: must be at least 1")
    return n_nodes, n_switches, n_links


def _switches(words: list[tuple[str, int]], n_nodes: int, n_switches: int, head: str, file: str) -> list[int]:
    if len(words) < n_switches:
        raise FormatError(
            f"{head}: the header says {n_switches} switches, the file ends after {len(words)} switch ids"
        )
    seen: dict[int, int] = {}
    for index, (word, line) in enumerate(words):
        if not is_whole(word) or int(word) >= n_nodes:
            raise FormatError(
                f"{file}:{line}: switch id {quoted(word)} ({index + 1} of {n_switches} that the header says): must be a node id from 0 to {n_nodes - 1}"
            )
        if int(word) in seen:
            raise FormatError(
                f"{file}:{line}: switch id {word} stands twice, first in line {seen[int(word)]}; the header says {n_switches} different ones"
            )
        seen[int(word)] = line
    return list(seen)


def _links(words: list[tuple[str, int]], n_links: int, n_nodes: int, head: str, file: str) -> tuple[np.ndarray, ...]:
    if len(words) != 5 * n_links:
        per_line: dict[int, int] = {}
        for _, line in words:
            per_line[line] = per_line.get(line, 0) + 1
        odd = next(((line, n) for line, n in per_line.items() if n % 5), None)
        if odd:
            raise FormatError(f"{file}:{odd[0]}: {odd[1]} values: {LINK} (the header says {n_links} links)")
        raise FormatError(
            f"{head}: the header says {n_links} links, the file has {len(words) // 5}; "
            f"the nearest that works is to write {len(words) // 5} there, if the file is not cut off"
        )
    ends = np.empty((2, n_links), np.int64)
    rate_bps, delay_ps, loss = np.empty(n_links, np.int64), np.empty(n_links, np.int64), np.empty(n_links)
    known: dict[tuple[str, str, str], tuple[int, int, float]] = {}
    for link in range(n_links):
        (src, line), (dst, _), (rate, rate_line), (delay, _), (error, _) = words[5 * link : 5 * link + 5]
        for side, word in enumerate((src, dst)):
            if not is_whole(word) or int(word) >= n_nodes:
                raise FormatError(f"{file}:{line}: node {quoted(word)}: must be an id from 0 to {n_nodes - 1}; {LINK}")
            ends[side, link] = int(word)
        if ends[0, link] == ends[1, link]:
            raise FormatError(
                f"{file}:{line}: link from node {src} to itself: must join two nodes from 0 to {n_nodes - 1}"
            )
        key = (rate, delay, error)
        if key not in known:
            known[key] = _link_numbers(*key, f"{file}:{rate_line}")
        rate_bps[link], delay_ps[link], loss[link] = known[key]
    return ends[0], ends[1], rate_bps, delay_ps, loss


def _link_numbers(rate: str, delay: str, error: str, place: str) -> tuple[int, int, float]:
    rate_bps, delay_ps = parse_rate_bps(rate), parse_time_ps(delay)
    if rate_bps is None:
        hint = f"did you mean {rate}Gbps?" if len(rate) < SHOWN and plain_number(rate) is not None else "like 100Gbps"
        raise FormatError(f"{place}: rate {quoted(rate)}: needs a number with a unit (bps, Mbps, Gbps); {hint}")
    if not 0 < rate_bps < 10**15:
        raise FormatError(f"{place}: rate {quoted(rate)}: must be above 0 and below 1000 Tb/s")
    if delay_ps is None:
        hint = f"did you mean {delay}us?" if len(delay) < SHOWN and plain_number(delay) is not None else "like 1us"
        raise FormatError(f"{place}: delay {quoted(delay)}: needs a number with a unit (ns, us, ms); {hint}")
    if not 0 <= delay_ps <= 10**15:
        raise FormatError(f"{place}: delay {quoted(delay)}: must be from 0 to 1000 s")
    loss = plain_number(error)
    if loss is None or not 0 <= loss < 1:
        near = "" if loss is None else f"; the nearest is {0 if loss < 0 else MAX_LOSS:g}"
        raise FormatError(f"{place}: loss {quoted(error)}: must be a probability from 0 to below 1{near}")
    return rate_bps, delay_ps, loss


def _tiers(is_host: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """int64: hops from the nearest host, which makes the rows of the drawing."""
    n = len(is_host)
    src, dst = np.concatenate((a, b)), np.concatenate((b, a))
    beside = dst[np.argsort(src, kind="stable")]
    first = np.concatenate(([0], np.cumsum(np.bincount(src, minlength=n))))
    tier = np.where(is_host, HOST, n)
    reached, level = np.flatnonzero(is_host), HOST
    while len(reached):
        level += 1
        count = first[reached + 1] - first[reached]
        place = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        near = beside[np.repeat(first[reached], count) + place]
        reached = np.unique(near[tier[near] == n])
        tier[reached] = level
    return np.where(tier >= n, SPINE, np.maximum(tier, np.where(is_host, HOST, LEAF)))


def _positions(tier: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Rows by tier; in a row, nodes stand in the order of the mean x of their neighbours below."""
    x, total, count = np.zeros(len(tier)), np.zeros(len(tier)), np.zeros(len(tier))
    by_row = np.argsort(tier, kind="stable")
    up, down = np.concatenate((a, b)), np.concatenate((b, a))
    rises = np.flatnonzero((tier[up] == tier[down] + 1) & (tier[down] >= HOST))
    rises = rises[np.argsort(tier[up[rises]], kind="stable")]
    up, down = up[rises], down[rises]
    rows = np.arange(int(tier.max()) + 2)
    of_row, link_of_row = np.searchsorted(tier[by_row], rows), np.searchsorted(tier[up], rows)
    for row in rows[:-1].tolist():
        nodes = by_row[of_row[row] : of_row[row + 1]]
        links = slice(link_of_row[row], link_of_row[row + 1])
        np.add.at(total, up[links], x[down[links]])
        np.add.at(count, up[links], 1)
        order = nodes[np.argsort(total[nodes] / np.maximum(count[nodes], 1), kind="stable")]
        x[order] = (np.arange(len(nodes)) + 0.5) / max(len(nodes), 1)
    nvswitch = tier == NVSWITCH
    for switch, gpu in ((a, b), (b, a)):
        inside = nvswitch[switch] & (tier[gpu] == HOST)
        np.add.at(total, switch[inside], x[gpu[inside]])
        np.add.at(count, switch[inside], 1)
    x[nvswitch] = (total / np.maximum(count, 1))[nvswitch]
    return np.column_stack((x, np.where(nvswitch, NVSWITCH_ROW, tier - _hanging(tier == HOST, x, a, b))))


def _hanging(is_host: np.ndarray, x: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """float64: how far below its row each node is drawn: hosts wired to each other lie on an arch, so that no link covers another."""
    depth = np.zeros(len(x))
    wired = is_host[a] & is_host[b]
    hosts = np.unique(np.concatenate((a[wired], b[wired])))
    _, part = np.unique(connected(len(x), a[wired], b[wired])[hosts], return_inverse=True)
    left, right = np.full(len(hosts), np.inf), np.full(len(hosts), -np.inf)
    np.minimum.at(left, part, x[hosts])
    np.maximum.at(right, part, x[hosts])
    width = np.maximum(right - left, 1e-9)[part]
    depth[hosts] = ARCH * np.sin(np.pi * (x[hosts] - left[part]) / width).clip(0)
    return depth
