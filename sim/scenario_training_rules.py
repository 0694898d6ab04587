"""Rules of training: a model's numbers among themselves, the strategy against the model and the GPUs, with the nearest legal ones."""

import math

from sim.catalogue.models import MODELS
from sim.errors import ScenarioError, did_you_mean
from sim.scenario_cluster import Cluster
from sim.scenario_training import Model, Parallelism

STRATEGIES_OFFERED = 3
NEEDED = ("layers", "hidden", "heads", "vocabulary")
DEFAULTS = {"gated": False, "biased": True, "tied_embeddings": True, "experts": 0, "shared_experts": 0, "dense_layers": 0, "latent": (0,) * 5}


def divisors(number: int) -> list[int]:
    """Of a whole number, in rising order."""
    low = [n for n in range(1, math.isqrt(number) + 1) if number % n == 0]
    return low + [number // n for n in reversed(low) if n * n != number]


def _nearest(number: int, wanted: int) -> int:
    return min(divisors(number), key=lambda n: abs(n - wanted))


def filled_model(model: Model) -> dict:
    """The numbers of `model`, those it leaves out taken from the catalogue, else from the others.

    Raises
    ------
    ScenarioError
        The name is not in the catalogue, a number is given by neither, or two disagree.
    """
    row = None
    if model.name is not None:
        if model.name not in MODELS:
            raise ScenarioError(f"model.name = {model.name!r} is not in the catalogue: {did_you_mean(model.name, MODELS)}")
        row = MODELS[model.name]
    shape = {key: getattr(model, key) for key in Model.model_fields if key not in ("name", "sequence")}
    for key, given in shape.items():
        if given is None:
            listed = getattr(row, key, None)
            shape[key] = DEFAULTS.get(key) if listed is None else listed
    missing = [key for key in NEEDED if shape[key] is None]
    if missing:
        raise ScenarioError(f"model.{missing[0]} is missing: give model.name, or all of layers, hidden, heads, vocabulary")
    hidden, heads = shape["hidden"], shape["heads"]
    if shape["ffn_hidden"] is None or (model.ffn_hidden is None and model.hidden is not None):
        shape["ffn_hidden"] = 4 * hidden
    if shape["kv_heads"] is None or (model.kv_heads is None and model.heads is not None):
        shape["kv_heads"] = heads
    if model.head_dim is None and (shape["head_dim"] is None or model.heads is not None or model.hidden is not None):
        if hidden % heads:
            raise ScenarioError(f"model.heads = {heads}: must divide model.hidden = {hidden}; the nearest is {_nearest(hidden, heads)}")
        shape["head_dim"] = hidden // heads
    if heads % shape["kv_heads"]:
        near = _nearest(heads, shape["kv_heads"])
        raise ScenarioError(f"model.kv_heads = {shape['kv_heads']}: must divide model.heads = {heads}; the nearest is {near}")
    shape.update(_experts(model, shape))
    return shape


OF_EXPERTS = ("top_k", "expert_ffn", "shared_experts", "dense_layers")


def _experts(model: Model, shape: dict) -> dict:
    if not shape["experts"]:
        given = next((key for key in OF_EXPERTS if getattr(model, key)), None)
        if given:
            raise ScenarioError(f"model.{given} = {shape[given]}: needs model.experts, the number of routed experts in a layer, like experts = 8")
        return dict.fromkeys(OF_EXPERTS, 0)
    top_k = shape["top_k"] or min(2, shape["experts"])
    if top_k > shape["experts"]:
        raise ScenarioError(f"model.top_k = {top_k}: must be at most model.experts = {shape['experts']}; the nearest is {shape['experts']}")
    if shape["dense_layers"] >= shape["layers"]:
        raise ScenarioError(
            f"model.dense_layers = {shape['dense_layers']}: must be less than model.layers = {shape['layers']}; or leave out model.experts"
        )
    return {"top_k": top_k, "expert_ffn": shape["expert_ffn"] or shape["ffn_hidden"]}


def _tensor_fault(model: Model, cluster: Cluster, tp: int) -> str | None:
    """The rule that a number of tensor-parallel GPUs breaks, if any."""
    node = cluster.gpus_per_node
    if node % tp and tp % node:
        return f"must divide cluster.gpus_per_node = {node} or be a multiple of it, for a group fills servers evenly"
    if model.heads % tp:
        return f"must divide model.heads = {model.heads}"
    for key in ("ffn_hidden", "expert_ffn"):
        if getattr(model, key) % tp:
            return f"must divide model.{key} = {getattr(model, key)}"
    if model.kv_heads % tp and tp % model.kv_heads:
        return f"must divide model.kv_heads = {model.kv_heads} or be a multiple of it"
    return None


def legal_strategies(
    model: Model, cluster: Cluster, wanted: Parallelism, tp: int, pp: int, dp: int
) -> list[tuple[int, int, int]]:
    """The (tp, pp, dp) that use every GPU and pass every rule, nearest to the wanted one first."""
    found = []
    for t in divisors(model.heads):
        if _tensor_fault(model, cluster, t):
            continue
        for p in divisors(model.layers // wanted.virtual_stages if model.layers % wanted.virtual_stages == 0 else model.layers):
            d, rest = divmod(cluster.gpus, t * p * wanted.cp)
            if rest or not d or (wanted.global_batch or 0) % (d * wanted.micro_batch) or d % wanted.ep:
                continue
            distance = abs(math.log(t / tp)) + abs(math.log(p / pp)) + abs(math.log(d / dp))
            found.append((round(distance, 9), t, p, d))
    return [strategy[1:] for strategy in sorted(found)]


def _offer(model: Model, cluster: Cluster, wanted: Parallelism, tp: int, pp: int, dp: int) -> str:
    found = legal_strategies(model, cluster, wanted, tp, pp, dp)
    if found:
        return "the nearest that work: " + ", ".join(f"TP {t} PP {p} DP {d}" for t, p, d in found[:STRATEGIES_OFFERED])
    smaller = [d for d in range(1, dp) if (wanted.global_batch or 0) % (d * wanted.micro_batch) == 0 and d % wanted.ep == 0]
    if smaller:
        return (
            f"no strategy fits all {cluster.gpus} GPUs and this batch; DP {smaller[-1]} with cluster.gpus = {tp * pp * wanted.cp * smaller[-1]} "
            "would divide it"
        )
    return f"no strategy fits {cluster.gpus} GPUs and this model; change cluster.gpus"


def filled_parallelism(model: Model, cluster: Cluster, wanted: Parallelism) -> dict:
    """dp, micro_batches and schedule of a legal strategy; ScenarioError with the nearest legal ones otherwise."""
    tp, pp, cp = wanted.tp, wanted.pp, wanted.cp
    dp = wanted.dp or max(1, cluster.gpus // (tp * pp * cp))

    def refuse(what: str) -> ScenarioError:
        return ScenarioError(f"parallelism.{what}; {_offer(model, cluster, wanted, tp, pp, dp)}")

    fault = _tensor_fault(model, cluster, tp)
    if fault:
        raise refuse(f"tp = {tp}: {fault}")
    stages = pp * wanted.virtual_stages
    if wanted.uneven_stages and stages > model.layers:
        raise refuse(f"pp = {pp}: pp x virtual_stages = {stages} must be at most model.layers = {model.layers}")
    if model.layers % pp and not wanted.uneven_stages:
        raise refuse(f"pp = {pp}: must divide model.layers = {model.layers} (or allow uneven_stages = true)")
    used = tp * pp * dp * cp
    if used > cluster.gpus or cluster.gpus % used:
        how = "more than" if used > cluster.gpus else "neither all of nor an even share of"
        context = f" x parallelism.cp = {cp}" if cp > 1 else ""
        raise refuse(
            f"dp = {dp}: parallelism.tp = {tp} x parallelism.pp = {pp}{context} x {'parallelism.dp' if wanted.dp else 'derived dp'} = {dp} "
            f"is {used} GPUs, {how} cluster.gpus = {cluster.gpus} (set cluster.gpus = {used} for exactly this strategy)"
        )
    _check_experts(model, wanted, dp)
    _check_sequence(model, wanted)
    batches = _micro_batches(wanted, dp, refuse)
    return {"dp": dp, "micro_batches": batches, "schedule": _schedule(model, wanted, batches)}


def _check_experts(model: Model, wanted: Parallelism, dp: int) -> None:
    ep = wanted.ep
    if ep > 1 and not model.experts:
        raise ScenarioError(f"parallelism.ep = {ep}: model has no experts; use ep = 1, or give model.experts")
    if model.experts % ep:
        near = _nearest(model.experts, ep)
        raise ScenarioError(f"parallelism.ep = {ep}: must divide model.experts = {model.experts}; the nearest is {near}")
    if dp % ep:
        near = max(n for n in divisors(math.gcd(model.experts, dp)) if n <= ep)
        raise ScenarioError(
            f"parallelism.ep = {ep}: must divide parallelism.dp = {dp}, for experts are spread over data-parallel ranks; the nearest is {near}"
        )


def _check_sequence(model: Model, wanted: Parallelism) -> None:
    cp, s = wanted.cp, model.sequence
    if cp > 1 and s % (2 * cp):
        lower = s // (2 * cp) * 2 * cp
        raise ScenarioError(
            f"parallelism.cp = {cp}: 2 cp must divide model.sequence = {s}, each rank taking one part from the front and one from the back; "
            f"the nearest sequences are {lower or 2 * cp} and {lower + 2 * cp}"
        )


def _schedule(model: Model, wanted: Parallelism, batches: int) -> str:
    parts, pp = wanted.virtual_stages, wanted.pp
    schedule = wanted.schedule or ("interleaved" if parts > 1 else "1f1b")
    if parts > 1 and schedule != "interleaved":
        raise ScenarioError(
            f'parallelism.virtual_stages = {parts}: schedule {schedule!r} takes 1; use schedule = "interleaved", or virtual_stages = 1'
        )
    if schedule == "interleaved":
        if pp == 1 or parts == 1:
            what = f"pp = {pp}" if pp == 1 else f"virtual_stages = {parts}"
            raise ScenarioError(f"parallelism.{what}: schedule 'interleaved' needs at least 2 of each; or use schedule = \"1f1b\"")
        if model.layers % (pp * parts) and not wanted.uneven_stages:
            near = [n for n in divisors(model.layers // pp) if n > 1]
            works = f"virtual_stages that work: {', '.join(map(str, near))}" if near else 'use schedule = "1f1b"'
            raise ScenarioError(
                f"parallelism.virtual_stages = {parts}: pp x virtual_stages = {pp * parts} must divide model.layers = {model.layers} "
                f"(or allow uneven_stages = true); {works}"
            )
        if batches % pp:
            lower = batches // pp * pp
            raise ScenarioError(
                f"parallelism.micro_batches = {batches}: must be a multiple of pp = {pp} with schedule 'interleaved'; "
                f"the nearest {'are ' + str(lower) + ' and' if lower else 'is'} {lower + pp}"
            )
    return schedule


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
