"""Seconds of one training step in closed form: the slowest stage's micro-batches, the pipeline's bubble, gradients, optimizer."""

from dataclasses import dataclass
from functools import lru_cache

from sim.published_jobs import Job
from sim.published_layer import head, layer
from sim.published_products import Seconds
from sim.published_rates import GATHER_AND_SCATTER_S, GATHER_AND_SCATTER_STEP_S, SEND_S, Rates, rates
from sim.published_zero import zero_3_s
from sim.workload.memory import stage_memory
from sim.workload.strategy import Strategy
from sim.workload.timing import OPTIMIZER_BYTES_PER_PARAMETER
from sim.workload.transformer import (
    BF16_BYTES,
    embedding_parameters,
    expert_parameters,
    layer_parameters,
)

MICRO_BATCHES_TRIED = (1, 2, 4, 8)  # where a row gives none: the fastest that fits, as arXiv 2104.04473 section 3.4 advises
JOBS_KEPT = 256  # while one of them is fitted
CLIPPING_BYTES = 12  # of fp32 gradients read for their norm, read and written to be scaled (Megatron-LM megatron/core/optimizer/clip_grads.py)
GATHERED_BYTES = 6  # of memory traffic for an entry that stages gather: zeros written, read, cloned (microsoft/DeepSpeed runtime/utils.py)


@dataclass(frozen=True)
class Step:
    """Seconds of a step, in all and by part; the parts add up to it."""

    parts: dict[str, float]
    micro_batch: int

    @property
    def seconds(self) -> float:
        return sum(self.parts.values())


@dataclass(frozen=True)
class _Stage:
    """What a GPU of the slowest stage does for one micro-batch."""

    layers: int
    parts: dict[str, Seconds]
    head: Seconds  # beyond what other stages do
    with_experts: bool

    @property
    def forward(self) -> float:
        return sum(part.forward for part in self.parts.values())

    @property
    def backward(self) -> float:
        return sum(part.backward for part in self.parts.values())


def step(job: Job, efficiency: float, bf16_efficiency: float) -> Step:
    """A step of a job whose products reach `efficiency` of their peak, and `bf16_efficiency` where they stay in bf16."""
    reached = rates(job.gpu, job.precision, efficiency, bf16_efficiency, job.nic_bytes_per_s, job.shape.sequence)
    if job.micro_batch is not None:
        return _step(job, reached)
    return min((_step(job.with_micro_batch(size), reached) for size in _micro_batches(job)), key=lambda found: found.seconds)


@lru_cache(maxsize=JOBS_KEPT)
def _micro_batches(job: Job) -> list[int]:
    per_replica = job.global_batch // job.dp
    whole = [size for size in MICRO_BATCHES_TRIED if per_replica % size == 0]
    return [size for size in whole if fits(job.with_micro_batch(size))] or [1]


def fits(job: Job) -> bool:
    """Whether the first and the last stage of the job fit the memory of its GPU, by the bytes of `sim.workload.memory`."""
    whole = job.shape.layers % (job.pp * job.chunks) == 0
    strategy = Strategy(
        tp=job.tp, pp=job.pp, dp=job.dp, cp=job.cp, ep=min(job.ep, job.dp), chunks=job.chunks if whole else 1,
        schedule="interleaved" if job.chunks > 1 and whole else "1f1b", sequence_parallel=job.sequence_parallel, recompute=job.recompute,
        micro_batch=job.micro_batch, micro_batches=job.micro_batches, optimizer=job.stack.optimizer,
    )  # fmt: skip
    return all(stage_memory(job.shape, strategy, stage).total <= job.gpu.memory_bytes for stage in {0, job.pp - 1})


def _step(job: Job, reached: Rates) -> Step:
    stage = _slowest_stage(job, reached)
    m, chunks = job.micro_batches, job.chunks
    between = chunks * _between_stages_s(job, reached)
    bubble = (job.pp - 1) / chunks * (stage.forward + stage.backward + between)
    if job.stack.dual:  # (p/2 - 1)(F and B + B - 3W), W half of B (arXiv 2412.19437 table 2)
        bubble = (job.pp / 2 - 1) * (stage.forward + stage.backward / 2)
    parts = {name: m * part.both for name, part in stage.parts.items()}
    parts |= {"head": m * stage.head.both, "PP": m * between, "bubble": bubble}
    parts |= {"DP": _exchange_s(job, reached, stage), "optimizer": _optimizer_s(job, reached, stage)}
    return Step(parts, job.micro_batch)


