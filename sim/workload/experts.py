"""Expert parallelism: tokens to the GPUs of their experts and back, in both directions (arXiv 2101.03961 section 2.2).

Four all-to-alls a layer and micro-batch among e ranks, each (s b/(t c)) K h x 2 bytes (1 byte on the way there in fp8), of
which (e-1)/e leave the rank. With a skew the experts of a layer draw their popularity from a log-normal law, seeded; none has more
than all tokens, for a token visits K different experts (section 2.1).
"""

import numpy as np

from sim.scenario_collective import BY_SERVER
from sim.workload.blocks import FlowKind
from sim.workload.collect import Work
from sim.workload.collective.registry import template
from sim.workload.collective.template import instantiate
from sim.workload.seat import Seat, members_per_node, stage_name
from sim.workload.strategy import Strategy
from sim.workload.transformer import BF16_BYTES, Shape, mlp_weights

TO_EXPERTS = ("dispatch", "combine backward")  # what an expert is sent follows its own load; the way back that of the sender


def loads(shape: Shape, strategy: Strategy, layer: int, seed: int) -> np.ndarray:
    """float[e]: load of each expert-parallel rank over the mean that all tokens make, after the capacity of every expert has cut it."""
    popularity = np.ones(shape.experts)
    if strategy.expert_skew > 0:
        sigma = np.log1p(strategy.expert_skew**2) ** 0.5
        drawn = np.exp(sigma * np.random.default_rng([seed, layer]).standard_normal(shape.experts))
        popularity = shared_out(drawn, shape.experts / shape.top_k)
    if strategy.capacity_factor is not None:
        popularity = np.minimum(popularity, strategy.capacity_factor)
    return popularity.reshape(strategy.ep, -1).mean(axis=1)


def shared_out(drawn: np.ndarray, most: float) -> np.ndarray:
    """float[E]: shares in proportion to `drawn` with mean 1, but none above `most` >= 1: what that cuts off goes to the others."""
    order = np.argsort(-drawn, kind="stable")
    falling = drawn[order]
    left = falling.size - most * np.arange(falling.size)  # for those behind the first 0, 1, ... that have the most
    scale = left / np.cumsum(falling[::-1])[::-1]
    full = int(np.argmax(np.append(falling[:-1] * scale[:-1] <= most, True)))
    shares = np.full(falling.size, float(most))
    shares[order[full:]] = falling[full:] * scale[full]
    return shares


def token_elements(shape: Shape, strategy: Strategy) -> int:
    """Elements that a rank sends to all experts together, its own included: (s b/(t c)) K h, also where that is no whole token."""
    return -(-shape.sequence * strategy.micro_batch * shape.top_k * shape.hidden // (strategy.tp * strategy.cp))


def message_sizes(shape: Shape, strategy: Strategy, plan, roles, layers: np.ndarray, seed: int, owner: np.ndarray) -> np.ndarray:
    """int64[K, groups or 1, M]: bytes of every message of each all-to-all; `owner` int[groups, e]: whose experts a member has."""
    elements = token_elements(shape, strategy)
    element = np.array([1 if strategy.precision == "fp8" and role == "dispatch" else BF16_BYTES for role in roles])
    if strategy.expert_skew == 0 and strategy.capacity_factor is None:
        return plan.message_bytes(np.array([elements]), 1)[:, None, :] * element[:, None, None]
    orders, group = np.unique(owner, axis=0, return_inverse=True)
    kinds, kind = np.unique([(int(layer), role in TO_EXPERTS) for layer, role in zip(layers, roles, strict=True)], axis=0, return_inverse=True)
    row, block = plan.carried()
    member = {True: block // strategy.ep % strategy.ep, False: block % strategy.ep}
    size = np.empty((len(kinds), len(orders), len(plan)), np.int64)
    for at, (layer, to_experts) in enumerate(kinds.tolist()):
        load = loads(shape, strategy, layer, seed)
        for place, order in enumerate(orders):
            share = np.bincount(row, load[order[member[bool(to_experts)]]], minlength=len(plan))
            size[at, place] = np.ceil(elements / strategy.ep * share)
    if len(orders) > 1:
        size = size[:, group.ravel()]
    return size[kind.ravel()] * element[:, None, None]


def seated(strategy: Strategy, stage: int, host: np.ndarray, gpus_per_node: int) -> tuple[np.ndarray, np.ndarray, int]:
    """(groups int[groups, e], whose experts each member has, members in every server), GPU by GPU where tokens pass peers in a server.

    Tokens that go straight to their experts need no order, and where servers hold unequally many members there is none to go by.
    """
    groups = strategy.expert_groups(stage)
    own = np.broadcast_to(np.arange(strategy.ep), groups.shape)
    if strategy.expert_algorithm not in BY_SERVER:
        return groups, own, 1
    order = np.argsort(host[groups], axis=1)
    ordered = np.take_along_axis(groups, order, axis=1)
    inside = members_per_node(ordered, host, gpus_per_node)
    return (groups, own, 1) if inside == 1 else (ordered, order, inside)


def exchange_tokens(work: Work, shape: Shape, strategy: Strategy, seat: Seat, gpus_per_node: int, seed: int) -> None:
    """All all-to-alls of a stage."""
    crossing = seat.line.crossings(FlowKind.EP)
    if crossing is None:
        return
    groups, owner, inside = seated(strategy, seat.stage, seat.host, gpus_per_node)
    plan = template("all-to-all", strategy.expert_algorithm, strategy.ep, local=inside)
    where = stage_name(strategy, seat.stage)
    placed = instantiate(
        work, plan, seat.hosts(groups), None, 1, FlowKind.EP, ready=seat.at(groups, crossing.after), microbatch=crossing.microbatch,
        sizes=message_sizes(shape, strategy, plan, crossing.role, crossing.layer, seed, owner),
        names=lambda k, g: f"expert {crossing.role[k]}, {where}, layer {crossing.layer[k]}, micro-batch {crossing.microbatch[k]}, group {g}",
    )  # fmt: skip
    placed.finish(work, seat.at(groups, crossing.before))


def routed_share(shape: Shape) -> float:
    """Share of the arithmetic of a layer's experts that routed ones do, at even load; shared ones and the router have all tokens."""
    weights = mlp_weights(shape, shape.expert_ffn)
    return shape.top_k * weights / ((shape.top_k + shape.shared_experts) * weights + shape.hidden * shape.experts)


def load_of_ranks(shape: Shape, strategy: Strategy, seat: Seat, seed: int) -> np.ndarray:
    """float[ranks of the stage, tasks of the stream]: how much longer each task takes for the load of its experts."""
    share = routed_share(shape)
    scale = np.ones((strategy.ranks_per_stage, len(seat.line)))
    member = np.arange(strategy.ranks_per_stage) // (strategy.tp * strategy.cp) % strategy.ep
    for layer in np.unique(seat.line.layer[seat.line.by_experts]):
        mine = seat.line.by_experts & (seat.line.layer == layer)
        scale[:, mine] = 1 - share + share * loads(shape, strategy, int(layer), seed)[member][:, None]
    return scale
