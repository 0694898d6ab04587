"""Metrics that publications give, to and from the seconds of a step."""

from collections.abc import Callable
from dataclasses import dataclass

from sim.published_jobs import Job
from sim.published_models import NotGiven
from sim.published_rows import PublishedRow
from sim.workload.transformer import (
    core_forward_flops,
    head_forward_flops,
    iteration_flops,
    layer_forward_flops,
    total_parameters,
)

TERA, BILLION, HOUR_S, DAY_S = 1e12, 1e9, 3600.0, 86_400.0
TOKENS_OF_A_TRILLION = 1e12
SECONDS = {"s": 1.0, "ms": 1e-3}


@dataclass(frozen=True)
class Metric:
    """How a published number and the seconds of a step make each other: value = amount / seconds, or amount x seconds."""

    amount: float
    per_second: bool  # the value falls when the step takes longer

    def seconds(self, value: float) -> float:
        """Of the step that a published value means."""
        return self.amount / value if self.per_second else value / self.amount

    def value(self, seconds: float) -> float:
        """What would be published of a step that takes `seconds`."""
        return self.amount / seconds if self.per_second else self.amount * seconds


def hardware_flops(job: Job) -> float:
    """FLOPs of a step with full recomputation: 4 forward passes' worth of the layers, 3 of the logits; for a GPT
    96Bslh^2(1 + s/6h + V/16lh) (arXiv 2104.04473 eq. 3)."""
    shape, batch = job.shape, job.global_batch
    layers = sum(layer_forward_flops(shape, batch, shape.has_experts(index)) for index in range(shape.layers))
    return 4 * layers + 3 * head_forward_flops(shape, batch)


def model_flops(job: Job) -> float:
    """FLOPs of a step without recomputation, attention not halved: 72Bslh^2(1 + s/6h + V/12lh) for a GPT."""
    return iteration_flops(job.shape, job.global_batch)


def causal_flops(job: Job) -> float:
    """The same with the masked half of attention left out."""
    return model_flops(job) - 1.5 * job.shape.layers * core_forward_flops(job.shape, job.global_batch)


def parameter_flops(job: Job) -> float:
    """6 FLOPs per parameter and token, and causal attention (arXiv 2407.21783 table 4 does not say; without attention its row of
    131 072 tokens would run above the peak that its matrix products alone allow)."""
    tokens = job.global_batch * job.shape.sequence
    return 6 * total_parameters(job.shape) * tokens + 1.5 * job.shape.layers * core_forward_flops(job.shape, job.global_batch)


def _rate(flops: Callable[[Job], float]) -> Callable[[Job, PublishedRow], Metric]:
    return lambda job, row: Metric(flops(job) / job.gpus / TERA, per_second=True)


def _tokens(job: Job) -> float:
    return job.global_batch * job.shape.sequence


METRICS: tuple[tuple[str, Callable[[Job, PublishedRow], Metric]], ...] = (
    ("hardware tflop/s", _rate(hardware_flops)),
    ("tflops non-causal", _rate(model_flops)),
    ("tflops causal", _rate(causal_flops)),
    ("model tflop/s", lambda job, row: _rate(parameter_flops if job.stack.name == "Llama 3" else model_flops)(job, row)),
    ("mfu", lambda job, row: Metric(100 * model_flops(job) / job.gpus / job.gpu.peak_flops, per_second=True)),
    ("tokens/s", lambda job, row: Metric(_tokens(job) / (job.gpus if "per gpu" in row.metric.lower() else 1), per_second=True)),
    ("tokens per day", lambda job, row: Metric(_tokens(job) * DAY_S / BILLION, per_second=True)),
    ("gpu hours per 1t tokens", lambda job, row: Metric(job.gpus / HOUR_S * TOKENS_OF_A_TRILLION / _tokens(job), per_second=False)),
    ("iteration time", lambda job, row: Metric(1 / _seconds(row), per_second=False)),
    ("step time", lambda job, row: Metric(1 / _seconds(row), per_second=False)),
    ("time per step", lambda job, row: Metric(1 / _seconds(row), per_second=False)),
)


def _seconds(row: PublishedRow) -> float:
    if row.unit not in SECONDS:
        raise NotGiven(f"unit {row.unit!r} of {row.metric!r} is not one of {', '.join(SECONDS)}")
    return SECONDS[row.unit]


def metric_of(row: PublishedRow, job: Job) -> Metric:
    """The metric of an iteration row; NotGiven if it is none of a whole step."""
    text = row.metric.lower()
    for words, build in METRICS:
        if text.startswith(words):
            return build(job, row)
    raise NotGiven(f"metric {row.metric!r} is not one of a whole step")
