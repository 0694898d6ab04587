"""The data dictionary: unit and meaning of every column of every table of a result."""

import pandas as pd

COLUMNS: dict[str, dict[str, tuple[str, str]]] = {
    "flows": {
        "flow_id": ("index", "flow, in the order of the workload"),
        "job": ("index", "job the flow belongs to: 0 the scenario's own, 1, 2, ... further jobs, -1, -2, ... background traffic"),
        "iteration": ("index", "training iteration, 0 the first"),
        "kind": ("word", "what the flow is for: DP, PP, TP, ..., a collective, or plain traffic"),
        "collective": ("word", "collective operation the flow is a step of; missing if none"),
        "step": ("index", "step within its collective, -1 if none"),
        "microbatch": ("index", "micro-batch it carries, -1 if none"),
        "src": ("rank", "sending GPU"),
        "dst": ("rank", "receiving GPU"),
        "bytes": ("byte", "payload of the message, headers not counted"),
        "start_s": ("s", "when the sender could first send; missing if it never started"),
        "fct_s": (
            "s",
            "flow completion time: from start_s until its last ACK is back at the sender; missing if unfinished",
        ),
        "delivered_s": ("s", "when its last data packet had arrived at the receiver; missing if unfinished"),
        "ideal_fct_s": ("s", "completion time of the same flow alone on an idle path"),
        "slowdown": ("ratio", "fct_s / ideal_fct_s; 1 is undisturbed"),
        "fct_err_s": ("s", "error bar of fct_s against packet mode at level bounded (two standard errors); 0 elsewhere"),
        "bytes_left": ("byte", "payload not yet acknowledged when the run ended, 0 if finished"),
        "ecn_marks": ("packet", "data packets of the flow that were ECN-marked"),
        "retransmits": ("packet", "data packets sent again after a loss"),
    },
    "tasks": {
        "task_id": ("index", "task, in the order of the workload"),
        "job": ("index", "job the task belongs to, 0 the scenario's own"),
        "iteration": ("index", "training iteration, 0 the first"),
        "rank": ("rank", "GPU it runs on"),
        "kind": ("word", "forward, backward, TP (a collective inside the server), optimizer, in switch (a sum in the NVSwitch), ..."),
        "layer": ("index", "transformer layer, -1 if none"),
        "microbatch": ("index", "micro-batch, -1 if none"),
        "start_s": ("s", "start; missing if it never started"),
        "end_s": ("s", "end; missing if unfinished"),
        "bytes": ("byte", "bytes a TP collective moves per GPU, 0 for compute"),
    },
    "ports": {
        "port_id": ("index", "egress port of one directed link; port_id XOR 1 is the opposite direction"),
        "src": ("node", "node the port belongs to"),
        "dst": ("node", "node at the other end of the link"),
        "name": ("word", "both ends by name"),
        "kind": ("word", "fabric (packet network) or NVLink (inside a server)"),
        "tier": ("word", "which tiers the link joins"),
        "rate_bps": ("bit/s", "capacity of the link at the start of the run"),
        "tx_bytes": ("byte", "bytes sent, headers and ACKs included"),
        "tx_packets": ("packet", "packets sent, ACKs included"),
        "mean_utilisation": ("ratio", "tx_bytes over what the link could carry in the whole run, 0 to 1"),
        "max_utilisation": ("ratio", "utilisation of its busiest time bin, 0 to 1"),
        "max_queue_bytes": ("byte", "deepest queue seen at the port"),
        "ecn_marks": ("packet", "packets ECN-marked as they left the port"),
        "pauses": ("count", "times the port was stopped by a PFC pause from the next switch"),
        "paused_s": ("s", "total time stopped by PFC"),
        "drops": ("packet", "packets lost at the port, by overflow or by a lossy link"),
    },
    "critical_path": {
        "order": ("index", "position on the path, first to last"),
        "node_kind": ("word", "task or flow"),
        "id": ("index", "task_id or flow_id"),
        "rank": ("rank", "GPU that computes or sends"),
        "start_s": ("s", "start of the step"),
        "end_s": ("s", "end of the step: of a flow, its delivery or last ACK, whichever released the next step"),
        "idle_s": ("s", "time before start_s in which nothing on the path ran"),
        "kind": ("word", "kind of the task or flow"),
        "what": ("word", "the step in words"),
    },
    "episodes": {
        "partition_id": ("index", "partition that lived through it, as in the partitions table"),
        "start_s": ("s", "start"),
        "end_s": ("s", "end: a flow ended or entered, or the kernel paused to look around"),
        "how": ("word", "simulated (packet by packet, but for what was skipped) or replayed (known from an equal state)"),
        "skipped_from_s": ("s", "where the exactly periodic stretch begins that was skipped; missing if none was, or if replayed"),
        "skipped_s": ("s", "length of that stretch, 0 if none was skipped, or if replayed"),
        "pattern_id": ("index", "pattern of contention, as in the patterns table; -1 if not read"),
        "flows": ("count", "flows of the partition"),
        "ports": ("count", "ports that their data and ACKs queue in"),
        "packet_hops": ("count", "packet-hops that it stands for"),
        "executed_hops": ("count", "packet-hops simulated one by one for it, 0 if replayed"),
    },
    "partitions": {
        "partition_id": ("index", "partition: flows that share ports with each other and with nobody else"),
        "start_s": ("s", "when it formed: by a first flow, a merge or a split"),
        "end_s": ("s", "when it ended, merged or split"),
        "max_flows": ("count", "most flows at one time"),
        "max_ports": ("count", "most ports at one time that their data and ACKs queue in"),
        "episodes": ("count", "episodes that it lived through"),
        "came_from": ("word", "partitions that it came from by a merge or a split, their numbers in a row; missing if not known"),
        "went_into": ("word", "partitions that it went into by a merge or a split, as far as they are listed; missing if not known"),
    },
    "patterns": {
        "pattern_id": ("index", "pattern: which flows cross which ports in which order, and what kinds of ports"),
        "flows": ("count", "flows in it"),
        "ports": ("count", "ports that their data and ACKs queue in"),
        "count": ("count", "episodes that began in it"),
        "hits": ("count", "episodes of those that were replayed"),
        "hops_saved": ("count", "packet-hops of its episodes that were not simulated one by one"),
        "mean_length_s": ("s", "mean length of its episodes"),
        "states": ("count", "different states in which its episodes began"),
    },
    "port_series": {
        "port_id": ("index", "port, as in the ports table"),
        "bin_start_s": ("s", "start of the time bin"),
        "bin_end_s": ("s", "end of the time bin"),
        "tx_bytes": ("byte", "bytes sent in the bin"),
        "max_queue_bytes": ("byte", "deepest queue in the bin"),
        "ecn_marks": ("packet", "packets ECN-marked in the bin"),
        "paused_s": ("s", "time stopped by PFC in the bin"),
    },
    "paths": {
        "flow_id": ("index", "flow, as in the flows table"),
        "since_s": ("s", "since when it took this path: its start, or when a link failed or came back; missing if it never started"),
        "hop": ("index", "position along the path, 0 at the sender"),
        "port_id": ("index", "port its data cross, as in the ports table"),
    },
}


def dictionary_table() -> pd.DataFrame:
    """The whole dictionary as one table: table, column, unit, meaning."""
    rows = [
        (table, column, unit, meaning)
        for table, columns in COLUMNS.items()
        for column, (unit, meaning) in columns.items()
    ]
    return pd.DataFrame(rows, columns=["table", "column", "unit", "meaning"])
