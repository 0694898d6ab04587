"""Rules of a strategy: against the model, the GPUs and the batch, with the nearest that keep all of them."""

import math
from typing import NamedTuple

from sim.catalogue.gpus import GPUS
from sim.errors import ScenarioError
from sim.scenario_cluster import Cluster
from sim.scenario_training import Model, Parallelism
from sim.scenario_training_rules import divisors, nearest

STRATEGIES_OFFERED = 3
SMALLER_TRIED = 100  # values of dp below the wanted one, where no strategy fits all GPUs
MICRO_BATCHES_MAX = 32_768  # what the 16-bit micro-batch column of a task graph can number


class Unfit(ScenarioError):
    """A rule is broken that another strategy may keep."""


class Room(NamedTuple):
    """The GPUs that a job may use."""

    cluster: Cluster
    gpus: int
    called: str  # in messages, like "cluster.gpus = 64"
    key: str  # what sets their number
    others: int = 0  # GPUs of other jobs
    most: int | None = None  # that there could be in a larger cluster, before those of others begin

    def resized(self, gpus: int) -> str | None:
        """What to set for exactly so many GPUs; None if there can not be so many."""
        if self.most is not None and gpus > self.most:
            return None
        if self.key != "cluster.gpus":
            return f"{self.key} = {gpus}" if gpus + self.others <= self.cluster.gpus else None
        return f"{self.key} = {gpus + self.others}" if can_have(self.cluster, gpus + self.others) else None


def whole(cluster: Cluster) -> Room:
    """All GPUs of a cluster."""
    return Room(cluster, cluster.gpus, f"cluster.gpus = {cluster.gpus}", "cluster.gpus")


def can_have(cluster: Cluster, gpus: int) -> bool:
    """Whether a cluster with so many GPUs is legal, all else as it was written."""
    try:
        Cluster(**{**cluster.given(), "gpus": gpus})
    except ScenarioError:
        return False
    return True


def legal_strategies(model: Model, cluster: Cluster, wanted: Parallelism, tp: int, pp: int, dp: int) -> list[tuple[int, int, int]]:
    """The (tp, pp, dp) that use every GPU and keep every rule, nearest to the given one first."""
    return _legal(model, whole(cluster), wanted, tp, pp, dp)


