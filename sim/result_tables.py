"""The tidy tables of a run: one row per flow, task, port and step of the critical path, SI units in the names."""

import numpy as np
import pandas as pd

from sim.result_paths import NEVER
from sim.units import PS_PER_S
from sim.workload.dag import FlowKind, TaskKind

TIER_NAMES = {-1: "NVSwitch", 0: "GPU", 1: "leaf", 2: "spine", 3: "core"}  # Network.node_tier
PORT_KINDS = ("fabric", "NVLink")  # Network.port_kind


def seconds(time_ps: np.ndarray) -> np.ndarray:
    """Picoseconds to seconds; -1 (never happened) becomes NaN."""
    return np.where(time_ps >= 0, time_ps / PS_PER_S, np.nan)


def kind_name(kind) -> str:
    """The word for a task or flow kind: 'forward', 'optimizer', but 'DP', 'PP', 'TP'."""
    name = kind.name
    return name if len(name) <= 2 else name.lower().replace("_", " ")


def named(codes: np.ndarray, enum) -> pd.Categorical:
    """Enum codes as a categorical column of `kind_name` words."""
    kinds = list(enum)
    position = np.full(max(k.value for k in kinds) + 1, -1)
    position[[k.value for k in kinds]] = np.arange(len(kinds))
    return pd.Categorical.from_codes(position[codes], [kind_name(k) for k in kinds])


def _collectives(dag) -> pd.Categorical:
    """The name of each flow's collective, missing where it belongs to none."""
    if not dag.collective_name:
        return pd.Categorical.from_codes(np.full(len(dag.flow_src), -1), [])
    names, code_of = np.unique(np.array(dag.collective_name, dtype=object), return_inverse=True)
    codes = np.where(dag.flow_collective >= 0, code_of[dag.flow_collective], -1)
    return pd.Categorical.from_codes(codes, names)


BARS = 2.0  # an error bar is two standard errors: 95 % of flows lie within


def flows_table(raw) -> pd.DataFrame:
    """One row per flow of a `RawRun`."""
    dag, tasks = raw.dag, raw.dag.n_tasks
    start_ps, delivered_ps = raw.start_ps[tasks:], raw.end_ps[tasks:]
    finished = raw.acked_ps >= 0
    fct_s = np.where(finished, (raw.acked_ps - start_ps) / PS_PER_S, np.nan)
    ideal_s = raw.ideal_fct_ps / PS_PER_S
    return pd.DataFrame(
        {
            "flow_id": np.arange(len(start_ps)),
            "job": dag.flow_job,
            "iteration": dag.flow_iteration,
            "kind": named(dag.flow_kind, FlowKind),
            "collective": _collectives(dag),
            "step": dag.flow_step,
            "microbatch": dag.flow_microbatch,
            "src": dag.flow_src,
            "dst": dag.flow_dst,
            "bytes": dag.flow_bytes,
            "start_s": seconds(start_ps),
            "fct_s": fct_s,
            "delivered_s": seconds(delivered_ps),
            "ideal_fct_s": ideal_s,
            "slowdown": np.divide(fct_s, ideal_s, out=np.full(len(fct_s), np.nan), where=ideal_s > 0),
            "fct_err_s": BARS * (np.zeros(len(fct_s)) if raw.fct_err_ps is None else raw.fct_err_ps) / PS_PER_S,
            "bytes_left": np.where(finished, 0, dag.flow_bytes - raw.flow_acked_bytes),
            "ecn_marks": raw.flow_marks,
            "retransmits": raw.flow_retransmits,
        }
    )


def stays_table(raw, flow: np.ndarray, since_ps: np.ndarray, until_ps: np.ndarray) -> pd.DataFrame:
    """One row per stay of a flow at a port, see `sim.result_paths.stays`."""
    delivered_ps = raw.end_ps[raw.dag.n_tasks :][flow]
    until_s = seconds(np.where(delivered_ps < 0, np.where(until_ps == NEVER, -1, until_ps), np.minimum(until_ps, delivered_ps)))
    return pd.DataFrame({"flow_id": flow, "since_s": seconds(since_ps), "until_s": until_s})


