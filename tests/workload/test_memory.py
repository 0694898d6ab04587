"""Memory per GPU by hand for GPT-7B, and what is said of a model that does not fit."""

import pytest

from sim.case import case_of
from sim.scenario import Scenario
from sim.workload.memory import feasibility, memory_notices, memory_per_gpu
from sim.workload.strategy import Strategy
from sim.workload.transformer import Shape, head_activation_bytes, stage_expert_parameters, stage_parameters

GPT_7B = Shape(36, 4096, 32, 16384, 51200, 2048)
MIXTRAL = Shape(
    32, 4096, 32, 14_336, 32_000, 4096, kv_heads=8, gated=True, biased=False, tied=False, experts=8, top_k=2, expert_ffn=14_336
)


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


@pytest.mark.parametrize(
    ("optimizer", "per_parameter"),
    [("all-reduce", 18), ("distributed", 6 + 12 / 8), ("zero-1", 4 + 12 / 8), ("zero-2", 2 + 14 / 8), ("zero-3", 16 / 8)],
)
def test_states_per_parameter(optimizer, per_parameter):
    """d is dp x cp."""
    for strategy in (Strategy(1, 1, 8, optimizer=optimizer), Strategy(1, 1, 4, cp=2, optimizer=optimizer)):
        row = memory_per_gpu(GPT_7B, strategy)[0]
        states = row.weights + row.gradients + row.optimizer
        assert states / stage_parameters(GPT_7B, 1, 1, 0) == pytest.approx(per_parameter)


def test_experts_are_shared_out_over_fewer_ranks():
    """Mixtral 8x7B, EP 4, DP 8: 2 experts of each layer here, their optimizer states over 2 ranks, the rest over 8."""
    row = memory_per_gpu(MIXTRAL, Strategy(1, 1, 8, ep=4))[0]
    experts, common = 32 * 2 * 3 * 4096 * 14_336, stage_parameters(MIXTRAL, 1, 1, 0)
    assert stage_expert_parameters(MIXTRAL, 1, 1, 4, 0) == experts
    assert row.weights == 2 * (experts + common)
    assert row.optimizer == pytest.approx(12 * (experts / 2 + common / 8), rel=1e-9)


def test_zero_3_gathers_two_layers_at_a_time():
    row = memory_per_gpu(GPT_7B, Strategy(1, 1, 8, optimizer="zero-3"))[0]
    assert row.working == 2 * 2 * (12 * 4096**2 + 13 * 4096)
    assert memory_per_gpu(GPT_7B, Strategy(1, 1, 8))[0].by_kind().keys() == {"weights", "gradients", "optimizer", "activations"}


def test_full_recomputation_keeps_inputs_and_works_on_one_layer():
    row = memory_per_gpu(GPT_7B, Strategy(8, 2, 1, micro_batches=2, recompute="full"))[0]
    assert row.activations == 2 * 2048 * 4096 * 18 * 2
    assert row.working == 2048 * 4096 * (10 + 24 / 8)


def test_schedules_differ_in_what_they_hold():
    """12 layers on 2 stages, 8 micro-batches: 1F1B 2, GPipe 8, interleaved with v = 3 (1 + 1/6) of all layers."""
    shape = Shape(12, 64, 4, 256, 1000, 32)
    layer = 32 * 64 * (34 + 5 * 4 * 32 / 64)
    held = {
        schedule: memory_per_gpu(shape, Strategy(1, 2, 1, micro_batches=8, schedule=schedule, chunks=chunks))[0].activations / layer
        for schedule, chunks in (("1f1b", 1), ("gpipe", 1), ("zb-h1", 1), ("interleaved", 3))
    }
    assert held == {"1f1b": 12, "gpipe": 48, "zb-h1": 12, "interleaved": 14}


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


@pytest.mark.parametrize(
    ("job", "changes", "words"),
    [
        (("gpt-7b", 8, 1, 4, 2), {"micro_batch": 4}, 'recompute = "selective" fits'),
        (("gpt-7b", 8, 1, 4, 2), {"micro_batch": 8, "recompute": "selective"}, 'recompute = "full" fits'),
        (("gpt-22b", 64, 4, 1, 16), {"micro_batch": 2, "optimizer": "all-reduce"}, 'optimizer = "distributed" with recompute = "selective" fits'),
        (("gpt-22b", 16, 8, 1, 2), {"micro_batch": 6}, 'recompute = "selective" with sequence_parallel = true fits'),
    ],
)
def test_what_leaves_the_ranks_in_place_is_offered_first(job, changes, words):
    """The changes are made as offered: then it fits."""
    model, gpus, *cut = job
    assert feasibility(scenario(model, gpus, *cut, **changes)).message.endswith(f"; {words}")
    offered = dict(part.split(" = ") for part in words.removesuffix(" fits").split(" with "))
    made = {key: value == "true" if value in ("true", "false") else value.strip('"') for key, value in offered.items()}
    assert feasibility(scenario(model, gpus, *cut, **{**changes, **made})).fits


def test_when_nothing_fits_it_says_so():
    verdict = feasibility(scenario("gpt-1t", 64, 8, 8, 1))
    assert not verdict.fits
    assert "no TP x PP x DP of these GPUs fits" in verdict.message


def test_a_run_says_of_every_job_that_it_does_not_fit():
    fits = scenario("gpt-125m", 16, 1, 1, 8)
    assert memory_notices(fits) == []
    large = {"model": {"name": "gpt-175b"}, "parallelism": {"tp": 8, "dp": 1}}
    (said,) = memory_notices(fits.replace_all({"cluster.gpus": 16, "jobs": [large]}))
    assert said.startswith("jobs.0: does not fit its GPUs: stage 0 needs ") and said.endswith("; simulated all the same")
    assert "of the 80.0 GB of a H100-SXM (weights 43.7 GB, gradients 87.3 GB" in said
    assert said in case_of(fits.replace("jobs", [large])).notices


def test_plain_traffic_always_fits():
    verdict = feasibility(Scenario.from_data({"cluster": {"topology": "one-switch", "gpus": 4}, "traffic": {"pattern": "ring"}}))
    assert verdict.fits
    assert verdict.rows == ()