def filled_parallelism(model: Model, room: Room, wanted: Parallelism) -> dict:
    """dp, micro_batches and schedule of a legal strategy; ScenarioError with the nearest legal ones otherwise."""
    dp = wanted.dp or max(1, room.gpus // (wanted.tp * wanted.pp * wanted.cp))
    try:
        return _checked(model, room, wanted, dp)
    except Unfit as problem:
        raise ScenarioError(f"{problem}; {_offer(model, room, wanted, dp, str(problem))}") from None


def _legal(model: Model, room: Room, wanted: Parallelism, tp: int, pp: int, dp: int) -> list[tuple[int, int, int]]:
    found = []
    for t in divisors(model.heads):
        left, rest = divmod(room.gpus, t * wanted.cp)
        for p in divisors(left) if left and not rest else ():
            d = left // p
            if p <= model.layers and _works(model, room, wanted, t, p, d):
                distance = abs(math.log(t / tp)) + abs(math.log(p / pp)) + abs(math.log(d / dp))
                found.append((round(distance, 9), t, p, d))
    return [strategy[1:] for strategy in sorted(found)]


def _works(model: Model, room: Room, wanted: Parallelism, tp: int, pp: int, dp: int) -> bool:
    try:
        _checked(model, room, wanted.model_copy(update={"tp": tp, "pp": pp, "dp": dp}), dp)
    except ScenarioError:
        return False
    return True


def _offer(model: Model, room: Room, wanted: Parallelism, dp: int, broken: str) -> str:
    if room.gpus == wanted.gpus_given:  # that many are wanted, so many there are
        room = room._replace(gpus=max(1, min(room.gpus, room.cluster.gpus - room.others)))
    found = _legal(model, room, wanted, wanted.tp, wanted.pp, dp)
    if found:
        return "the nearest that work: " + ", ".join(f"TP {t} PP {p} DP {d}" for t, p, d in found[:STRATEGIES_OFFERED])
    fits_none = f"no strategy fits all {room.gpus} GPUs" + " and this batch" * (wanted.global_batch is not None)
    for d in _smaller(wanted, dp):
        used = wanted.tp * wanted.pp * wanted.cp * d
        how = room.resized(used)
        if how and _works(model, room._replace(gpus=used), wanted, wanted.tp, wanted.pp, d):
            return f"{fits_none}; DP {d} with {how} works"
    try:
        _checked(model, room._replace(gpus=wanted.tp * wanted.pp * wanted.cp * dp), wanted, dp)
    except ScenarioError as other:
        if str(other) != broken:
            return f"{fits_none}, and {other}"
    return f"{fits_none} and this model; change {room.key}"


def _smaller(wanted: Parallelism, dp: int) -> list[int]:
    if wanted.global_batch is None:
        return list(range(dp - 1, max(0, dp - 1 - SMALLER_TRIED), -1))
    return [d for d in reversed(divisors(wanted.global_batch)) if d < dp]


def _checked(model: Model, room: Room, wanted: Parallelism, dp: int) -> dict:
    """dp, micro_batches and schedule; ScenarioError with the rule that is broken, Unfit where tp, pp and dp may mend it."""
    _check_alone(room.cluster, wanted)
    tp, pp, cp = wanted.tp, wanted.pp, wanted.cp
    if fault := tensor_fault(model, room.cluster, tp):
        raise Unfit(f"parallelism.tp = {tp}: {fault}")
    stages = pp * wanted.virtual_stages
    if wanted.uneven_stages and stages > model.layers:
        raise Unfit(f"parallelism.pp = {pp}: pp x virtual_stages = {stages} must be at most model.layers = {model.layers}")
    if model.layers % pp and not wanted.uneven_stages:
        uneven = " (or allow uneven_stages = true)" if stages <= model.layers else ""
        raise Unfit(f"parallelism.pp = {pp}: must divide model.layers = {model.layers}{uneven}")
    used = tp * pp * dp * cp
    if used > room.gpus or room.gpus % used:
        how = "more than" if used > room.gpus else "neither all of nor an even share of"
        context = f" x parallelism.cp = {cp}" if cp > 1 else ""
        resized = room.resized(used)
        exactly = f" (set {resized} for exactly this strategy)" if resized and _works(model, room._replace(gpus=used), wanted, tp, pp, dp) else ""
        raise Unfit(
            f"parallelism.dp = {dp}: parallelism.tp = {tp} x parallelism.pp = {pp}{context} x {'parallelism.dp' if wanted.dp else 'derived dp'} = {dp} "
            f"is {used} GPUs, {how} {room.called}{exactly}"
        )
    _check_experts(model, wanted, dp)
    _check_sequence(model, wanted)
    schedule = wanted.schedule or ("interleaved" if wanted.virtual_stages > 1 else "1f1b")
    batches = _micro_batches(wanted, dp, schedule)
    _check_schedule(model, wanted, schedule)
    return {"dp": dp, "micro_batches": batches, "schedule": schedule}


def _check_alone(cluster: Cluster, wanted: Parallelism) -> None:
    """What no other tp, pp and dp can mend."""
    if wanted.precision == "fp8" and not GPUS[cluster.gpu].peak_fp8_flops:
        able = [name for name, gpu in GPUS.items() if gpu.peak_fp8_flops]
        raise ScenarioError(
            f"parallelism.precision = 'fp8': cluster.gpu = {cluster.gpu!r} has no fp8 arithmetic; use precision = \"bf16\", or one of {', '.join(able)}"
        )
    if wanted.gradient_algorithm == "double-binary-tree" and wanted.optimizer != "all-reduce":
        raise ScenarioError(
            f"parallelism.gradient_algorithm = 'double-binary-tree': is for all-reduces, and optimizer {wanted.optimizer!r} has reduce-scatters and "
            'all-gathers; use gradient_algorithm = "ring", or optimizer = "all-reduce"'
        )


def tensor_fault(model: Model, cluster: Cluster, tp: int) -> str | None:
    """The rule that a number of tensor-parallel GPUs breaks, if any."""
    node = cluster.gpus_per_node
    if node % tp and tp % node:
        return f"must divide cluster.gpus_per_node = {node} or be a multiple of it, for a group fills servers evenly"
    if 1 < tp <= node and cluster.nvlink_gbps == 0:
        return "needs NVLink between the GPUs of a server, but cluster.nvlink_gbps = 0"
    if model.heads % tp:
        return f"must divide model.heads = {model.heads}"
    for key in ("ffn_hidden", "expert_ffn"):
        if getattr(model, key) % tp:
            return f"must divide model.{key} = {getattr(model, key)}"
    if model.kv_heads % tp and tp % model.kv_heads:
        return f"must divide model.kv_heads = {model.kv_heads} or be a multiple of it"
    return None


def _check_experts(model: Model, wanted: Parallelism, dp: int) -> None:
    ep = wanted.ep
    if ep > 1 and not model.experts:
        raise ScenarioError(f"parallelism.ep = {ep}: model has no experts; use ep = 1, or give model.experts")
    near = nearest(divisors(math.gcd(model.experts, dp)), ep) if model.experts else "the nearest is 1"
    if model.experts % ep:
        raise ScenarioError(f"parallelism.ep = {ep}: must divide model.experts = {model.experts}; {near}")
    if dp % ep:
        raise ScenarioError(
            f"parallelism.ep = {ep}: must divide parallelism.dp = {dp}, for experts are spread over data-parallel ranks only "
            f"(order of ranks tp-cp-ep-dp-pp); {near}"
        )


def _check_sequence(model: Model, wanted: Parallelism) -> None:
    cp, tp, s = wanted.cp, wanted.tp, model.sequence
    if cp > 1 and s % (2 * cp):
        raise ScenarioError(
            f"parallelism.cp = {cp}: 2 cp must divide model.sequence = {s}, each rank taking one part from the front and one from the back; "
            f"the nearest {_near_sequences(s, 2 * cp)}"
        )
    if wanted.sequence_parallel and s % (cp * tp):
        each = f" / cp = {s // cp}" if cp > 1 else ""
        legal = math.lcm(cp * tp, 2 * cp if cp > 1 else 1)
        raise ScenarioError(
            f"parallelism.sequence_parallel = true: tp = {tp} must divide model.sequence = {s}{each}, for each rank takes an equal part of it; "
            f"the nearest {_near_sequences(s, legal)}, or sequence_parallel = false"
        )


def _near_sequences(sequence: int, step: int) -> str:
    lower = sequence // step * step
    return f"sequences are {lower} and {lower + step}" if lower else f"sequence is {step}"


def _check_schedule(model: Model, wanted: Parallelism, schedule: str) -> None:
    parts, pp = wanted.virtual_stages, wanted.pp
    plain = " and ".join(['schedule = "1f1b"'] * (wanted.schedule == "interleaved") + ["virtual_stages = 1"] * (parts > 1))
    stages = pp * parts
    divides = model.layers % stages == 0 or (wanted.uneven_stages and stages <= model.layers)
    if parts > 1 and schedule != "interleaved":
        other = 'schedule = "interleaved", or ' if pp > 1 and divides and wanted.micro_batches in (None, pp) else ""
        raise ScenarioError(f"parallelism.virtual_stages = {parts}: schedule {schedule!r} takes 1; use {other}virtual_stages = 1")
    if schedule != "interleaved":
        return
    if pp == 1 or parts == 1:
        what = f"pp = {pp}" if pp == 1 else f"virtual_stages = {parts}"
        raise ScenarioError(f"parallelism.{what}: schedule 'interleaved' needs at least 2 of each; or use {plain}")
    if not divides:
        near = [n for n in divisors(model.layers // pp) if n > 1]
        works = f"virtual_stages that work: {', '.join(map(str, near))}" if near else f"use {plain}"
        uneven = " (or allow uneven_stages = true)" if stages <= model.layers else ""
        raise ScenarioError(
            f"parallelism.virtual_stages = {parts}: pp x virtual_stages = {stages} must divide model.layers = {model.layers}{uneven}; {works}"
        )


def _micro_batches(wanted: Parallelism, dp: int, schedule: str) -> int:
    batch, step, given = wanted.global_batch, dp * wanted.micro_batch, wanted.micro_batches
    turns = wanted.pp if schedule == "interleaved" else 1
    for_turns = " with schedule 'interleaved'" * (turns > 1)
    if batch is None:
        if given and given % turns:
            lower = given // turns * turns
            nearest = f"are {lower} and {lower + turns}" if lower else f"is {turns}"
            raise ScenarioError(f"parallelism.micro_batches = {given}: must be a multiple of pp = {turns}{for_turns}; the nearest {nearest}")
        count = given or wanted.pp
    else:
        if given and given * step != batch:
            raise ScenarioError(
                f"parallelism.micro_batches = {given}: global_batch = {batch} over dp x micro_batch = {step} makes {batch / step:g}; give one of the two"
            )
        unit = step * turns
        if batch % unit:
            lower = batch // unit * unit
            raise Unfit(
                f"parallelism.global_batch = {batch}: must be a multiple of dp x micro_batch{' x pp' * (turns > 1)} = {dp} x {wanted.micro_batch}"
                f"{f' x {turns}' * (turns > 1)} = {unit}{for_turns}; the nearest {f'are {lower} or {lower + unit}' if lower else f'is {unit}'}"
            )
        count = batch // step
    if count > MICRO_BATCHES_MAX:
        raise ScenarioError(f"parallelism.micro_batches = {count}: must be at most {MICRO_BATCHES_MAX}; raise parallelism.micro_batch instead")
    return count
