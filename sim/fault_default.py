"""What a new fault begins as: on a link that much of the scenario's traffic crosses, while it does."""

import numpy as np

from sim.case import case_of
from sim.errors import LabError
from sim.estimate import estimate
from sim.scenario import Scenario
from sim.topology.network import FABRIC
from sim.topology.routing import route
from sim.units import BITS_PER_BYTE
from sim.workload.jobs import tally

MOST_FLOWS = 20_000  # of plain traffic, that are routed one by one
SOMEWHEN_US = 100.0
INTO_RUN = 1 / 3  # share of a run after which it happens
US_PER_S = 1e6
SLOWER = 0.5  # of its rate, what is left of a link that nothing leads around


def new(scenario: Scenario, network, run_s: float | None = None) -> dict | None:
    """A fault as the draft holds it; None where nothing is sent over links. `run_s`: how long such a run took, if it is known."""
    src, dst, key, size_bytes, paths = _messages(scenario, network)
    load = np.zeros(network.n_ports)
    np.add.at(load, paths[1], np.repeat(size_bytes, np.diff(paths[0])))
    fabric, host = network.port_kind == FABRIC, network.node_is_host
    between = fabric & ~host[network.port_src] & ~host[network.port_dst]
    for ports, kind in ((between, "link-down"), (fabric, "degrade"), (~fabric, "degrade")):
        loaded = np.where(ports, load, 0)
        port = int(loaded.argmax())
        if not loaded[port] > 0 or (kind == "link-down" and not _leads_around(scenario, network, port, src, dst, key)):
            continue
        forward = port & ~1
        names = (network.node_name[node] for node in (network.port_src[forward], network.port_dst[forward]))
        least_s = load[port] * BITS_PER_BYTE / network.port_rate_bps[port]
        fault = dict(zip(("kind", "a", "b", "at_us"), (kind, *names, _time_us(least_s if run_s is None else run_s)), strict=True))
        return {**fault, "rate_factor": SLOWER} if kind == "degrade" else fault
    return None


def _time_us(run_s: float) -> float:
    at_us = float(f"{run_s * US_PER_S * INTO_RUN:.2g}")
    return at_us if at_us > 0 else SOMEWHEN_US


def _messages(scenario: Scenario, network):
    """(src, dst, key, bytes, CSR of ports) of what is sent: each flow of plain traffic; of jobs each pair and purpose once, as they are hashed."""
    if scenario.traffic is not None and estimate(scenario).flows <= MOST_FLOWS:
        case = case_of(scenario)
        return case.src, case.dst, case.key, case.table.size_bytes, (case.table.data_ptr, case.table.data_ports)
    columns = [(np.zeros(0, np.int64),) * 4]
    for one in tally(scenario).counted:
        pair = one.src.astype(np.int64) * scenario.cluster.gpus + one.dst
        size_bytes = np.broadcast_to(np.asarray(one.n_bytes, np.int64).sum(axis=0), one.src.shape)
        columns.append(tuple(column.ravel() for column in (one.src, one.dst, pair * 16 + int(one.kind), size_bytes)))
    src, dst, key, size_bytes = (np.concatenate(column) for column in zip(*columns, strict=True))
    key, first, same = np.unique(key, return_index=True, return_inverse=True)
    size_bytes = np.bincount(same, size_bytes, minlength=len(key))
    src, dst = network.hosts[src[first]], network.hosts[dst[first]]
    return src, dst, key, size_bytes, route(network, src, dst, key, scenario.cluster.ecmp_seed)


def _leads_around(scenario: Scenario, network, port: int, src, dst, key) -> bool:
    """Whether all that is sent has another way when a link is down."""
    down = np.zeros(network.n_ports, bool)
    forward = network.ports_between(*(network.node_name[ends[port]] for ends in (network.port_src, network.port_dst)))
    down[np.concatenate((forward, forward ^ 1))] = True
    try:
        route(network, src, dst, key, scenario.cluster.ecmp_seed, down)
    except LabError:
        return False
    return True
