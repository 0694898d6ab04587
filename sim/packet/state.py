"""Make, size and grow the memory of a packet simulation."""

from typing import NamedTuple

import numpy as np

from sim.jit import COMPILED
from sim.packet import layout
from sim.packet.layout import NEVER, PAUSE_FRAME_BYTES, PFC_DYNAMIC, PFC_OFF, WHEEL_BUCKETS, State
from sim.packet.ties import REFERENCE_DEPTH

CACHE_LINE_BYTES = 64
PFC_RESERVE_BYTES = 4096  # per ingress, HPCC simulator
PFC_RESUME_BELOW_BYTES = 3072  # HPCC simulator
PFC_SHIFT = 3  # an ingress may take 1/8 of what is left of the pool, HPCC simulator
HEADROOM_DELAYS = 3  # headroom in one-way bandwidth-delay products, HPCC simulator
LONG_HAUL_BYTES = 10_000_000  # more in flight than a switch can hold back without loss
HEADROOM_PACKETS = 4  # packets on the wire and in the making at both ends of a short link


class Settings(NamedTuple):
    """What the kernel needs to know of transport and clock; units in the names.

    `kmin_bytes`, `kmax_bytes`, `pmax`: per port (kmin >= kmax marks sharply). `parameters` is the
    row of `sim.congestion.registry.parameter_row`.
    """

    controller: int
    parameters: np.ndarray
    kmin_bytes: np.ndarray
    kmax_bytes: np.ndarray
    pmax: np.ndarray
    payload_bytes: int = 1000
    header_bytes: int = 48
    ack_bytes: int = 60
    ack_every: int = 1
    ack_priority: bool = False
    whole_ns: bool = False
    pfc: int = PFC_DYNAMIC
    buffer_bytes: int = 32 * 1024 * 1024
    xoff_bytes: int = 0
    xon_bytes: int = 0
    var_window: bool = False
    rate_bound: bool = True
    telemetry: bool = False
    telemetry_tx_quantum: int = 1
    telemetry_queue_quantum: int = 1
    timeout_ps: int = 500_000_000
    has_loss: bool = False
    seed: int = 1
    bins: int = 256
    bin_shift: int = 20
    always_careful: bool = False


def records(count, dtype):
    """A zeroed record array that begins a cache line; uncompiled, its items read like objects, as in compiled code."""
    raw = np.zeros(count * dtype.itemsize + CACHE_LINE_BYTES, np.uint8)
    skip = -raw.ctypes.data % CACHE_LINE_BYTES
    array = raw[skip : skip + count * dtype.itemsize].view(dtype)
    return array if COMPILED else array.view(np.recarray)


def thread_free_list(packet, first, head):
    """Chain packets `first..` in front of `head`; returns the new head."""
    count = packet.size
    nexts = np.arange(first + 1, count + 1, dtype=np.int32)
    nexts[-1] = head
    packet["next"][first:] = nexts
    return first


def min_wire_bytes(settings) -> int:
    """The shortest frame there can be."""
    return min(PAUSE_FRAME_BYTES, settings.ack_bytes, settings.header_bytes + 1)


def _lookahead_ps(network, settings):
    """int64[P]: the soonest that anything sent on a link can reach its far end, the shorter of both directions."""
    frame = min_wire_bytes(settings) * 8 * 10**12 // network.port_rate_bps
    if settings.whole_ns:
        frame = frame // 1000 * 1000
    ahead = network.port_delay_ps + frame
    pair = np.minimum(ahead[0::2], ahead[1::2])
    return np.maximum(np.repeat(pair, 2), 1)


def _classes(ahead, limit=64):
    """Distinct lookaheads in ascending order; past `limit` of them, similar ones share the shortest."""
    values = np.unique(ahead)
    if values.size > limit:
        values = values[np.linspace(0, values.size - 1, limit).astype(int)]
    return values, np.searchsorted(values, ahead, side="right") - 1


def headroom_bytes(rate_bps, delay_ps, wire_bytes):
    """int64[P]: room for what still arrives on a link after its pause was sent.

    Three one-way bandwidth-delay products as in the HPCC simulator, but never less than the two that are
    in flight and a few packets being sent on either side. A long-haul link has no such room: it can lose.
    """
    in_flight = np.floor(rate_bps / 8 * (delay_ps / 1e12)).astype(np.int64)
    lossless = np.maximum(HEADROOM_DELAYS * in_flight, 2 * in_flight + HEADROOM_PACKETS * wire_bytes)
    return np.where(in_flight > LONG_HAUL_BYTES, HEADROOM_PACKETS * wire_bytes, lossless)


