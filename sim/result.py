"""What a run leaves behind: raw arrays, and the tables, series and summary made from them on demand."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from sim import (
    result_faults,
    result_lineage,
    result_notices,
    result_partitions,
    result_paths,
    result_summary,
    result_tables,
)
from sim.critical_path import critical_path, shares
from sim.result_paths import NO_REROUTES, Reroutes
from sim.result_series import PortSeries
from sim.topology.network import END
from sim.transport import NEVER_MARKS, marking_thresholds
from sim.units import PS_PER_S


@dataclass
class RawRun:
    """The arrays a simulation fills: T tasks, F flows, P ports, B time bins; node n is task n, or flow n - T.

    Times are picoseconds from the start of the iteration, -1 where it never happened.
    """

    scenario: object
    network: object
    dag: object
    data_ptr: np.ndarray  # int64[F+1]: paths on which flows began
    data_ports: np.ndarray  # int32: ports of flow i's data are data_ports[data_ptr[i]:data_ptr[i+1]]
    ack_ptr: np.ndarray
    ack_ports: np.ndarray
    start_ps: np.ndarray  # int64[T+F]
    end_ps: np.ndarray  # int64[T+F]: end of a task; last data packet of a flow at its receiver
    acked_ps: np.ndarray  # int64[F]: last ACK back at the sender
    ideal_fct_ps: np.ndarray  # int64[F]: the flow alone on an idle path
    flow_marks: np.ndarray  # int64[F]
    flow_retransmits: np.ndarray  # int64[F], packets
    flow_acked_bytes: np.ndarray  # int64[F]
    port_tx_bytes: np.ndarray  # int64[P], headers and ACKs included
    port_tx_packets: np.ndarray
    port_max_queue_bytes: np.ndarray
    port_marks: np.ndarray
    port_pauses: np.ndarray
    port_paused_ps: np.ndarray
    port_drops: np.ndarray
    bin_ps: int
    series_tx_bytes: np.ndarray  # int64[P, B]
    series_max_queue_bytes: np.ndarray  # int32[P, B]
    series_marks: np.ndarray  # int32[P, B]
    series_paused_ps: np.ndarray  # int64[P, B]
    counters: (
        dict  # packet_hops, data_packets, ecn_marks, pfc_pauses, drops, losses, retransmits, max_queue_bytes, timeouts
    )
    cpu_s: dict  # compile, build, kernel, orchestrate, total
    wall_s: float
    peak_rss_bytes: int
    end_ps_last: int
    status: str  # finished | cancelled | time limit | deadlock
    notices: list = field(default_factory=list)
    port_ecn_kmin_bytes: np.ndarray | None = None  # int64[P]; None: those of the scenario's transport
    port_ecn_kmax_bytes: np.ndarray | None = None
    mode: str = "packet"  # packet | wormhole | flow
    level: str | None = None  # exact | bounded | paper in mode wormhole
    kernel: dict | None = None  # what the wormhole kernel counted, see `WormholeSimulation.kernel_counters`
    fct_err_ps: np.ndarray | None = None  # float64[F], one standard error of the FCT at level bounded
    reroutes: Reroutes = NO_REROUTES  # paths that flows took later
    records: object | None = None  # what it recorded, a `sim.wormhole.records.Records`


class Result:
    """One run as pandas tables in SI units (see `sim.result_dictionary`), time series and a summary."""

    def __init__(self, raw: RawRun):
        self.raw = raw
        self.scenario = raw.scenario
        self.network = raw.network
        self.dag = raw.dag
        self.status = raw.status

    @property
    def finished(self) -> bool:
        """Whether the iteration was simulated to its end."""
        return self.status == "finished"

    @property
    def end_s(self) -> float:
        """How far the simulation got: the iteration time, if it finished."""
        return self.raw.end_ps_last / PS_PER_S

    @cached_property
    def flows(self) -> pd.DataFrame:
        """One row per flow; columns as in the data dictionary, here and below."""
        return result_tables.flows_table(self.raw)

    @cached_property
    def tasks(self) -> pd.DataFrame:
        """One row per task of a rank."""
        return result_tables.tasks_table(self.raw)

    @cached_property
    def ports(self) -> pd.DataFrame:
        """One row per port, totals of the run."""
        return result_tables.ports_table(self.raw, self.series)

    @cached_property
    def episodes(self) -> pd.DataFrame:
        """One row per stretch of a partition's life; like the next two tables empty but in mode wormhole."""
        return result_partitions.episodes_table(self.raw)

    @cached_property
    def partitions(self) -> pd.DataFrame:
        """One row per partition."""
        return result_lineage.with_lineage(result_partitions.partitions_table(self.raw), self.raw)

    @cached_property
    def patterns(self) -> pd.DataFrame:
        """One row per pattern of contention."""
        return result_partitions.patterns_table(self.raw)

    @cached_property
    def critical_path(self) -> pd.DataFrame:
        """One row per step of the chain that bounds the run, in order."""
        return result_tables.critical_path_table(self.raw, self._path)

    @cached_property
    def path_shares_s(self) -> dict[str, float]:
        """Seconds of the critical path by what they went into; the parts add up to its length."""
        parts = {name: ps / PS_PER_S for name, ps in shares(self.dag, self._path, self.raw.end_ps).items()}
        if self.finished:  # the way of the last ACK: nobody computes or sends any more
            parts["idle"] = parts.get("idle", 0.0) + max(0.0, self.end_s - sum(parts.values()))
        return parts

    @cached_property
    def _path(self):
        raw = self.raw
        return critical_path(self.dag, raw.start_ps, raw.end_ps, raw.acked_ps)

    @cached_property
    def series(self) -> PortSeries:
        """Every port over time."""
        return PortSeries.of(self.raw)

    @cached_property
    def summary(self) -> dict:
        """The JSON of `python -m sim run`."""
        return result_summary.summarise(self.raw)

    @cached_property
    def unused_faults(self) -> str | None:
        """A sentence about the faults that no flow met; None where there is none."""
        return result_faults.unused_faults(self)

    @cached_property
    def notices(self) -> list[str]:
        """What to know beyond the numbers: from the scenario and the run, then from the result."""
        recorded = [] if self.raw.records is None else self.raw.records.notices()
        return list(self.raw.notices) + recorded + result_notices.notices(self)

    @cached_property
    def ecn_thresholds_bytes(self) -> tuple[np.ndarray, np.ndarray]:
        """(kmin, kmax) of every port, int64[P] each; 0 where nothing is ever marked, as at hosts that do not forward."""
        kmin, kmax = self.raw.port_ecn_kmin_bytes, self.raw.port_ecn_kmax_bytes
        if kmin is None:
            kmin, kmax, _ = marking_thresholds(self.scenario.transport, self.network)
        marks = (self.network.node_role[self.network.port_src] != END) & (kmin < NEVER_MARKS)
        return np.where(marks, kmin, 0), np.where(marks, kmax, 0)

    def flow_path(self, flow_id: int) -> list[int]:
        """Ports that the data of a flow cross, in order: the path on which it began."""
        return self.flow_paths(flow_id)[0][1]

    def flow_paths(self, flow_id: int) -> list[tuple[float, list[int]]]:
        """(since when in seconds, ports) of every path of a flow; more than one where links failed or came back while it was under way."""
        return [(float(result_tables.seconds(since)), ports) for since, ports in result_paths.of_flow(self.raw, flow_id)]

    def flows_through(self, port_id: int) -> np.ndarray:
        """Ids of the flows whose data cross a port at some time, ascending."""
        return np.unique(result_paths.stays(self.raw, port_id)[0])

    def stays_at(self, port_id: int) -> pd.DataFrame:
        """A row for every time in which a flow's data took a port: flow_id, since_s, and until_s, when it went another way or had arrived."""
        return result_tables.stays_table(self.raw, *result_paths.stays(self.raw, port_id))