def tasks_table(raw) -> pd.DataFrame:
    """One row per task of a `RawRun`."""
    dag, tasks = raw.dag, raw.dag.n_tasks
    return pd.DataFrame(
        {
            "task_id": np.arange(tasks),
            "job": dag.task_job,
            "iteration": dag.task_iteration,
            "rank": dag.task_rank,
            "kind": named(dag.task_kind, TaskKind),
            "layer": dag.task_layer,
            "microbatch": dag.task_microbatch,
            "start_s": seconds(raw.start_ps[:tasks]),
            "end_s": seconds(raw.end_ps[:tasks]),
            "bytes": dag.task_bytes,
        }
    )


def tier_labels(network) -> np.ndarray:
    """Which two tiers each port joins: 'GPU-leaf', 'leaf-spine', ..., lower tier first."""
    ends = np.stack([network.node_tier[network.port_src], network.node_tier[network.port_dst]])
    low, high = np.minimum(*ends), np.maximum(*ends)
    inside = low < 0
    low, high = np.where(inside, high, low), np.where(inside, low, high)
    table = np.array([[f"{a}-{b}" for b in TIER_NAMES.values()] for a in TIER_NAMES.values()], dtype=object)
    return table[low + 1, high + 1]


def ports_table(raw, series) -> pd.DataFrame:
    """One row per port of a `RawRun`, with the peaks of its series."""
    network = raw.network
    capacity_bits = network.port_rate_bps * (raw.end_ps_last / PS_PER_S)
    sent_bits = raw.port_tx_bytes * 8.0
    return pd.DataFrame(
        {
            "port_id": np.arange(network.n_ports),
            "src": network.port_src,
            "dst": network.port_dst,
            "name": [network.port_name(port) for port in range(network.n_ports)],
            "kind": pd.Categorical.from_codes(network.port_kind, PORT_KINDS),
            "tier": pd.Categorical(tier_labels(network)),
            "rate_bps": network.port_rate_bps,
            "tx_bytes": raw.port_tx_bytes,
            "tx_packets": raw.port_tx_packets,
            "mean_utilisation": np.divide(
                sent_bits, capacity_bits, out=np.zeros(len(sent_bits)), where=capacity_bits > 0
            ),
            "max_utilisation": series.peak_utilisation(),
            "max_queue_bytes": raw.port_max_queue_bytes,
            "ecn_marks": raw.port_marks,
            "pauses": raw.port_pauses,
            "paused_s": raw.port_paused_ps / PS_PER_S,
            "drops": raw.port_drops,
        }
    )


def critical_path_table(raw, path) -> pd.DataFrame:
    """Steps that bound the run, first to last; a step ends when it released the next."""
    dag, tasks = raw.dag, raw.dag.n_tasks
    nodes = path.nodes.tolist()
    is_flow = path.nodes >= tasks
    return pd.DataFrame(
        {
            "order": np.arange(len(nodes)),
            "node_kind": np.where(is_flow, "flow", "task"),
            "id": np.where(is_flow, path.nodes - tasks, path.nodes),
            "rank": np.array(
                [dag.flow_src[n - tasks] if n >= tasks else dag.task_rank[n] for n in nodes], dtype=np.int64
            ),
            "start_s": seconds(path.start_ps),
            "end_s": seconds(path.release_ps),
            "idle_s": path.idle_ps / PS_PER_S,
            "kind": [kind_name(_kind(dag, n, tasks)) for n in nodes],
            "what": [dag.describe(n) for n in nodes],
        }
    )


def _kind(dag, node: int, tasks: int):
    return FlowKind(int(dag.flow_kind[node - tasks])) if node >= tasks else TaskKind(int(dag.task_kind[node]))