def _fill_ports(network, port, settings):
    for name in ("queue_head", "queue_tail", "first_head", "first_tail", "wire_head", "wire_tail", "inbox_head", "inbox_tail", "qp_last", "qp_first"):
        port[name] = -1
    port["up"] = 1
    port["node"] = network.port_src
    port["far_node"] = network.port_dst
    port["is_nic"] = np.where(network.node_is_host[network.port_src], layout.FORWARDING_NIC if network.hosts_forward else layout.NIC, layout.SWITCH_PORT)
    port["rate_bps"] = network.port_rate_bps
    port["delay_ps"] = network.port_delay_ps
    port["loss"] = network.port_loss
    port["ready_at"] = NEVER
    port["timeout_at"] = NEVER
    port["timer_at"] = NEVER
    port["kmin_bytes"] = settings.kmin_bytes
    port["kmax_bytes"] = settings.kmax_bytes
    port["pmax"] = settings.pmax
    port["xoff_bytes"] = settings.xoff_bytes
    port["xon_bytes"] = settings.xon_bytes
    set_ps_per_byte(port, settings.whole_ns)
    nics = port["is_nic"] > 0
    nic_bps = network.port_rate_bps[nics].min() if nics.any() else 1
    doublings = np.floor(np.log2(np.maximum(network.port_rate_bps / nic_bps, 1.0))).astype(int)
    port["shift"] = np.maximum(0, PFC_SHIFT - doublings)


