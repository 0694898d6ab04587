"""A step's parts by hand: micro-batches, bubble, uneven stages, gradients, optimizer, ZeRO-3, and the micro-batch where none is given."""

from dataclasses import replace

import pytest

from sim.published_jobs import job_of
from sim.published_layer import head, layer
from sim.published_rates import GATHER_AND_SCATTER_S, GATHER_AND_SCATTER_STEP_S, SEND_S, rates
from sim.published_step import fits, step
from sim.published_zero import zero_3_s
from sim.workload.transformer import embedding_parameters, layer_parameters
from tests.published_rows import row, with_stack

SHARE = 0.8
EVEN = job_of(row())
REACHED = rates(EVEN.gpu, "bf16", SHARE, SHARE, EVEN.nic_bytes_per_s, 2048)


def one_layer(job):
    return sum(part.both for part in layer(job, REACHED, False).values())


def test_parts_add_up_to_micro_batches_of_the_slowest_stage_and_the_bubble():
    """p = 8, m = 64, 12 layers a stage, the logits beyond them on the last; sends of 2Th/t at 97 % of 25 GB/s."""
    found = step(EVEN, SHARE, SHARE)
    send = 2 * 2048 * 12_288 / 8 / (0.97 * 25e9) + SEND_S
    stage = 12 * one_layer(EVEN)
    assert found.parts["bubble"] == pytest.approx(7 * (stage + 2 * send))
    assert found.parts["PP"] == pytest.approx(64 * 2 * send)
    assert found.parts["head"] == pytest.approx(64 * head(EVEN, REACHED).both)
    assert found.seconds == pytest.approx(64 * (stage + head(EVEN, REACHED).both + 2 * send) + found.parts["bubble"] + found.parts["optimizer"])
    assert found.parts["DP"] == 0


def test_virtual_stages_divide_the_bubble_and_multiply_the_sends():
    plain, chunked = step(EVEN, SHARE, SHARE), step(replace(EVEN, chunks=3), SHARE, SHARE)
    assert chunked.parts["PP"] == pytest.approx(3 * plain.parts["PP"])
    sends = plain.parts["PP"] / 64
    assert chunked.parts["bubble"] == pytest.approx((plain.parts["bubble"] - 7 * sends) / 3 + 7 * sends)
    assert step(with_stack(EVEN, stages_hidden=True), SHARE, SHARE).parts["PP"] == 0


def test_an_uneven_last_stage_has_the_logits_in_place_of_layers():
    """93 layers over 8 stages: 12 and at last 9, whose 3 missing ones take longer than the logits."""
    uneven = replace(EVEN, shape=replace(EVEN.shape, layers=93))
    assert head(EVEN, REACHED).both < 3 * one_layer(EVEN)
    assert step(uneven, SHARE, SHARE).parts["head"] == 0
    assert step(uneven, SHARE, SHARE).parts["products"] == step(EVEN, SHARE, SHARE).parts["products"]


def test_gradients_by_hand():
    """All-reduce of 2 x 2 bytes among 4 replicas, one a server: 3/4 of it over one NIC; optimizer 30 bytes a parameter,
    clipping 12, and zeros in place of the gradients that were exchanged."""
    job = replace(EVEN, dp=4, gpus=256, global_batch=256)
    parameters = 12 * layer_parameters(job.shape, 8) + embedding_parameters(job.shape, 8)
    found = step(job, SHARE, SHARE)
    assert job.stack.optimizer == "all-reduce" and job.stack.gradient_bytes == 2
    assert found.parts["DP"] == pytest.approx(3 / 4 * 4 * parameters / (0.97 * 25e9))
    assert found.parts["optimizer"] == pytest.approx((30 + 12 + 2) * parameters / REACHED.memory_bytes_per_s)
    shared = step(with_stack(job, optimizer="distributed", gradient_bytes=4), SHARE, SHARE)
    assert shared.parts["DP"] == pytest.approx(3 / 4 * 6 * parameters / (0.97 * 25e9))
    assert shared.parts["optimizer"] == pytest.approx(((30 + 12) / 4 + 4) * parameters / REACHED.memory_bytes_per_s)
    hidden = step(with_stack(job, gradients_hidden=True), SHARE, SHARE)
    assert hidden.parts["DP"] == pytest.approx(max(0, found.parts["DP"] - 12 * one_layer(job)))


