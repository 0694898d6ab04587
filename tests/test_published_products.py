"""Seconds of matrix products by hand: FLOPs and bytes, what they add up to in a layer, experts' many small ones."""

from dataclasses import replace

import pytest

from sim.published_products import attention_products, expert_products, heads_here, mlp_products, product
from tests.published_rows import ALONE, MIXTURE, ROUND, SMALL


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
    """Without memory traffic a layer's products take 24bsh^2 FLOPs forward and twice that backward, over t; 6bsh^2 and 8 enter blocks."""
    quick = replace(ROUND, memory_bytes_per_s=1e30)
    for job, t in ((ALONE, 1), (SMALL, 8)):
        pairs = attention_products(job, quick), mlp_products(job, quick, 4096)
        unit = 512 * 1024**2 / t / 1e12
        assert [[one.forward for one in pair] for pair in pairs] == [pytest.approx([6 * unit, 2 * unit]), pytest.approx([8 * unit, 8 * unit])]
        assert all(one.backward == pytest.approx(2 * one.forward) for pair in pairs for one in pair)
    assert heads_here(SMALL) == (1, 1)


def test_experts_compute_what_their_tokens_need():
    """2 of 16 experts' MLPs and the router a token: 2T(2 x 2hf + hE) FLOPs, each GPU one expert."""
    quick = replace(ROUND, memory_bytes_per_s=1e30, kernel_s=0.0)
    assert expert_products(MIXTURE, quick).forward == pytest.approx(2 * 512 * (2 * 2 * 1024 * 512 + 1024 * 16) / 1e12)


def test_products_of_experts_start_four_at_a_time():
    """16 experts on one GPU: 32 products forward, 64 backward."""
    alone, quick = replace(MIXTURE, ep=1), replace(ROUND, kernel_s=0.0)
    slow, fast = expert_products(alone, ROUND), expert_products(alone, quick)
    assert slow.forward - fast.forward == pytest.approx(32 / 4 * ROUND.kernel_s)
    assert slow.backward - fast.backward == pytest.approx(64 / 4 * ROUND.kernel_s)
