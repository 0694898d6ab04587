"""The fitted efficiency: what one row alone needs, the median of several, and what is done for GPUs without rows."""

import math

import pytest

from sim.published_fit import Fitted, bf16_efficiency, extended, fit, needed
from sim.published_jobs import job_of
from sim.published_step import step
from tests.published_rows import row

JOB = job_of(row())
H100 = job_of(row(gpu="H100", precision="bf16"))
H100_FP8 = job_of(row(gpu="H100", precision="fp8"))
H200 = job_of(row(gpu="H200", precision="bf16"))


def test_a_row_alone_gives_back_the_efficiency_that_made_it():
    assert needed(JOB, step(JOB, 0.73, 0.73).seconds, None) == pytest.approx(0.73)
    assert needed(H100_FP8, step(H100_FP8, 0.5, 0.6).seconds, 0.6) == pytest.approx(0.5)
    assert needed(JOB, 1e-3, None) is None and needed(JOB, 1e6, None) is None


def test_the_fit_is_the_median():
    rows = [(JOB, step(JOB, share, share).seconds) for share in (0.5, 0.7, 0.8)] + [(JOB, 1e-3)]
    found = fit(rows, "here")["A100-SXM-80 bf16"]
    assert (found.rows, found.origin) == (3, "here")
    assert (found.efficiency, found.lowest, found.highest) == pytest.approx((0.7, 0.5, 0.8))


def test_bf16_is_fitted_first_and_used_within_fp8():
    rows = [(H100_FP8, step(H100_FP8, 0.5, 0.7).seconds), (H100, step(H100, 0.7, 0.7).seconds)]
    found = fit(rows, "here")
    assert found["H100-SXM fp8"].efficiency == pytest.approx(0.5)
    assert bf16_efficiency(found, H100_FP8) == pytest.approx(0.7) and bf16_efficiency(found, H100) is None


def test_gpus_that_are_known_are_not_fitted_again():
    known = {"A100-SXM-80 bf16": Fitted(0.8, 9, 0.7, 0.9, "the table")}
    assert extended(known, [(JOB, 1.0), (JOB, 2.0)], "mine") == known


def test_others_take_their_own_rows_or_a_kins():
    known = {"H100-SXM bf16": Fitted(0.6, 9, 0.5, 0.7, "the table"), "A100-SXM-80 bf16": Fitted(0.8, 9, 0.7, 0.9, "the table")}
    seconds = step(H200, 0.55, 0.55).seconds
    assert extended(known, [(H200, seconds)], "mine")["H200-SXM bf16"] == Fitted(0.6, 0, 0.5, 0.7, "as H100-SXM bf16")
    two = extended(known, [(H200, seconds), (H200, seconds)], "mine")["H200-SXM bf16"]
    assert two.efficiency == pytest.approx(0.55) and (two.rows, two.origin) == (2, "mine")
    assert math.isclose(extended({}, [(H200, seconds)], "mine")["H200-SXM bf16"].efficiency, 0.6)
