"""Seconds of a layer by hand: products, attention, memory traffic, exchanges, on a GPU of round numbers."""

from dataclasses import replace

import pytest

from sim.published_jobs import job_of
from sim.published_layer import Seconds, head, layer, product
from sim.published_rates import (
    ALL_REDUCE_S,
    ALL_REDUCE_STEP_S,
    GATHER_AND_SCATTER_S,
    GATHER_AND_SCATTER_STEP_S,
    MEMORY_KERNEL_S,
    Rates,
)
from sim.published_tokens import all_to_all_s
from tests.published_rows import row

ROUND = Rates(
    product_flops=1e12, bf16_flops=1e12, forward_flops=1e12, backward_flops=5e11, memory_bytes_per_s=1e12, nvlink_bytes_per_s=1e11,
    all_to_all_bytes_per_s=1e11, nic_bytes_per_s=1e10,
)  # fmt: skip
SMALL = job_of(row(layers=4, hidden=1024, heads=8, ffn=4096, vocab=8192, seq=512, gpus=8, tp=8, pp=1, recompute="none", global_batch=4))
ALONE = replace(SMALL, tp=1, gpus=1)


def with_stack(job, **changes):
    return replace(job, stack=replace(job.stack, **changes))


def test_a_product_and_its_gradients_by_hand():
    """2mnk FLOPs; forward reads 2(mk + kn), writes 2mn; backward twice the FLOPs, 2(mn + kn + mk) and 2(mn + mk) + 4kn bytes."""
    m, n, k = 10, 20, 30
    slow = replace(ROUND, product_flops=12_000.0, memory_bytes_per_s=100.0)
    found = product(ALONE, slow, m, n, k)
    assert ALONE.stack.accumulate_bytes == 4
    assert found.forward == pytest.approx(1 + 2 * (300 + 600 + 200) / 100)
    assert found.backward == pytest.approx(2 + (2 * (200 + 600 + 300) + 2 * (200 + 300) + 4 * 600) / 100)
    assert product(ALONE, slow, m, n, k, count=3).both == pytest.approx(3 * found.both)
    eight = replace(ALONE, precision="fp8")
    assert product(eight, slow, m, n, k).forward == pytest.approx(1 + (300 + 600 + 2 * 200) / 100)
    assert product(eight, replace(slow, bf16_flops=6000.0), m, n, k, bf16=True).forward == pytest.approx(2 + 22)


def test_products_of_a_layer_are_its_flops():
    """Without memory traffic a layer's products take 24bsh^2 FLOPs forward and twice that backward, over t."""
    quick = replace(ROUND, memory_bytes_per_s=1e30)
    for job, t in ((ALONE, 1), (SMALL, 8)):
        products = layer(job, quick, False)["products"]
        assert products.forward == pytest.approx(24 * 512 * 1024**2 / t / 1e12)
        assert products.backward == pytest.approx(2 * products.forward)


def test_attention_by_way_of_memory_and_in_one_kernel():
    scores = 8 * 512 * 512
    parts = layer(ALONE, ROUND, False)["attention"]
    assert parts.forward == pytest.approx((2 * scores * 256 + 13 * scores) / 1e12)
    assert parts.backward == pytest.approx((4 * scores * 256 + 19 * scores) / 1e12)
    flash = layer(with_stack(ALONE, flash=True), ROUND, False)["attention"]
    assert flash.forward == pytest.approx(scores * 256 / 1e12)
    assert flash.backward == pytest.approx(2.5 * scores * 256 / 5e11)


def test_memory_traffic_of_a_gpt_by_hand():
    """11h + 2f entries of 2 bytes forward, 19h + 4f backward; kernels' starts and ends."""
    found = layer(ALONE, ROUND, False)["memory"]
    assert found.forward == pytest.approx(2 * 512 * (11 * 1024 + 2 * 4096) / 1e12 + 10 * MEMORY_KERNEL_S)
    assert found.backward == pytest.approx(2 * 512 * (19 * 1024 + 4 * 4096) / 1e12 + 14 * MEMORY_KERNEL_S)


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
def test_recomputation_repeats_the_core_or_everything(recompute):
    plain, found = layer(SMALL, ROUND, False), layer(replace(SMALL, recompute=recompute), ROUND, False)
    for name, part in plain.items():
        again = recompute == "full" or (recompute == "selective" and name == "attention")
        assert found[name].backward == pytest.approx(part.backward + again * part.forward)
    flash = with_stack(replace(SMALL, recompute="selective"), flash=True)
    assert layer(flash, ROUND, False)["attention"] == layer(replace(flash, recompute="none"), ROUND, False)["attention"]