def _slowest_stage(job: Job, reached: Rates) -> _Stage:
    """Layers that do not divide over the chunks leave fewer to the last stage, which has the logits and the loss in their place."""
    shape = job.shape
    here = -(-shape.layers // (job.pp * job.chunks)) * job.chunks
    last = min(here, max(0, shape.layers - here * (job.pp - 1)))
    mixed = sum(shape.has_experts(index) for index in range(shape.layers))
    share = mixed / shape.layers if job.pp == 1 else min(1.0, mixed / here)
    kinds = [(layer(job, reached, kind), weight) for kind, weight in ((True, share), (False, 1 - share)) if weight]
    each = {name: sum((_scaled(parts[name], weight) for parts, weight in kinds), Seconds()) for name in kinds[0][0]}
    logits, one = head(job, reached), sum(part.both for part in each.values())
    beyond = max(0.0, logits.both - (here - last) * one)
    return _Stage(
        here, {name: _scaled(part, here) for name, part in each.items()}, _scaled(logits, beyond / logits.both), with_experts=share > 0
    )


def _scaled(seconds: Seconds, by: float) -> Seconds:
    return Seconds(seconds.forward * by, seconds.backward * by)


def _between_stages_s(job: Job, reached: Rates) -> float:
    """Sends of 2Th/t to the next stage and back that nothing hides, and what is gathered of them, for a micro-batch and chunk."""
    if job.pp == 1 or job.stack.stages_hidden:
        return 0.0
    rate = reached.nvlink_bytes_per_s if job.gpus <= job.gpus_per_node else reached.nic_bytes_per_s
    moved = BF16_BYTES * job.tokens * job.shape.hidden
    send = moved / job.tp / rate + SEND_S
    latency = (GATHER_AND_SCATTER_S + (job.tp - 1) * GATHER_AND_SCATTER_STEP_S) / 2
    copied = GATHERED_BYTES / BF16_BYTES * moved / reached.memory_bytes_per_s
    gather = (job.tp - 1) / job.tp * moved / reached.nvlink_bytes_per_s + latency + copied
    return job.stack.stage_sends * send + job.stack.stage_gathers * gather * (job.tp > 1)


def _parameters(job: Job, stage: _Stage) -> tuple[int, int]:
    """Parameters of the first stage on one GPU, without and of routed experts; the latter are whole on each GPU."""
    shape = job.shape
    common = stage.layers * layer_parameters(shape, job.tp, stage.with_experts) + embedding_parameters(shape, job.tp)
    return common, stage.with_experts * stage.layers * (shape.experts // job.ep) * expert_parameters(shape)


def _group_rate(job: Job, reached: Rates, members: int, stride: int) -> float:
    """Bus bandwidth of a group whose members are `stride` ranks apart: NVLink, or the NICs of its members in a server together."""
    if members * stride <= job.gpus_per_node:
        return reached.nvlink_bytes_per_s
    near = max(1, min(members, job.gpus_per_node // stride))
    return min(reached.nvlink_bytes_per_s, near * reached.nic_bytes_per_s)


def _exchange_s(job: Job, reached: Rates, stage: _Stage) -> float:
    """Gradients summed and weights handed round, as far as the backward and forward pass of one micro-batch do not hide them."""
    if job.stack.optimizer == "zero-3":
        return zero_3_s(job, reached, stage.forward, stage.backward)
    gradient = job.stack.gradient_bytes
    weights = 0 if job.stack.optimizer == "all-reduce" else BF16_BYTES
    per_parameter = gradient * (1 + _gradients_whole(job)) + weights
    groups = ((job.replicas, job.tp), (job.gpus // (job.pp * job.ep), job.ep))
    needed = sum(
        (members - 1) / members * per_parameter * parameters / _group_rate(job, reached, members, stride)
        for parameters, (members, stride) in zip(_parameters(job, stage), groups, strict=True)
        if members > 1
    )
    hidden = stage.forward + stage.backward if job.stack.gradients_hidden else 0.0
    return max(0.0, needed - hidden)


def _optimizer_s(job: Job, reached: Rates, stage: _Stage) -> float:
    """Memory traffic between two steps: Adam, the norm of the gradients and their clipping over a GPU's share of the parameters, zeros."""
    common, experts = _parameters(job, stage)
    whole = common + experts
    share = common / job.replicas + experts / max(1, job.gpus // (job.pp * job.ep))
    updated = whole if job.stack.optimizer == "all-reduce" else share
    clipped = whole if _gradients_whole(job) else share
    moved = updated * OPTIMIZER_BYTES_PER_PARAMETER + clipped * CLIPPING_BYTES + whole * job.stack.gradient_bytes
    return moved / reached.memory_bytes_per_s


def _gradients_whole(job: Job) -> bool:
    return job.stack.gradients_whole or job.stack.optimizer == "all-reduce"
