"""Where PFC pauses come from: from the port that stood still longest along the stopped ports before it, to one that was not stopped."""

import numpy as np

from sim.topology.build import fault_ports
from sim.units import show_bytes, show_rate, show_time

PASSED_ON = 0.5  # a port is stopped because of a stopped port before it that stood still for at least this share of its time


def longest_stopped(raw) -> int | None:
    """The port that stood still longest; None if none did."""
    return int(np.argmax(raw.port_paused_ps)) if len(raw.port_paused_ps) and raw.port_paused_ps.any() else None


def root_of(raw, stopped: int) -> int | None:
    """The port that could not keep up, found from a stopped one; None where stopped ports wait for each other in a circle, or no queue tells."""
    network, seen = raw.network, {stopped}
    ptr, out = network.out_ports
    while True:
        node = network.port_dst[stopped]
        ports = out[ptr[node] : ptr[node + 1]]
        paused_ps, queue = raw.port_paused_ps[ports], raw.port_max_queue_bytes[ports]
        if not len(ports) or network.node_is_host[node]:
            return None
        after = int(ports[np.argmax(paused_ps)])
        if raw.port_paused_ps[after] >= PASSED_ON * raw.port_paused_ps[stopped]:
            if after in seen:
                return None
            seen.add(after)
            stopped = after
            continue
        deepest = int(ports[np.argmax(queue)])
        return deepest if raw.port_max_queue_bytes[deepest] else None


def explain_pauses(result) -> str | None:
    """Which port the longest pauses go back to, and why it could not keep up; None where that cannot be told."""
    raw, network = result.raw, result.network
    longest = longest_stopped(raw)
    root = None if longest is None else root_of(raw, longest)
    if root is None:
        return None
    held = int((raw.port_pauses > 0).sum())
    return (
        f"PFC stopped {held:,} port{'s' * (held != 1)}. The longest stop, of {network.port_name(longest)} ({show_time(raw.port_paused_ps[longest] / 1e12)} "
        f"in all), goes back to {network.port_name(root)}, whose queue reached {show_bytes(int(raw.port_max_queue_bytes[root]))}: {_reason(result, root)}."
    )


def _reason(result, port: int) -> str:
    """A fault that slows the link down, or the flows that meet there."""
    network = result.network
    slowed = [fault for fault in result.scenario.faults if fault.kind == "degrade" and port in fault_ports(network, fault)]
    slowed.sort(key=lambda fault: fault.at_us)
    for fault in slowed:
        if fault.rate_factor < 1:
            rate = show_rate(network.port_rate_bps[port] * fault.rate_factor)
            well_us = next((later.at_us for later in slowed if later.at_us > fault.at_us and later.rate_factor == 1), None)
            until = "on" if well_us is None else f"to {show_time(well_us * 1e-6)}"
            return f"a fault slows this link to {rate} from {show_time(fault.at_us * 1e-6)} {until}"
    flows = len(result.flows_through(port))
    return f"{flows:,} flow{'s' * (flows != 1)} in all went through its {show_rate(int(network.port_rate_bps[port]))}"
