"""A run of the HPCC simulator's files on the packet kernel: its independent flows as a case, its clock as ours."""

import hashlib
from dataclasses import dataclass

import numpy as np

from sim.case import Case, timed_faults
from sim.errors import FormatError
from sim.formats.hpcc import HpccCase
from sim.formats.hpcc_topology import topology_text
from sim.packet.flows import FlowTable
from sim.scenario import Cluster, FlowSpec, Scenario, Simulation, Traffic
from sim.transport import kernel_settings
from sim.units import PS_PER_S, PS_PER_US, ps_from_s
from sim.workload import patterns
from sim.workload.blocks import Edges, Tasks
from sim.workload.dag import Dag, assemble


class HpccScenario(Scenario):
    """The files as a scenario as far as one can say them; `beyond` is a hash of paths, windows, thresholds and settings."""

    beyond: str = ""


@dataclass(frozen=True)
class HpccRun:
    """A case whose time 0 is the start of the earliest flow: `origin_ps` on the clock of the files."""

    source: HpccCase
    case: Case
    origin_ps: int


def run_of(source: HpccCase, resolution: str = "1ps", seed: int = 1, name: str = "hpcc", ecmp_seed: int = 1) -> HpccRun:
    """What the packet kernel needs to run the files. `ecmp_seed`: as they were read with, for paths after a failure.

    Raises
    ------
    FormatError
        No flow starts before SIMULATOR_STOP_TIME.
    """
    flows, network, config = source.flows, source.network, source.config
    origin_ps = int(flows.start_ps.min())
    limit_ps = ps_from_s(config.stop_s) - origin_ps
    if limit_ps <= 0:
        raise FormatError(
            f"{config.place('SIMULATOR_STOP_TIME')}: the first flow starts at {origin_ps / PS_PER_S:g} s; the nearest that works is above that"
        )
    dag = _dag(source, origin_ps)
    simulation = Simulation(seed=seed, resolution=resolution, time_limit_s=limit_ps / PS_PER_S)
    scenario = _scenario(source, dag, simulation, origin_ps, name, ecmp_seed)
    faults = timed_faults(scenario, network)
    settings = kernel_settings(
        source.transport, simulation, network, may_lose=bool(faults),
        thresholds=None if source.kmin_bytes is None else (source.kmin_bytes, source.kmax_bytes, source.pmax),
        int_multi=config.int_multi, var_window=config.var_window, rate_bound=config.rate_bound,
    )  # fmt: skip
    table = FlowTable(
        dag.flow_bytes, source.window_bytes, source.base_rtt_ps, dag.flow_draw_key,
        source.data_ptr, source.data_ports, source.ack_ptr, source.ack_ports,
    )  # fmt: skip
    case = Case(
        scenario, network, dag, table, settings, faults, list(source.notices),
        src=flows.src, dst=flows.dst, key=(flows.sport.astype(np.int64) << 16) | flows.dport, ecmp_seed=ecmp_seed,
    )  # fmt: skip
    return HpccRun(source, case, origin_ps)


def _dag(source: HpccCase, origin_ps: int) -> Dag:
    """Flows that wait for nothing but their start, numbered as in the files once sorted."""
    flows, network = source.flows, source.network
    host = np.full(network.n_nodes, -1)
    host[network.hosts] = np.arange(network.n_hosts)
    listed, _ = patterns.explicit(host[flows.src], host[flows.dst], flows.bytes, flows.start_ps - origin_ps)
    return assemble(Tasks.join([]), listed, Edges(), Edges(), (), network.n_hosts)


def _scenario(
    source: HpccCase, dag: Dag, simulation: Simulation, origin_ps: int, name: str, ecmp_seed: int
) -> HpccScenario:
    columns = (dag.flow_src, dag.flow_dst, dag.flow_bytes, dag.start_ps / PS_PER_US)
    listed = tuple(
        FlowSpec(src=src, dst=dst, bytes=size, start_us=start_us)
        for src, dst, size, start_us in zip(*(column.tolist() for column in columns), strict=True)
    )
    faults = tuple(
        fault.model_copy(update={"at_us": max(0.0, fault.at_us - origin_ps / PS_PER_US)}) for fault in source.faults
    )
    return HpccScenario(
        name=name, cluster=Cluster(topology="file", graph=topology_text(source.network), ecmp_seed=ecmp_seed),
        traffic=Traffic(pattern="flows", flows=listed), transport=source.transport, simulation=simulation, faults=faults,
        beyond=_digest(source),
    )  # fmt: skip


def _digest(source: HpccCase) -> str:
    digest = hashlib.sha256(repr(source.config).encode())
    flows = source.flows
    for column in (
        source.data_ptr, source.data_ports, source.ack_ptr, source.ack_ports, source.base_rtt_ps, source.window_bytes,
        source.kmin_bytes, source.kmax_bytes, source.pmax, flows.sport, flows.dport,
    ):  # fmt: skip
        digest.update(b"-" if column is None else np.ascontiguousarray(column).tobytes())
    return digest.hexdigest()
