"""Rules that span sections of a scenario: the strategy against the GPUs, the flows against the hosts."""

import math
from typing import TYPE_CHECKING

from sim.catalogue.models import MODELS
from sim.errors import ScenarioError, did_you_mean
from sim.scenario_cluster import Cluster
from sim.scenario_parts import Model, Parallelism, Traffic
from sim.units import show_bytes, show_rate

if TYPE_CHECKING:
    from sim.scenario import Scenario

LARGE_BDP_BYTES = 10_000_000  # about a fifth of the buffer of a 51.2 Tb/s switch: more in flight outgrows any queue
STRATEGIES_OFFERED = 3


def _divisors(number: int) -> list[int]:
    return [n for n in range(1, math.isqrt(number) + 1) if number % n == 0] + [
        number // n for n in range(math.isqrt(number), 0, -1) if number % n == 0 and n * n != number
    ]


def filled_model(model: Model) -> dict[str, int]:
    """The shape numbers of `model`, those it leaves out taken from the catalogue.

    Raises
    ------
    ScenarioError
        The name is not in the catalogue, or a number is given by neither.
    """
    row = None
    if model.name is not None:
        if model.name not in MODELS:
            raise ScenarioError(
                f"model.name = {model.name!r} is not in the catalogue: {did_you_mean(model.name, MODELS)}"
            )
        row = MODELS[model.name]
    shape = {}
    for key in ("layers", "hidden", "heads", "vocabulary", "ffn_hidden"):
        value = getattr(model, key)
        shape[key] = getattr(row, key, None) if value is None else value
    if model.ffn_hidden is None and shape["hidden"] is not None and (row is None or model.hidden is not None):
        shape["ffn_hidden"] = 4 * shape["hidden"]
    missing = [key for key, value in shape.items() if value is None]
    if missing:
        raise ScenarioError(
            f"model.{missing[0]} is missing: give model.name, or all of layers, hidden, heads, vocabulary"
        )
    if shape["hidden"] % shape["heads"]:
        nearest = min(_divisors(shape["hidden"]), key=lambda n: abs(n - shape["heads"]))
        raise ScenarioError(
            f"model.heads = {shape['heads']}: must divide model.hidden = {shape['hidden']}; the nearest is {nearest}"
        )
    return shape


def legal_strategies(
    model: Model, cluster: Cluster, wanted: Parallelism, tp: int, pp: int, dp: int
) -> list[tuple[int, int, int]]:
    """The (tp, pp, dp) that use every GPU and pass every rule, nearest to the wanted one first."""
    found = []
    for t in _divisors(math.gcd(cluster.gpus_per_node, model.heads)):
        for p in _divisors(model.layers):
            d, rest = divmod(cluster.gpus, t * p)
            if rest or not d or model.ffn_hidden % t or (wanted.global_batch or 0) % (d * wanted.micro_batch):
                continue
            distance = abs(math.log(t / tp)) + abs(math.log(p / pp)) + abs(math.log(d / dp))
            found.append((round(distance, 9), t, p, d))
    return [strategy[1:] for strategy in sorted(found)]


def _offer(model: Model, cluster: Cluster, wanted: Parallelism, tp: int, pp: int, dp: int) -> str:
    found = legal_strategies(model, cluster, wanted, tp, pp, dp)
    if found:
        return "the nearest that work: " + ", ".join(f"TP {t} PP {p} DP {d}" for t, p, d in found[:STRATEGIES_OFFERED])
    smaller = [d for d in range(1, dp) if (wanted.global_batch or 0) % (d * wanted.micro_batch) == 0]
    if smaller:
        return f"no strategy fits all {cluster.gpus} GPUs and this batch; DP {smaller[-1]} with cluster.gpus = {tp * pp * smaller[-1]} would divide it"
    return f"no strategy fits {cluster.gpus} GPUs and this model; change cluster.gpus"


