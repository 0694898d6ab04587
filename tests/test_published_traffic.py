"""Memory traffic by hand: passes, kernels, fp8 copies with either scaling, experts' sorted and padded tokens, norms computed anew."""

from dataclasses import replace

import pytest

from sim.published_traffic import attention_traffic, expert_traffic, mlp_traffic
from tests.published_rows import ALONE, MIXTURE, ROUND, with_stack

PER_ENTRY_S = 2 * 512 / 1e12  # 512 tokens, 2 bytes, 1 TB/s
EIGHT = replace(ALONE, precision="fp8")
CURRENT = with_stack(EIGHT, current_scaling=True)


def difference(one, other):
    return one.forward - other.forward, one.backward - other.backward


def test_a_gpt_by_hand():
    """11h + 2f entries of 2 bytes forward, 19h + 4f backward, the norms' halves in each block; 10 and 14 kernels' starts and ends."""
    own, mlp = attention_traffic(ALONE, ROUND), mlp_traffic(ALONE, ROUND)
    assert own.forward == pytest.approx(5.5 * 1024 * PER_ENTRY_S + 5 * ROUND.kernel_s)
    assert own.backward == pytest.approx(9.5 * 1024 * PER_ENTRY_S + 7 * ROUND.kernel_s)
    assert mlp.forward == pytest.approx((5.5 * 1024 + 2 * 4096) * PER_ENTRY_S + 5 * ROUND.kernel_s)
    assert mlp.backward == pytest.approx((9.5 * 1024 + 4 * 4096) * PER_ENTRY_S + 7 * ROUND.kernel_s)


def test_fp8_with_the_scale_of_earlier_steps_copies_beside_other_kernels():
    """2 bytes for each entry that goes into a product, 4 for each of its gradient: attention 2h and 4h, MLP h + f and h + f."""
    assert difference(attention_traffic(EIGHT, ROUND), attention_traffic(ALONE, ROUND)) == pytest.approx((2 * 2048 * 512e-12, 4 * 4096 * 512e-12))
    assert difference(mlp_traffic(EIGHT, ROUND), mlp_traffic(ALONE, ROUND)) == pytest.approx((2 * 5120 * 512e-12, 4 * 5120 * 512e-12))


def test_fp8_with_the_present_scale_reads_tensors_twice():
    """What a norm wrote 4 bytes and a kernel, all else 6 bytes and two kernels."""
    forward, backward = difference(mlp_traffic(CURRENT, ROUND), mlp_traffic(ALONE, ROUND))
    assert forward == pytest.approx((4 * 1024 + 6 * 4096) * 512e-12 + 3 * ROUND.kernel_s)
    assert backward == pytest.approx(6 * 5120 * 512e-12 + 4 * ROUND.kernel_s)


def test_experts_tokens_are_sorted_and_their_activations_smaller():
    """K = 2: 2h entries a token sorted in 7 passes at 0.5 of the line rate, others at 0.7; 17 kernels."""
    found = expert_traffic(MIXTURE, ROUND).forward
    assert found == pytest.approx((5.5 * 1024 + 2 * 2 * 512 + 7 * 2048 * 0.7 / 0.5) * PER_ENTRY_S + 17 * ROUND.kernel_s)


def test_each_experts_tokens_are_quantised_alone_and_padded():
    """2 experts a GPU (e = 8): 4 kernels for each of both tensors of each; 2h + 2f entries of 6 bytes; 4 passes of 2h to pad them."""
    job = replace(MIXTURE, ep=8, precision="fp8", stack=CURRENT.stack)
    forward, backward = difference(expert_traffic(job, ROUND), expert_traffic(replace(job, precision="bf16"), ROUND))
    assert forward == pytest.approx(6 * (2048 + 1024) * 512e-12 + 4 * 2048 * PER_ENTRY_S + 16 * ROUND.kernel_s)
    assert backward == pytest.approx(6 * (2048 + 1024) * 512e-12 + 4 * 2048 * PER_ENTRY_S + 16 * ROUND.kernel_s)


def test_norms_and_activations_computed_anew_are_in_the_backward_pass():
    anew = with_stack(MIXTURE, recompute_modules=("layernorm", "moe_act"))
    assert difference(attention_traffic(anew, ROUND), attention_traffic(MIXTURE, ROUND)) == pytest.approx((0, 2 * 1024 * PER_ENTRY_S))
    # and the first pass of the activations, 2 x 2f
    assert difference(expert_traffic(anew, ROUND), expert_traffic(MIXTURE, ROUND)) == pytest.approx((0, (2 * 1024 + 2 * 1024) * PER_ENTRY_S))


def test_norms_of_queries_and_keys_move_them_twice_and_three_times():
    forward, backward = difference(attention_traffic(with_stack(ALONE, query_norm=True), ROUND), attention_traffic(ALONE, ROUND))
    assert forward == pytest.approx(2 * 2048 * PER_ENTRY_S + 2 * ROUND.kernel_s)
    assert backward == pytest.approx(3 * 2048 * PER_ENTRY_S + 2 * ROUND.kernel_s)
