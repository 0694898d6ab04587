"""Seconds of a layer by hand: how its parts come together, attention, recomputation, logits, on a GPU of round numbers."""

from dataclasses import replace

import pytest

from sim.published_exchange import experts
from sim.published_layer import head, layer
from sim.published_products import attention_products, expert_products
from sim.published_traffic import attention_traffic, expert_traffic
from tests.published_rows import ALONE, MIXTURE, ROUND, SMALL, with_stack


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
def test_recomputation_repeats_the_core_or_everything(recompute):
    plain, found = layer(SMALL, ROUND, False), layer(replace(SMALL, recompute=recompute), ROUND, False)
    for name, part in plain.items():
        again = recompute == "full" or (recompute == "selective" and name == "attention")
        assert found[name].backward == pytest.approx(part.backward + again * part.forward)
    flash = with_stack(replace(SMALL, recompute="selective"), flash=True)
    assert layer(flash, ROUND, False)["attention"] == layer(replace(flash, recompute="none"), ROUND, False)["attention"]


def test_attention_by_way_of_memory_and_in_one_kernel():
    scores = 8 * 512 * 512
    parts = layer(ALONE, ROUND, False)["attention"]
    assert parts.forward == pytest.approx((2 * scores * 256 + 13 * scores) / 1e12)
    assert parts.backward == pytest.approx((4 * scores * 256 + 19 * scores) / 1e12)
    flash = layer(with_stack(ALONE, flash=True), ROUND, False)["attention"]
    assert flash.forward == pytest.approx(scores * 256 / 1e12)
    assert flash.backward == pytest.approx(2.5 * scores * 256 / 5e11)


def test_attention_of_few_heads_waits_for_its_longest_block():
    """4096 rows over all multiprocessors against 8 heads x 512 / 2 rows that they would share: 2 x 4096 x 512 x 256 FLOPs forward."""
    flash, long = with_stack(ALONE, flash=True), replace(ROUND, block_rows=(4096.0, 1024.0))
    found = layer(flash, long, False)["attention"]
    assert found.forward == pytest.approx(2 * 4096 * 512 * 256 / 1e12)
    assert found.backward == layer(flash, ROUND, False)["attention"].backward  # 8 x 512 / 2 = 2048 rows: work decides


def test_a_layer_of_experts_is_attention_and_experts_with_their_exchanges():
    parts = layer(MIXTURE, ROUND, True)
    columns, others = attention_products(MIXTURE, ROUND)
    own, moved = expert_products(MIXTURE, ROUND), (attention_traffic(MIXTURE, ROUND), expert_traffic(MIXTURE, ROUND))
    assert parts["products"] == columns + others + own
    assert parts["memory"] == moved[0] + moved[1]
    assert parts["EP"] == experts(MIXTURE, ROUND, columns, own, own.backward / 2)  # nothing hidden: the windows do not matter
    assert parts["TP"].both == 0
    assert layer(replace(MIXTURE, ep=1), ROUND, True)["EP"].both == 0


def test_hidden_exchanges_have_the_halves_of_the_layer_as_windows():
    hidden = with_stack(MIXTURE, experts_hidden=True)
    columns, others = attention_products(MIXTURE, ROUND)
    parts = layer(hidden, ROUND, True)
    attention = columns + others + parts["attention"] + attention_traffic(MIXTURE, ROUND)
    own = expert_products(MIXTURE, ROUND)
    assert parts["EP"] == experts(hidden, ROUND, attention, own + expert_traffic(MIXTURE, ROUND), own.backward / 2)


def test_projections_of_latent_attention_are_computed_anew_where_the_program_does_so():
    latent = replace(ALONE, shape=replace(ALONE.shape, latent=(384, 128, 96, 32, 64)))
    plain, anew = (layer(with_stack(latent, recompute_modules=modules), ROUND, False)["products"] for modules in ((), ("mla_up_proj",)))
    assert anew.backward - plain.backward == pytest.approx(attention_products(latent, ROUND)[0].forward)
    assert anew.forward == plain.forward


def test_head_stays_in_bf16():
    job, quick = replace(ALONE, precision="fp8"), replace(ROUND, bf16_flops=5e11, memory_bytes_per_s=1e30)
    assert head(job, quick).forward == pytest.approx(2 * 512 * 1024 * 8192 / 5e11)
    slow = replace(ROUND, memory_bytes_per_s=1.0, bf16_flops=1e30)
    fused = head(with_stack(ALONE, fused_loss=True), slow).both
    assert head(ALONE, slow).both - fused == pytest.approx(42 * 512 * 8192)
