"""Every metric to seconds and back, against the numbers that publications and their readers derived."""

import pytest

from sim.published import REFERENCE
from sim.published_jobs import job_of
from sim.published_metrics import causal_flops, hardware_flops, metric_of, model_flops, parameter_flops
from sim.published_models import NotGiven
from sim.published_rows import read_file, values_of
from tests.published_rows import row

DERIVED = [row for row in read_file(REFERENCE) if row.derived_iter_s and row.kind == "iteration" and len(values_of(row)) == 1]


@pytest.mark.parametrize("published", DERIVED, ids=lambda row: row.id)
def test_seconds_are_those_that_the_table_derives(published):
    """Its own reading leaves attention out of Llama 3's FLOPs: 4 % at 8192 tokens."""
    job = job_of(published)
    metric = metric_of(published, job)
    tolerance = 0.045 if job.stack.name == "Llama 3" else 0.005
    assert metric.seconds(values_of(published)[0]) == pytest.approx(published.derived_iter_s, rel=tolerance)


def test_flops_of_a_gpt_are_the_papers_formulas():
    job = job_of(row())
    b, s, layers, h, v = 64, 2048, 96, 12_288, 51_200
    assert hardware_flops(job) == pytest.approx(96 * b * s * layers * h * h * (1 + s / (6 * h) + v / (16 * layers * h)))
    assert model_flops(job) == pytest.approx(72 * b * s * layers * h * h * (1 + s / (6 * h) + v / (12 * layers * h)))
    assert model_flops(job) - causal_flops(job) == pytest.approx(72 * b * s * layers * h * h * s / (12 * h))
    assert parameter_flops(job) == pytest.approx(6 * 174.59e9 * b * s + 6 * b * layers * s * s * h, rel=1e-4)


@pytest.mark.parametrize(
    ("metric", "unit", "value"),
    [
        ("iteration time", "s", 12.5), ("iteration time (allocated)", "ms", 12_500), ("tokens/s per GPU", "tokens/s", 64 * 2048 / 12.5 / 64),
        ("tokens/s", "tokens/s", 64 * 2048 / 12.5), ("tokens per day (a / b)", "1e9", 64 * 2048 * 86_400 / 12.5 / 1e9),
        ("GPU hours per 1T tokens", "h", 12.5 * 64 / 3600 * 1e12 / (64 * 2048)), ("time per step", "s", 12.5),
    ],
)  # fmt: skip
def test_there_and_back_by_hand(metric, unit, value):
    asked = row(metric=metric, unit=unit)
    found = metric_of(asked, job_of(asked))
    assert found.seconds(value) == pytest.approx(12.5)
    assert found.value(12.5) == pytest.approx(value)


def test_utilisation_is_of_the_bf16_peak():
    asked = row(metric="MFU", unit="%")
    job = job_of(asked)
    assert metric_of(asked, job).value(20.0) == pytest.approx(100 * model_flops(job) / (20 * 64 * 312e12))


@pytest.mark.parametrize(
    ("metric", "unit", "words"),
    [("1F", "s", "metric '1F' is not one of a whole step"), ("iteration time", "us", "unit 'us' of 'iteration time' is not one of s, ms")],
)
def test_other_metrics_are_refused(metric, unit, words):
    asked = row(metric=metric, unit=unit)
    with pytest.raises(NotGiven, match=words):
        metric_of(asked, job_of(asked))
