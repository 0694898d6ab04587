"""The Flow Conflict Graph (Long et al., NSDI 2026, section 4): flows weighted by sending rate, joined where they share ports."""

import io
import json

import networkx as nx
import numpy as np

from sim.errors import RunError
from sim.wormhole.pattern import Pattern

MOST_EDGES = 500_000  # more take gigabytes as a graph


def conflict_graph(member: np.ndarray, port: np.ndarray, flows: list, rates_bps: list) -> nx.Graph:
    """The graph of flows that cross ports.

    Parameters
    ----------
    member, port
        Flow `flows[member[i]]` queues in port `port[i]`, with its data or its ACKs.
    flows, rates_bps
        Vertices, and what their `rate_bps` is.

    Returns
    -------
    A graph whose edges have as `weight` how many ports the two flows share. Pairs are looked for port by port, so that the
    effort is that of the edges, counted with their weights.

    Raises
    ------
    RunError
        There would be more than MOST_EDGES shared ports of pairs.
    """
    graph = nx.Graph()
    graph.add_nodes_from((flow, {"rate_bps": rate}) for flow, rate in zip(flows, rates_bps, strict=True))
    pairs = np.unique(np.stack([port, member]), axis=1) if len(member) else np.zeros((2, 0), np.int64)
    members = np.split(pairs[1], np.flatnonzero(np.diff(pairs[0])) + 1)
    count = sum(len(some) * (len(some) - 1) // 2 for some in members)
    if count > MOST_EDGES:
        raise RunError(
            f"a conflict graph of {len(flows):,} flows with {count:,} shared ports of pairs: at most {MOST_EDGES:,}; "
            "choose a time or pattern with fewer flows"
        )
    size = len(flows)
    codes = [np.zeros(0, np.int64)]
    for some in members:
        a, b = np.triu_indices(len(some), 1)
        codes.append(some[a].astype(np.int64) * size + some[b])
    edges, weights = np.unique(np.concatenate(codes), return_counts=True)
    for code, weight in zip(edges.tolist(), weights.tolist(), strict=True):
        graph.add_edge(flows[code // size], flows[code % size], weight=weight)
    return graph


def pattern_graph(pattern: Pattern, rates_bps: np.ndarray) -> nx.Graph:
    """The graph of a pattern; flows are numbered in order of start."""
    paths = [(*data, *acks) for data, acks in zip(pattern.data, pattern.acks, strict=True)]
    member = np.repeat(np.arange(len(paths)), [len(path) for path in paths])
    port = np.array([q for path in paths for q in path], np.int64)
    return conflict_graph(member, port, list(range(pattern.flows)), np.asarray(rates_bps, float).tolist())


def graphml_text(graph: nx.Graph) -> str:
    """The graph in GraphML, for Gephi, yEd and others."""
    sink = io.BytesIO()
    nx.write_graphml_xml(graph, sink)
    return sink.getvalue().decode()


def json_text(graph: nx.Graph) -> str:
    """The graph as JSON: lists of nodes and links, as D3 and networkx read them."""
    return json.dumps(nx.node_link_data(graph, edges="links"), indent=1) + "\n"