def set_ps_per_byte(port, whole_ns):
    """Whole picoseconds per byte where the exact clock allows it (0: divide)."""
    exact = (8 * 10**12) % port["rate_bps"] == 0
    port["ps_per_byte"] = np.where(exact & (not whole_ns), 8 * 10**12 // port["rate_bps"], 0)


def _fill_nodes(network, node, port, settings):
    switch = ~network.node_is_host
    into = network.port_dst
    headroom = np.bincount(into, weights=port["headroom_bytes"], minlength=network.n_nodes).astype(np.int64)
    degree = np.bincount(into, minlength=network.n_nodes)
    node["buffer_bytes"] = np.where(switch, settings.buffer_bytes, 0)
    if settings.pfc == PFC_DYNAMIC:
        node["reserve_bytes"] = PFC_RESERVE_BYTES
        node["pool_bytes"] = node["buffer_bytes"] - headroom - degree * PFC_RESERVE_BYTES
        node["shift"] = PFC_SHIFT
    node["xoff_floor"] = settings.xoff_bytes
    by_node = np.argsort(network.port_src, kind="stable")
    port["by_node"] = by_node
    begin = np.searchsorted(network.port_src[by_node], np.arange(network.n_nodes + 1))
    node["first_port"], node["end_port"] = begin[:-1], begin[1:]
    node["buffered"] = switch & ((settings.pfc != PFC_OFF) | (settings.buffer_bytes > 0))


def _settings_row(settings, hops_max):
    g = records(1, layout.GLOBAL)
    row = g[0]
    for name in settings.parameters.dtype.names:
        row[name] = settings.parameters[0][name]
    for name in (
        "controller", "ack_every", "ack_priority", "whole_ns", "has_loss", "telemetry", "pfc", "always_careful", "var_window",
        "rate_bound", "seed", "timeout_ps", "telemetry_tx_quantum", "telemetry_queue_quantum", "ack_bytes", "bins", "bin_shift",
    ):
        row[name] = getattr(settings, name)
    row["payload"] = settings.payload_bytes
    row["header"] = settings.header_bytes
    row["resume_below"] = PFC_RESUME_BELOW_BYTES
    row["hops_max"] = hops_max
    row["min_wire_bytes"] = min_wire_bytes(settings)
    row["region_size"] = 2 * hops_max + 4
    row["departing"] = -1
    row["tie_depth"] = REFERENCE_DEPTH if settings.whole_ns else 0
    return g


def make_state(network, settings: Settings, used_ports: np.ndarray, hops_max: int, flow_slots: int, packets: int = 4096) -> State:
    """State of an idle network.

    `used_ports`: ports that any flow's data or ACKs may cross (they get a row of the time series);
    `hops_max`: links on the longest path; `flow_slots`, `packets`: initial room, grown on demand.
    """
    P = network.port_src.size
    g = _settings_row(settings, hops_max)
    row = g[0]
    port = records(P, layout.PORT)
    _fill_ports(network, port, settings)
    port["headroom_bytes"] = headroom_bytes(network.port_rate_bps, network.port_delay_ps, settings.payload_bytes + settings.header_bytes)
    node = records(network.n_nodes, layout.NODE)
    _fill_nodes(network, node, port, settings)
    lookaheads, port["speed_class"] = _classes(_lookahead_ps(network, settings))
    events = records(max(2 * flow_slots, lookaheads.size) + 2, layout.EVENT)
    events["lookahead_ps"][: lookaheads.size] = lookaheads
    row["speed_classes"] = lookaheads.size
    row["width"] = lookaheads[-1]
    used_nics = used_ports[port["is_nic"][used_ports] > 0]
    row["sending_ports"] = used_nics.size + (used_ports.size if settings.pfc != PFC_OFF else 0)
    row["sending_bps"] = float(port["rate_bps"][used_nics].sum())
    port["bin_row"][used_ports] = np.arange(used_ports.size)
    row["bin_rows"] = max(1, used_ports.size)
    flow = records(flow_slots, layout.FLOW)
    flow["flow_id"] = -1
    flow["qp_next"] = np.append(np.arange(1, flow_slots, dtype=np.int32), np.int32(-1))
    row["free_flow"], row["free_flows"] = 0, flow_slots
    size = int(row["region_size"])
    regions = flow_slots * 2
    paths = np.full(regions * size, -1, np.int32)
    paths[::size] = np.append(np.arange(1, regions) * size, -1)
    row["free_region"], row["free_regions"] = 0, regions
    packet = records(packets, layout.PACKET)
    row["free_packet"], row["free_packets"] = thread_free_list(packet, 0, -1), packets
    due = records(2 * P + WHEEL_BUCKETS + 1, layout.DUE)
    due["bucket"], due["next"], due["prev"] = -1, -1, -1
    row["bucket_zero"] = 2 * P
    depth, hops = int(row["tie_depth"]), int(row["hops_max"]) if settings.telemetry else 0
    row["ancestry_packets"] = 1 + 2 * P
    row["telemetry_flows"] = packets * hops
    return State(
        g=g, port=port, packet=packet, flow=flow, node=node, due=due,
        sort=records(packets + 2, layout.SORT), todo=records(2 * P + 2, layout.LISTS), events=events, paths=paths,
        telemetry=records((packets + flow_slots) * hops + 1, layout.TELEMETRY),
        ancestry=np.zeros((1 + 2 * P + packets) * depth + 1, np.int64),
        bins=records(max(1, used_ports.size) * settings.bins, layout.BIN),
    )  # fmt: skip


def _longer(array, count, fill=0):
    grown = np.full(count, fill, array.dtype) if array.dtype.names is None else records(count, array.dtype)
    grown[: array.size] = array
    return grown


def grow_packets(s: State) -> State:
    """Twice the packet pool; everything in flight keeps its index."""
    old = s.packet.size
    new = 2 * old
    packet = _longer(s.packet, new)
    g = s.g[0]
    g["free_packet"] = thread_free_list(packet, old, g["free_packet"])
    g["free_packets"] += new - old
    s = s._replace(packet=packet, ancestry=_longer(s.ancestry, s.ancestry.size + old * int(g["tie_depth"])), sort=_longer(s.sort, new + 2))
    return _grow_telemetry(s, new, s.flow.size)


def grow_flows(s: State, needed: int) -> State:
    """Room for at least `needed` more flows (slots, path regions, events)."""
    g = s.g[0]
    old = s.flow.size
    new = max(2 * old, old + needed)
    flow = _longer(s.flow, new)
    flow["flow_id"][old:] = -1
    nexts = np.arange(old + 1, new + 1, dtype=np.int32)
    nexts[-1] = g["free_flow"]
    flow["qp_next"][old:] = nexts
    g["free_flow"] = old
    g["free_flows"] += new - old
    s = s._replace(flow=flow, events=_longer(s.events, max(s.events.size, 2 * new + 2)))
    return grow_regions(_grow_telemetry(s, s.packet.size, new), 2 * (new - old))


def _grow_telemetry(s: State, packets: int, flows: int) -> State:
    g = s.g[0]
    if not g["telemetry"]:
        return s
    hops, before = int(g["hops_max"]), int(g["telemetry_flows"])
    telemetry = records((packets + flows) * hops + 1, layout.TELEMETRY)
    telemetry[:before] = s.telemetry[:before]
    of_flows = s.telemetry[before:-1]
    g["telemetry_flows"] = packets * hops
    telemetry[packets * hops : packets * hops + of_flows.size] = of_flows
    return s._replace(telemetry=telemetry)


def grow_regions(s: State, extra: int) -> State:
    """`extra` more path regions."""
    g = s.g[0]
    size = int(g["region_size"])
    old = s.paths.size // size
    paths = _longer(s.paths, (old + extra) * size, fill=-1)
    nexts = np.arange(old + 1, old + extra + 1) * size
    nexts[-1] = g["free_region"]
    paths[old * size :: size] = nexts
    g["free_region"] = old * size
    g["free_regions"] += extra
    return s._replace(paths=paths)
