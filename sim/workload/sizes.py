"""How many tasks, flows and bytes a scenario's Dag will have, without building it."""

from dataclasses import dataclass

from sim.scenario import Scenario
from sim.workload.build import shape_of, strategy_of
from sim.workload.bytes import sent_bytes
from sim.workload.collective import ring
from sim.workload.stage import merges_layers
from sim.workload.strategy import Strategy
from sim.workload.transformer import Shape, stage_parameters


@dataclass(frozen=True)
class Sizes:
    """What a scenario's graph will hold."""
    tasks: int
    flows: int
    network_bytes: float  # payload of all flows


def sizes(scenario: Scenario) -> Sizes:
    """Counts of a scenario, at once."""
    traffic, hosts = scenario.traffic, scenario.cluster.gpus
    if traffic is None:
        shape, strategy = shape_of(scenario.model), strategy_of(scenario.parallelism)
        sent = sum(row.sent_bytes for row in sent_bytes(shape, strategy) if row.over == "network")
        return Sizes(iteration_tasks(shape, strategy), iteration_flows(shape, strategy), sent * strategy.ranks_per_stage)
    if traffic.pattern == "flows":
        return Sizes(0, len(traffic.flows), sum(flow.bytes for flow in traffic.flows))
    flows = {
        "incast": traffic.senders or hosts - 1,
        "ring": hosts,
        "permutation": hosts,
        "all-to-all": hosts * (hosts - 1),
    }[traffic.pattern]
    return Sizes(0, flows, flows * traffic.flow_bytes)


def iteration_tasks(shape: Shape, strategy: Strategy) -> int:
    """Per rank: compute (and TP) of each layer, pass and micro-batch, the head's two passes, the optimizer."""
    layers, m = shape.layers // strategy.pp, strategy.micro_batches
    passes = 2 * m - 1 + layers if merges_layers(shape, strategy) else 2 * m * layers
    per_rank = passes * (1 + (strategy.tp > 1)) + 1
    return strategy.world * per_rank + strategy.ranks_per_stage * 2 * m


def iteration_flows(shape: Shape, strategy: Strategy) -> int:
    """Pipeline messages, ring steps of all buckets and groups, and the tied embedding's."""
    t, p, d, m = strategy.tp, strategy.pp, strategy.dp, strategy.micro_batches
    steps = 2 * ring.reduce_scatter_steps(d) if strategy.distributed_optimizer else ring.all_reduce_steps(d)
    buckets = sum(-(-stage_parameters(shape, t, p, stage) // strategy.bucket_size) for stage in range(p))
    data = buckets * strategy.ranks_per_stage * steps
    pipeline = 2 * (p - 1) * m * strategy.ranks_per_stage
    embedding = 2 * ring.all_reduce_steps(2) * strategy.ranks_per_stage if p > 1 else 0
    return data + pipeline + embedding