def test_tensor_exchanges_by_hand():
    """Two all-reduces of 2Th = 1 MiB each way: 2 x 7/8 of it over 100 GB/s."""
    exposed = with_stack(SMALL, tensor_hidden="none")
    each = 2 * (2 * 7 / 8 * 2**20 / 1e11 + ALL_REDUCE_S + 14 * ALL_REDUCE_STEP_S)
    assert layer(exposed, ROUND, False)["TP"] == Seconds(pytest.approx(each), pytest.approx(each))
    assert layer(SMALL, ROUND, False)["TP"].backward == pytest.approx(each - min(each, layer(SMALL, ROUND, False)["products"].backward / 2))
    assert layer(with_stack(exposed, parallel_block=True), ROUND, False)["TP"].forward == pytest.approx(each / 2)
    sequence = replace(exposed, sequence_parallel=True)
    pair = 2 * (2 * 7 / 8 * 2**20 / 1e11 + GATHER_AND_SCATTER_S + 7 * GATHER_AND_SCATTER_STEP_S)
    assert layer(sequence, ROUND, False)["TP"].forward == pytest.approx(pair)
    slow = replace(ROUND, product_flops=1e9)
    assert layer(with_stack(sequence, tensor_hidden="all"), slow, False)["TP"].forward == pytest.approx(pair / 8)
    assert layer(ALONE, ROUND, False)["TP"] == Seconds()


def test_context_is_gathered_or_passed_round():
    """Keys and values of the other part: 2 x 2 x 256 x 1024 bytes over NVLink."""
    job = replace(ALONE, cp=2, gpus=2)
    gathered = layer(with_stack(job, context_hidden=False), ROUND, False)["CP"]
    assert gathered == Seconds(pytest.approx(2**20 / 1e11), pytest.approx(2 * 2**20 / 1e11))
    core = layer(job, ROUND, False)["attention"]
    assert layer(job, ROUND, False)["CP"].forward == pytest.approx(max(0, 2**20 / 1e11 - core.forward))


MIXTURE = job_of(
    row(model="mine", layers=4, hidden=1024, heads=8, ffn=512, vocab=8192, seq=512, experts=16, topk=2, gpus=16, tp=1, pp=1, ep=16, dp=16,
        global_batch=16, recompute="none", source="")
)  # fmt: skip


def test_tokens_to_experts_by_hand():
    """K = 2 copies of 512 hidden states of 2 bytes: 7/16 within the server of 8, 1/2 to the other."""
    states = 512 * 1024 * 2
    assert all_to_all_s(MIXTURE, ROUND, 2) == pytest.approx(states * 2 / 2 / 1e10 + 70e-6)
    near = replace(MIXTURE, ep=8)
    assert all_to_all_s(near, ROUND, 2) == pytest.approx(states * 2 * 7 / 8 / 1e11 + 50e-6)
    # once per server: 2 uniform choices among 2 servers reach 1.5, half of them the other one
    once = with_stack(MIXTURE, experts_once=True)
    assert all_to_all_s(once, ROUND, 2) == pytest.approx(states * 0.75 / 1e10 + 70e-6)


def test_experts_compute_what_their_tokens_need():
    """2 experts' MLPs and the router a token: 2T(2 x 2hf + hE) FLOPs beside attention's 8Th^2."""
    quick = replace(ROUND, memory_bytes_per_s=1e30)
    products = layer(MIXTURE, quick, True)["products"]
    assert products.forward == pytest.approx(2 * 512 * (4 * 1024**2 + 2 * 2 * 1024 * 512 + 1024 * 16) / 1e12)


def test_hidden_tokens_cost_multiprocessors_only():
    shown = layer(MIXTURE, ROUND, True)["EP"]
    assert shown.forward == pytest.approx(2 * all_to_all_s(MIXTURE, ROUND, 2))
    slow = replace(ROUND, product_flops=1e9, bf16_flops=1e9)
    hidden = layer(with_stack(MIXTURE, experts_hidden=True), slow, True)["EP"]
    assert hidden.forward == pytest.approx(shown.forward * 20 / 112)


def test_head_stays_in_bf16():
    job, quick = replace(ALONE, precision="fp8"), replace(ROUND, bf16_flops=5e11, memory_bytes_per_s=1e30)
    assert head(job, quick).forward == pytest.approx(2 * 512 * 1024 * 8192 / 5e11)
    slow = replace(ROUND, memory_bytes_per_s=1.0, bf16_flops=1e30)
    fused = head(with_stack(ALONE, fused_loss=True), slow).both
    assert head(ALONE, slow).both - fused == pytest.approx(42 * 512 * 8192)
