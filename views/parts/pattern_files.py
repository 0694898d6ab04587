"""A pattern's conflict graph as a file to take away, with what is known of the flows and of the links that they share."""

import networkx as nx
import numpy as np

from sim.convergence import longest_episode
from sim.errors import LabError
from sim.result_conflicts import pattern_of_result
from sim.result_paths import ways
from sim.result_tables import PORT_KINDS, kind_name
from sim.units import PS_PER_S
from sim.workload.dag import FlowKind
from sim.wormhole.conflict_graph import graphml_text, json_text
from views.parts import pattern_graphs


def as_graphml(result, pattern_id: int) -> str:
    return graphml_text(detailed(result, pattern_id))


def as_json(result, pattern_id: int) -> str:
    return json_text(detailed(result, pattern_id))


def detailed(result, pattern_id: int) -> nx.Graph:
    """The graph with the hops of each flow, and of each pair the ports that it shares: their least rate, longest delay, names, kinds and losses.

    Sender, receiver and kind of flows, names, kinds and losses of ports are those of the pattern's longest episode; they are left out where its flows
    cannot be told, and losses where no link loses packets.
    """
    pattern, _ = pattern_of_result(result, pattern_id)
    found, records, classes = pattern_graphs.graph(result, pattern_id).copy(), result.raw.records, np.array(pattern.classes)
    rate_bps, delay_s = records.class_rate_bps[classes], records.class_delay_ps[classes] / PS_PER_S
    flows, ports = _in_the_run(result, pattern_id)
    used = [{*data, *acks} for data, acks in zip(pattern.data, pattern.acks, strict=True)]
    for number, node in found.nodes(data=True):
        node |= {"hops_of_data": len(pattern.data[number]), "hops_of_acks": len(pattern.acks[number])}
        if flows is not None:
            node |= _flow(result.dag, int(flows[number]))
    for one, other, edge in found.edges(data=True):
        shared = sorted(used[one] & used[other])
        edge |= {"rate_bps": int(rate_bps[shared].min()), "delay_s": float(delay_s[shared].max())}
        if ports is not None:
            edge |= _links(result.network, ports[shared])
    return found


def _in_the_run(result, pattern_id: int) -> tuple:
    """(ids of the flows, ids of the ports) of a pattern in its longest episode, in the pattern's numbering; None for both where they cannot be told."""
    try:
        episode = longest_episode(result, pattern_id)
    except LabError:
        return None, None
    (data_ptr, data), (ack_ptr, acks) = ways(result.raw, episode.flows, episode.start_ps)
    both = zip(np.split(data, data_ptr[1:-1]), np.split(acks, ack_ptr[1:-1]), strict=True)
    return episode.flows, np.array(list(dict.fromkeys(port for way in both for path in way for port in path.tolist())))


def _flow(dag, flow: int) -> dict:
    return {"flow_id": flow, "src": int(dag.flow_src[flow]), "dst": int(dag.flow_dst[flow]), "kind": kind_name(FlowKind(int(dag.flow_kind[flow])))}


def _links(network, ports: np.ndarray) -> dict:
    kinds = ", ".join(PORT_KINDS[kind] for kind in np.unique(network.port_kind[ports]).tolist())
    told = {"ports": "; ".join(map(network.port_name, ports.tolist())), "kind": kinds}
    return told | ({"loss": float(network.port_loss[ports].max())} if network.port_loss.any() else {})