def test_replicas_of_one_server_exchange_over_nvlink_and_others_over_all_their_nics():
    """t = 1: 8 members a server share 8 NICs, 194 GB/s, less than a ring over NVLink, 240 GB/s."""
    small = dict(layers=4, hidden=1024, heads=8, ffn=4096, pp=1, tp=1, recompute="none", source="arXiv 2205.05198")
    for gpus, rate in ((8, 240e9), (16, 8 * 0.97 * 25e9)):
        job = job_of(row(**small, gpus=gpus, dp=gpus, global_batch=gpus))
        parameters = 4 * layer_parameters(job.shape) + embedding_parameters(job.shape)
        assert step(job, SHARE, SHARE).parts["DP"] == pytest.approx((gpus - 1) / gpus * 4 * parameters / rate)


def test_zero_3_exchanges_beside_the_passes_of_all_layers():
    job = job_of(row(model="GPT 174.6B ZeRO-3", gpus=384, tp=1, pp=1, dp=384, micro_batch=4, global_batch=1536, source="arXiv 2104.04473"))
    parts = layer(job, REACHED, False).values()
    forward, backward = 96 * sum(part.forward for part in parts), 96 * sum(part.backward for part in parts)
    assert step(job, SHARE, SHARE).parts["DP"] == pytest.approx(zero_3_s(job, REACHED, forward, backward))


def test_stages_that_gather_what_they_were_sent():
    """4 sends, and 3 gathers of 2Th over NVLink with 6 bytes of memory traffic for each of Th entries."""
    sent = 2048 * 12_288
    gather = 7 / 8 * 2 * sent / 240e9 + (GATHER_AND_SCATTER_S + 7 * GATHER_AND_SCATTER_STEP_S) / 2 + 6 * sent / REACHED.memory_bytes_per_s
    send = 2 * sent / 8 / (0.97 * 25e9) + SEND_S
    found = step(with_stack(EVEN, stage_sends=4, stage_gathers=3), SHARE, SHARE)
    assert found.parts["PP"] == pytest.approx(64 * (4 * send + 3 * gather))


def test_gradients_summed_whole_for_shares_of_the_parameters():
    """ZeRO-1 with an all-reduce of fp32: 2 x 4 bytes and weights of 2; norm and clipping of all, Adam of a quarter."""
    job = with_stack(replace(EVEN, dp=4, gpus=256, global_batch=256), optimizer="zero-1", gradients_whole=True, gradient_bytes=4)
    parameters = 12 * layer_parameters(job.shape, 8) + embedding_parameters(job.shape, 8)
    found = step(job, SHARE, SHARE)
    assert found.parts["DP"] == pytest.approx(3 / 4 * (2 * 4 + 2) * parameters / (0.97 * 25e9))
    assert found.parts["optimizer"] == pytest.approx((30 / 4 + 12 + 4) * parameters / REACHED.memory_bytes_per_s)


def test_where_no_micro_batch_is_given_the_fastest_that_fits_is_taken():
    job = job_of(row(micro_batch=None, dp=None))
    best = step(job, SHARE, SHARE)
    tried = {size: step(job.with_micro_batch(size), SHARE, SHARE).seconds for size in (1, 2, 4, 8)}
    assert best.seconds == min(tried[size] for size in tried if fits(job.with_micro_batch(size)))
    assert best.micro_batch == min(tried, key=tried.get)
    assert not fits(replace(job, recompute="none").with_micro_batch(8))


def test_dual_pipe_halves_the_pipeline():
    """(p/2 - 1)(F + B/2) (arXiv 2412.19437 table 2 with W = B/2)."""
    parts = layer(EVEN, REACHED, False).values()
    forward, backward = sum(part.forward for part in parts), sum(part.backward for part in parts)
    assert step(with_stack(EVEN, dual=True), SHARE, SHARE).parts["bubble"] == pytest.approx(3 * 12 * (forward + backward / 2))


def test_more_efficient_products_are_faster_and_nothing_else_changes():
    slow, fast = step(EVEN, 0.4, 0.4), step(EVEN, 0.8, 0.8)
    assert fast.seconds < slow.seconds
    assert fast.parts["memory"] == slow.parts["memory"] and fast.parts["optimizer"] == slow.parts["optimizer"]
