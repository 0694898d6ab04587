"""ZeRO-3 by hand: gathers beside the matrix before, copies, latency of the ring, the reduction beside nothing."""

from dataclasses import replace

import pytest

from sim.published_jobs import job_of
from sim.published_zero import beside, zero_3_s
from sim.workload.transformer import attention_weights, total_parameters
from tests.published_rows import ROUND, row

JOB = job_of(row(model="GPT 174.6B ZeRO-3", gpus=384, tp=1, pp=1, dp=384, micro_batch=4, global_batch=1536, source="arXiv 2104.04473"))
PARAMETERS = total_parameters(JOB.shape)
WIRE_S = 383 / 384 * 2 * PARAMETERS / 1e10
COPY_S = 6 * PARAMETERS / 1e12
RING_S = 96 * (48 * 14e-6 + 336 * 3.4e-6)  # 96 layers; 48 servers, each GPU but one of each passes on over NVLink


def test_without_arithmetic_three_gathers_and_the_reduction_are_what_there_is():
    """Four matrices a layer are gathered one by one, gradients in one piece."""
    again = 1e-12
    assert zero_3_s(JOB, ROUND, again, 3 * again) == pytest.approx(4 * WIRE_S + 3 * COPY_S + (3 * 4 + 1) * RING_S)
    kept = replace(JOB, recompute="none")
    assert zero_3_s(kept, ROUND, again, 2 * again) == pytest.approx(3 * WIRE_S + 2 * COPY_S + (2 * 4 + 1) * RING_S)


def test_under_long_arithmetic_gathers_cost_the_multiprocessors_they_take():
    """16 of 128, while 12 gathers of a layer's matrices last; the reduction is exposed as before."""
    gathers = 3 * (WIRE_S + COPY_S + 4 * RING_S)
    assert zero_3_s(JOB, ROUND, 1e3, 3e3) == pytest.approx(gathers / 8 + WIRE_S + RING_S, rel=1e-6)


def test_a_gather_waits_beside_the_matrix_before_it():
    """Without latency: forward the output's matrix (a twelfth) is gathered beside queries, keys and values (three), up beside it, ..."""
    whole = PARAMETERS / 96
    output = 12_288**2
    three, other = attention_weights(JOB.shape) - output, (whole - attention_weights(JOB.shape)) / 2
    job = replace(JOB, recompute="none", dp=2, gpus=2, micro_batch=4, global_batch=8)
    wire, seconds = 1 / 2 * 2 * PARAMETERS / 1e10, 20.0
    ring = 96 * 2 * 3.4e-6 * 1 / 2

    def gather(part):
        return wire * part / whole + COPY_S * part / whole + ring

    def passed(parts, arithmetic):
        pairs = zip(parts, parts[1:] + parts[:1], strict=True)
        return sum(max(gather(after), arithmetic * now / whole + gather(after) / 8) for now, after in pairs)

    parts = [three, output, other, other]
    by_hand = passed(parts, seconds) + passed(parts[::-1], 2 * seconds) + wire + ring - 3 * seconds
    assert zero_3_s(job, ROUND, seconds, 2 * seconds) == pytest.approx(by_hand)


def test_one_replica_exchanges_nothing_and_micro_batches_repeat_all_of_it():
    assert zero_3_s(replace(JOB, dp=1), ROUND, 1.0, 3.0) == 0
    assert zero_3_s(replace(JOB, global_batch=3072), ROUND, 1.0, 3.0) == pytest.approx(2 * zero_3_s(JOB, ROUND, 1.0, 3.0))


def test_an_exchange_and_arithmetic_share_a_gpu():
    """4 s of exchange on a quarter of the multiprocessors: 10 s of arithmetic lose 1 s; 3 s are done just as the exchange ends."""
    assert beside(4.0, 10.0, 0.25) == 11.0
    assert beside(4.0, 3.0, 0.25) == 4.0 == beside(4.0, 1.0, 0.25)
