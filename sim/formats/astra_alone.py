"""What runs on an ASTRA-sim network that comes without a trace: one all-reduce, or messages between neighbours where that is too much."""

from sim.formats.astra_network import AstraNetwork
from sim.topology.routing import MAX_HOPS

ALL_REDUCE_BYTES = 64_000_000
MAX_MESSAGES = 1_000_000  # of the all-reduce: it stands in for work nobody gave, so it should run within minutes
NEIGHBOUR_BYTES = 1_000_000
NEIGHBOURS = {"pattern": "ring", "flow_bytes": NEIGHBOUR_BYTES}


def why_not(network: AstraNetwork, plan: dict) -> str:
    """Why an all-reduce over all NPUs by the keys `plan` of a program cannot stand in; empty if it can."""
    algorithms = plan.get("all_reduce") or ("ring",)
    by_dimension = "dimensions" in plan and len(algorithms) > 1
    parts = list(zip(algorithms, network.npus, strict=True)) if by_dimension else [(algorithms[0], network.n_npus)]
    messages = plan.get("splits", 1) * network.n_npus * sum(_messages_of_npu(algorithm, n) for algorithm, n in parts)
    if messages > MAX_MESSAGES:
        return f"would be up to {messages:,} messages"
    hops = [_hops(shape, n) for shape, n in zip(network.shape, network.npus, strict=True)]
    far = [hops[place] if by_dimension else sum(hops) for place, (algorithm, _) in enumerate(parts) if algorithm != "ring"]
    if max(far, default=0) > MAX_HOPS:
        return f"would need paths of up to {max(far)} links"
    return ""


def told(network: AstraNetwork, why: str) -> str:
    """The notice that goes with it."""
    if not why:
        return f"no trace is given: one all-reduce of {ALL_REDUCE_BYTES // 10**6} MB over all {network.n_npus} NPUs is put in its place"
    return (
        f"no trace is given, and an all-reduce over all {network.n_npus} NPUs {why}: every NPU sends {NEIGHBOUR_BYTES // 10**6} MB to the next in its place; "
        "algorithms of a system.json have no effect on that"
    )


def _messages_of_npu(algorithm: str, n: int) -> int:
    """Messages that each of n NPUs sends at most, there and back; trees have a ring's where they are one phase of several."""
    return 2 * n.bit_length() if algorithm == "halving-doubling" else 2 * (n - 1)


def _hops(shape: str, n: int) -> int:
    """Links between the NPUs of a dimension that are farthest apart."""
    return 0 if n == 1 else {"Ring": n // 2, "FullyConnected": 1, "Switch": 2}[shape]
