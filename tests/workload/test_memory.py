"""Memory per GPU by hand for GPT-7B, and what is said of a model that does not fit."""

import pytest

from sim.scenario import Scenario
from sim.workload.memory import feasibility, memory_per_gpu
from sim.workload.strategy import Strategy
from sim.workload.transformer import Shape, head_activation_bytes, stage_parameters

GPT_7B = Shape(36, 4096, 32, 16384, 51200, 2048)


def scenario(model, gpus, tp, pp, dp, **more):
    return Scenario.from_data(
        {
            "cluster": {"topology": "rail-optimised", "gpus": gpus},
            "model": {"name": model},
            "parallelism": {"tp": tp, "pp": pp, "dp": dp, **more},
        }
    )


def test_gpt_7b_on_64_by_hand():
    rows = memory_per_gpu(GPT_7B, Strategy(8, 2, 4, micro_batches=2))
    p = stage_parameters(GPT_7B, 8, 2, 0)
    first, last = rows
    assert p == pytest.approx(479.7e6, rel=1e-4)
    assert (first.weights, first.gradients, first.optimizer) == (2 * p, 4 * p, 3 * p)
    # sbh (10 + 24/8 + 5*32*2048/(4096*8)) = 8.39 MB x 23, 18 layers, two micro-batches in flight
    assert first.activations == 2048 * 4096 * 23 * 18 * 2
    assert last.activations == 2048 * 4096 * 23 * 18 + round(head_activation_bytes(GPT_7B, 1, 8))
    assert first.total == sum(first.by_kind().values())


def test_states_per_parameter():
    """18 bytes per parameter, with the distributed optimizer 6 + 12/d."""
    for strategy, per_parameter in ((Strategy(1, 1, 8), 6 + 12 / 8), (Strategy(1, 1, 8, distributed_optimizer=False), 18)):
        row = memory_per_gpu(GPT_7B, strategy)[0]
        states = row.weights + row.gradients + row.optimizer
        assert states / stage_parameters(GPT_7B, 1, 1, 0) == pytest.approx(per_parameter)


def test_fewer_micro_batches_than_stages_hold_less():
    full, half = (memory_per_gpu(GPT_7B, Strategy(1, 4, 1, micro_batches=m))[0] for m in (4, 2))
    assert full.activations == 2 * half.activations
    assert memory_per_gpu(GPT_7B, Strategy(1, 4, 1, micro_batches=100))[0].activations == full.activations


def test_what_fits_says_so_in_one_line():
    verdict = feasibility(scenario("gpt-7b", 64, 8, 2, 4))
    assert verdict.fits
    assert len(verdict.rows) == 2
    assert verdict.message.startswith("fits: stage 0 needs 11.3 GB of the 80.0 GB of a H100-SXM (weights 959 MB, ")


def test_what_does_not_fit_names_the_nearest_that_does():
    verdict = feasibility(scenario("gpt-13b", 64, 1, 1, 64))
    assert not verdict.fits
    assert verdict.message.startswith("does not fit: stage 0 needs 128 GB of the 80.0 GB")
    assert verdict.message.endswith("; TP 2 PP 1 DP 32 fits")
    assert feasibility(scenario("gpt-13b", 64, 2, 1, 32)).fits


def test_a_distributed_optimizer_may_be_all_it_takes():
    verdict = feasibility(scenario("gpt-22b", 64, 4, 1, 16, optimizer="all-reduce"))
    assert not verdict.fits
    assert verdict.message.endswith('; optimizer = "distributed" fits')


def test_when_nothing_fits_it_says_so():
    verdict = feasibility(scenario("gpt-1t", 64, 8, 8, 1))
    assert not verdict.fits
    assert "no TP x PP x DP of these GPUs fits" in verdict.message


def test_plain_traffic_always_fits():
    verdict = feasibility(Scenario.from_data({"cluster": {"topology": "one-switch", "gpus": 4}, "traffic": {"pattern": "ring"}}))
    assert verdict.fits
    assert verdict.rows == ()
