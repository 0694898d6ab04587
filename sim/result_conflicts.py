"""Flow conflict graphs of a result: of a pattern of its patterns table, or of the flows under way at a time."""

import networkx as nx
import numpy as np

from sim.errors import RunError
from sim.result_partitions import active_flows, incidence
from sim.units import BITS_PER_BYTE, PS_PER_S
from sim.wormhole.conflict_graph import conflict_graph, pattern_graph
from sim.wormhole.pattern import Pattern, pattern_of


def pattern_of_result(result, pattern_id: int) -> tuple[Pattern, np.ndarray]:
    """(a pattern of the patterns table, the mean rates in bit/s at which its flows sent in its longest episode)."""
    records = result.raw.records
    known = 0 if records is None else len(records.words)
    if not 0 <= pattern_id < known:
        raise RunError(f"pattern {pattern_id}: the result has {known} patterns, numbered from 0")
    return pattern_of(records.words[pattern_id]), records.rates_bps[pattern_id]


def conflict_graph_of(result, pattern_id: int) -> nx.Graph:
    """The flow conflict graph of a pattern of the patterns table, flows numbered in order of start."""
    return pattern_graph(*pattern_of_result(result, pattern_id))


def conflict_graph_at(result, time_s: float) -> nx.Graph:
    """The flow conflict graph of a time, flows by their ids, weighted by their mean rate (payload over completion time)."""
    raw, flows = result.raw, active_flows(result, time_s)
    acked_ps, start_ps = raw.acked_ps[flows], raw.start_ps[raw.dag.n_tasks :][flows]
    until = np.where(acked_ps >= 0, acked_ps, raw.end_ps_last)
    rate_bps = raw.flow_acked_bytes[flows] * (BITS_PER_BYTE * PS_PER_S) / np.maximum(1, until - start_ps)
    return conflict_graph(*incidence(raw, flows, time_s * PS_PER_S), flows.tolist(), rate_bps.tolist())
