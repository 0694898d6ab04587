"""From a scenario to its Dag."""

import numpy as np

from sim.catalogue.gpus import GPUS
from sim.scenario import Model, Parallelism, Scenario, Traffic
from sim.units import bps_from_gbps, ps_from_us
from sim.workload import patterns
from sim.workload.blocks import Edges, Flows, Tasks
from sim.workload.dag import Dag, assemble
from sim.workload.iteration import iteration
from sim.workload.strategy import Strategy
from sim.workload.transformer import Shape


def shape_of(model: Model) -> Shape:
    """The transformer that a scenario's model section describes."""
    return Shape(
        model.layers, model.hidden, model.heads, model.ffn_hidden, model.vocabulary, model.sequence,
        kv_heads=model.kv_heads, head_dim=model.head_dim, gated=model.gated, biased=model.biased, tied=model.tied_embeddings,
        experts=model.experts, top_k=model.top_k, expert_ffn=model.expert_ffn, shared_experts=model.shared_experts,
        dense_layers=model.dense_layers, latent=tuple(model.latent),
    )  # fmt: skip


def strategy_of(parallelism: Parallelism) -> Strategy:
    """The strategy that a scenario's parallelism section describes."""
    return Strategy(
        tp=parallelism.tp, pp=parallelism.pp, dp=parallelism.dp,
        micro_batch=parallelism.micro_batch, micro_batches=parallelism.micro_batches,
        distributed_optimizer=parallelism.optimizer == "distributed",
        bucket_parameters=parallelism.bucket_parameters, efficiency=parallelism.efficiency,
    )  # fmt: skip


def build_dag(scenario: Scenario) -> Dag:
    """The tasks and flows of a scenario: one training iteration, or plain traffic.

    Ranks and hosts are the same numbers: rank r runs on host r. Flows of pattern "flows" are sorted by
    start; `flow_order` says where each stood.
    """
    if scenario.traffic is not None:
        flows = _traffic(scenario.traffic, scenario.cluster.gpus, scenario.simulation.seed)
        return assemble(Tasks.join([]), flows, Edges(), Edges(), (), scenario.cluster.gpus)
    cluster = scenario.cluster
    return iteration(
        shape_of(scenario.model), strategy_of(scenario.parallelism), GPUS[cluster.gpu], bps_from_gbps(cluster.nvlink_gbps), cluster.gpus
    )


def flow_order(scenario: Scenario) -> np.ndarray:
    """int64[F]: for each flow of the Dag, its index in traffic.flows (the identity for other patterns)."""
    if scenario.traffic.pattern != "flows":
        return np.arange(len(_traffic(scenario.traffic, scenario.cluster.gpus, scenario.simulation.seed)))
    return np.argsort([ps_from_us(flow.start_us) for flow in scenario.traffic.flows], kind="stable")


def _traffic(traffic: Traffic, hosts: int, seed: int) -> Flows:
    if traffic.pattern == "incast":
        return patterns.incast(traffic.senders or hosts - 1, traffic.receiver, traffic.flow_bytes)
    if traffic.pattern == "ring":
        return patterns.ring(hosts, traffic.flow_bytes)
    if traffic.pattern == "permutation":
        return patterns.permutation(hosts, traffic.flow_bytes, seed)
    if traffic.pattern == "all-to-all":
        return patterns.all_to_all(hosts, traffic.flow_bytes)
    listed = traffic.flows
    flows, _ = patterns.explicit(
        [flow.src for flow in listed], [flow.dst for flow in listed], [flow.bytes for flow in listed],
        [ps_from_us(flow.start_us) for flow in listed],
    )  # fmt: skip
    return flows