def filled_parallelism(model: Model, cluster: Cluster, wanted: Parallelism) -> dict[str, int]:
    """dp and micro_batches of a legal strategy; ScenarioError with the nearest legal ones otherwise."""
    tp, pp = wanted.tp, wanted.pp
    dp = wanted.dp or max(1, cluster.gpus // (tp * pp))

    def refuse(what: str) -> ScenarioError:
        return ScenarioError(f"parallelism.{what}; {_offer(model, cluster, wanted, tp, pp, dp)}")

    if cluster.gpus_per_node % tp:
        raise refuse(
            f"tp = {tp}: must divide cluster.gpus_per_node = {cluster.gpus_per_node}, for tensor parallelism stays inside a server"
        )
    if model.heads % tp:
        raise refuse(f"tp = {tp}: must divide model.heads = {model.heads}")
    if model.ffn_hidden % tp:
        raise refuse(f"tp = {tp}: must divide model.ffn_hidden = {model.ffn_hidden}")
    if model.layers % pp:
        raise refuse(f"pp = {pp}: must divide model.layers = {model.layers}")
    used = tp * pp * dp
    if used > cluster.gpus or cluster.gpus % used:
        how = "more than" if used > cluster.gpus else "neither all of nor an even share of"
        raise refuse(
            f"dp = {dp}: parallelism.tp = {tp} x parallelism.pp = {pp} x {'parallelism.dp' if wanted.dp else 'derived dp'} = {dp} "
            f"is {used} GPUs, {how} cluster.gpus = {cluster.gpus} (set cluster.gpus = {used} for exactly this strategy)"
        )
    return {"dp": dp, "micro_batches": _micro_batches(wanted, dp, refuse)}


def _micro_batches(wanted: Parallelism, dp: int, refuse) -> int:
    batch, step = wanted.global_batch, dp * wanted.micro_batch
    if batch is None:
        return wanted.micro_batches or wanted.pp
    if batch % step:
        lower = batch // step * step
        batches = f"{lower} or {lower + step}" if lower else f"{step}"
        raise refuse(
            f"global_batch = {batch}: must be a multiple of dp x micro_batch = {dp} x {wanted.micro_batch} = {step}; "
            f"the nearest {'are' if lower else 'is'} {batches}"
        )
    if wanted.micro_batches not in (None, batch // step):
        raise ScenarioError(
            f"parallelism.micro_batches = {wanted.micro_batches}: global_batch = {batch} over dp x micro_batch = {step} "
            f"makes {batch // step}; give one of the two"
        )
    return batch // step


def check_traffic(traffic: Traffic, gpus: int) -> None:
    """Every host of `traffic` must exist, and no flow may go to itself."""
    legal = f"cluster.gpus = {gpus} makes the legal range 0 to {gpus - 1}"
    if traffic.pattern == "incast":
        if traffic.receiver >= gpus:
            raise ScenarioError(f"traffic.receiver = {traffic.receiver}: there is no such GPU; {legal}")
        if traffic.senders is not None and traffic.senders > gpus - 1:
            raise ScenarioError(
                f"traffic.senders = {traffic.senders}: must be at most cluster.gpus - 1, the receiver apart; the nearest is {gpus - 1}"
            )
    for index, flow in enumerate(traffic.flows):
        for end in ("src", "dst"):
            if getattr(flow, end) >= gpus:
                raise ScenarioError(
                    f"traffic.flows.{index}.{end} = {getattr(flow, end)}: there is no such GPU; {legal}"
                )
        if flow.src == flow.dst:
            raise ScenarioError(f"traffic.flows.{index}: src = dst = {flow.src}: a flow cannot go to itself; {legal}")


def gpus_used(scenario: "Scenario") -> int:
    """GPUs 0..n-1 that the workload may touch."""
    if scenario.parallelism is not None:
        return scenario.parallelism.tp * scenario.parallelism.pp * scenario.parallelism.dp
    traffic = scenario.traffic
    if traffic.pattern == "incast" and traffic.senders is not None:
        return min(scenario.cluster.gpus, max(traffic.receiver, traffic.senders) + 1)
    if traffic.pattern == "flows":
        return 1 + max(max(flow.src, flow.dst) for flow in traffic.flows)
    return scenario.cluster.gpus


def notices(scenario: "Scenario") -> list[str]:
    """What is legal but worth saying before a run, one line each."""
    cluster, transport, said = scenario.cluster, scenario.transport, []
    idle = cluster.gpus - gpus_used(scenario)
    if idle:
        first = cluster.gpus - idle
        said.append(
            f"{idle} of {cluster.gpus} GPUs are idle: gpu{first}" + (f" to gpu{cluster.gpus - 1}" if idle > 1 else "")
        )
    said += [f"cluster.{key} has no effect on topology {cluster.topology}" for key in cluster.unused_sizes()]
    links = {
        "nic": (cluster.nic_gbps, cluster.nic_delay_ns),
        "fabric": (cluster.fabric_gbps, cluster.fabric_delay_ns),
        "core": (cluster.core_gbps, cluster.core_delay_ns),
    }
    for name, (gbps, delay_ns) in links.items() if cluster.topology != "file" else ():
        in_flight = gbps * delay_ns / 8
        if in_flight > LARGE_BDP_BYTES:
            said.append(
                f"cluster.{name}_delay_ns = {delay_ns:g}: {show_bytes(in_flight)} are in flight on one such link, a large bandwidth-delay product"
            )
    given = transport.ecn_kmin_kb is not None or transport.ecn_kmax_kb is not None
    rates = sorted({gbps for gbps, _ in links.values()} - {transport.ecn_reference_gbps})
    if given and rates and cluster.topology != "file":
        said.append(
            f"ECN thresholds are given at {show_rate(transport.ecn_reference_gbps * 1e9)} and scaled with the rate for "
            + ", ".join(show_rate(gbps * 1e9) for gbps in rates)
        )
    empty = [index for index, flow in enumerate(scenario.traffic.flows) if flow.bytes == 0] if scenario.traffic else []
    if empty or (scenario.traffic and scenario.traffic.pattern != "flows" and scenario.traffic.flow_bytes == 0):
        said.append(f"flows of 0 bytes are done after their path's delay: {len(empty) or 'all'}")
    return said
