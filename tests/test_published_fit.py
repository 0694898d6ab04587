"""The fitted efficiency: what one row alone needs, what several need together, and what is done for GPUs without rows."""

import math

import pytest

from sim.published_fit import KEPT_WITHIN, Fitted, Measured, bf16_efficiency, extended, fit, needed
from sim.published_jobs import job_of
from sim.published_metrics import Metric
from sim.published_step import step
from tests.published_rows import row

JOB = job_of(row())
H100 = job_of(row(gpu="H100", precision="bf16"))
H100_FP8 = job_of(row(gpu="H100", precision="fp8"))
H200 = job_of(row(gpu="H200", precision="bf16"))


def made(job, *shares):
    """Rows of steps that take as long as with these efficiencies."""
    return [measured(job, step(job, share, share).seconds) for share in shares]


def measured(job, seconds):
    return Measured.of(job, Metric(1.0, per_second=False), seconds)


def test_a_row_alone_gives_back_the_efficiency_that_made_it():
    assert needed(JOB, step(JOB, 0.73, 0.73).seconds, None) == pytest.approx(0.73)
    assert needed(H100_FP8, step(H100_FP8, 0.5, 0.6).seconds, 0.6) == pytest.approx(0.5)
    assert needed(JOB, 1e-3, None) is None and needed(JOB, 1e6, None) is None


def test_the_fit_is_the_median_where_no_share_is_close_to_all():
    found = fit([*made(JOB, 0.5, 0.7, 0.8), measured(JOB, 1e-3)], "here")["A100-SXM-80 fp16"]
    assert (found.rows, found.origin) == (3, "here")
    assert (found.efficiency, found.lowest, found.highest) == pytest.approx((0.7, 0.5, 0.8))


def test_the_fit_leaves_the_median_so_far_that_every_row_is_within_ten_percent():
    slow, fast = (step(JOB, share, share).seconds for share in (0.7, 0.83))
    found = fit([*made(JOB, 0.83, 0.83), measured(JOB, slow)], "here")["A100-SXM-80 fp16"]
    assert 0.7 < found.efficiency < 0.83 and fast < (1 - KEPT_WITHIN) * slow
    assert step(JOB, found.efficiency, found.efficiency).seconds == pytest.approx((1 - KEPT_WITHIN) * slow)
    assert fit(made(JOB, 0.8, 0.81, 0.83), "here")["A100-SXM-80 fp16"].efficiency == pytest.approx(0.81)


def test_ten_percent_are_counted_in_the_unit_of_the_row():
    """1 / 1.099 and 1 / 0.901 s for a rate of 1 per second."""
    found = Measured.of(JOB, Metric(1.0, per_second=True), 1.0)
    assert (found.seconds, found.least_s, found.most_s) == pytest.approx((1.0, 1 / 1.099, 1 / 0.901))


def test_bf16_is_fitted_first_and_used_within_fp8():
    found = fit([measured(H100_FP8, step(H100_FP8, 0.5, 0.7).seconds), *made(H100, 0.7)], "here")
    assert found["H100-SXM fp8"].efficiency == pytest.approx(0.5)
    assert bf16_efficiency(found, H100_FP8) == pytest.approx(0.7) and bf16_efficiency(found, H100) is None


def test_gpus_that_are_known_are_not_fitted_again():
    known = {"A100-SXM-80 fp16": Fitted(0.8, 9, 0.7, 0.9, "the table")}
    assert extended(known, made(JOB, 0.5, 0.6), "mine") == known


def test_others_take_their_own_rows_or_a_kins():
    known = {"H100-SXM bf16": Fitted(0.6, 9, 0.5, 0.7, "the table"), "A100-SXM-80 bf16": Fitted(0.8, 9, 0.7, 0.9, "the table")}
    one = made(H200, 0.55)
    assert extended(known, one, "mine")["H200-SXM bf16"] == Fitted(0.6, 0, 0.5, 0.7, "as H100-SXM bf16")
    two = extended(known, one + one, "mine")["H200-SXM bf16"]
    assert two.efficiency == pytest.approx(0.55) and (two.rows, two.origin) == (2, "mine")
    assert math.isclose(extended({}, one, "mine")["H200-SXM bf16"].efficiency, 0.6)


def test_fp16_takes_bf16_of_the_same_gpu_before_fp16_of_another():
    known = {"H100-SXM fp16": Fitted(0.6, 9, 0.5, 0.7, "the table"), "A100-SXM-80 bf16": Fitted(0.8, 9, 0.7, 0.9, "the table")}
    assert extended(known, made(JOB, 0.5), "mine")["A100-SXM-80 fp16"].origin == "as A100-SXM-80 bf16"
