"""Conflict graphs of a run's patterns: placed on the plane, and as tables."""

from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
import pandas as pd
import streamlit as st

from sim.errors import LabError
from sim.result_conflicts import conflict_graph_of, pattern_of_result
from views.figures.pattern import circle
from views.parts.words import show_rate, show_time

ROUND = 24  # graphs of so few flows, and full meshes, are drawn on a circle
DENSE = 8  # with more than the square of the flows over this many pairs nothing stands out, so it is a circle too
ITERATIONS = 60  # of the spring model
GRAPHS_KEPT = 64
MOST_PAIRS = 1000  # rows of a table


def graph(result, pattern_id: int) -> nx.Graph | None:
    """The conflict graph of a pattern, None where it is too large to be made."""
    return _graph(result.scenario.digest(), result.summary["memo"]["patterns"], int(pattern_id), result)


@st.cache_resource(max_entries=GRAPHS_KEPT, show_spinner=False)
def _graph(digest: str, states: int, pattern_id: int, _result):
    try:
        return conflict_graph_of(_result, pattern_id)
    except LabError:
        return None


def drawn(result, pattern_id: int) -> tuple | None:
    """What `views.figures.pattern` draws: places, pairs, ports shared, rates, names."""
    return _drawn(result.scenario.digest(), result.summary["memo"]["patterns"], int(pattern_id), result)


@st.cache_resource(max_entries=GRAPHS_KEPT, show_spinner=False)
def _drawn(digest: str, states: int, pattern_id: int, _result):
    found = graph(_result, pattern_id)
    if found is None:
        return None
    pairs = list(found.edges(data="weight"))
    edges = np.array([pair[:2] for pair in pairs], int).reshape(-1, 2)
    shared = np.array([pair[2] for pair in pairs], int)
    rates = np.array([rate for _, rate in found.nodes(data="rate_bps")], float)
    return _places(found), edges, shared, rates, [f"flow {flow}" for flow in found]


def _places(found: nx.Graph) -> np.ndarray:
    """float64[n, 2] within the unit circle, in the order of the graph's nodes."""
    count, pairs = found.number_of_nodes(), found.number_of_edges()
    start = circle(count)
    if count <= ROUND or pairs > count * count / DENSE:
        return start
    placed = nx.spring_layout(found, pos=dict(zip(found, start, strict=True)), seed=1, iterations=ITERATIONS)
    xy = np.array([placed[node] for node in found])
    return xy / max(1e-9, np.abs(xy).max())


def flows_table(result, pattern_id: int) -> pd.DataFrame:
    """One row per flow of a pattern: its rate, its hops, with how many it shares ports."""
    pattern, rates = pattern_of_result(result, pattern_id)
    found = graph(result, pattern_id)
    return pd.DataFrame(
        {
            "flow": np.arange(pattern.flows),
            "mean rate": [show_rate(float(rate)) for rate in rates],
            "hops of data": [len(path) for path in pattern.data],
            "hops of ACKs": [len(path) for path in pattern.acks],
            "shares ports with": [found.degree(flow) for flow in range(pattern.flows)],
            "ports of data": [", ".join(map(str, path)) for path in pattern.data],
        }
    )


def shared_table(result, pattern_id: int) -> pd.DataFrame:
    """One row per port that several flows queue in, most crowded first."""
    pattern, _ = pattern_of_result(result, pattern_id)
    records = result.raw.records
    data, acks = (Counter(port for path in paths for port in set(path)) for paths in (pattern.data, pattern.acks))
    flows = Counter(port for a, b in zip(pattern.data, pattern.acks, strict=True) for port in {*a, *b})
    ports = [port for port, count in flows.most_common() if count > 1]
    classes = [pattern.classes[port] for port in ports]
    return pd.DataFrame(
        {
            "port": ports,
            "flows": [flows[port] for port in ports],
            "with data": [data[port] for port in ports],
            "with ACKs": [acks[port] for port in ports],
            "speed": [show_rate(int(records.class_rate_bps[one])) for one in classes],
            "delay": [show_time(records.class_delay_ps[one] / 1e12) for one in classes],
        }
    )


def pairs_table(result, pattern_id: int) -> pd.DataFrame:
    """One row per pair of flows that share ports, those that share most first."""
    pattern, _ = pattern_of_result(result, pattern_id)
    ports = [{*a, *b} for a, b in zip(pattern.data, pattern.acks, strict=True)]
    rows = [(a, b, sorted(ports[a] & ports[b])) for a, b in combinations(range(pattern.flows), 2) if ports[a] & ports[b]]
    rows.sort(key=lambda row: -len(row[2]))
    return pd.DataFrame(
        {
            "flow": [a for a, _, _ in rows[:MOST_PAIRS]],
            "and flow": [b for _, b, _ in rows[:MOST_PAIRS]],
            "share": [len(ports) for _, _, ports in rows[:MOST_PAIRS]],
            "ports": [", ".join(map(str, ports)) for _, _, ports in rows[:MOST_PAIRS]],
        }
    )
