"""Activation bytes against table 2 and figure 1 of arXiv 2205.05198, and by hand for what that paper does not have."""

import numpy as np
import pytest

from sim.workload.activations import attention_bytes, head_bytes, layer_bytes, mlp_bytes, passes_in_flight
from sim.workload.schedule.choose import order_of
from sim.workload.schedule.order import Op
from sim.workload.transformer import Shape, head_activation_bytes, layer_activation_bytes

SMALL = Shape(4, 8, 2, 32, 1000, 16)
SBH = 16 * 2 * 8  # micro-batch 2
FIGURE_1 = {  # shape, micro-batch, layers in flight on the first stage, GiB without recomputation and with selective + SP
    "22B": (Shape(48, 6144, 64, 24_576, 51_200, 2048), 4, 48, 59.25, 9.5625),
    "175B": (Shape(96, 12_288, 96, 49_152, 51_200, 2048), 1, 96 * (1 + 7 / 24), 66.84375, 12.3515625),
    "1T": (Shape(128, 25_600, 160, 102_400, 51_200, 2048), 1, 128, 131.25, 26.5625),
}


@pytest.mark.parametrize("tp", [1, 2, 4])
def test_table_2(tp):
    core = 5 * 2 * 16 / 8
    assert layer_bytes(SMALL, 2, tp) == SBH * (10 + 24 / tp + core / tp)
    assert layer_bytes(SMALL, 2, tp) == layer_activation_bytes(SMALL, 2, tp)
    assert layer_bytes(SMALL, 2, tp, sequence_parallel=True) == SBH * (34 + core) / tp
    assert layer_bytes(SMALL, 2, tp, recompute="selective") == SBH * (10 + 24 / tp)
    assert layer_bytes(SMALL, 2, tp, recompute="selective", sequence_parallel=True) == 34 * SBH / tp
    assert layer_bytes(SMALL, 2, tp, recompute="full") == 2 * SBH
    assert head_bytes(SMALL, 2, tp) == head_activation_bytes(SMALL, 2, tp)


@pytest.mark.parametrize("name", FIGURE_1)
def test_figure_1(name):
    shape, micro_batch, layers, none, selective = FIGURE_1[name]
    assert layer_bytes(shape, micro_batch, 8) * layers / 2**30 == none
    assert layer_bytes(shape, micro_batch, 8, recompute="selective", sequence_parallel=True) * layers / 2**30 == selective


def test_context_parallelism_divides_the_sequence():
    """Scores too: s/c queries of each GPU against all s keys."""
    for recompute in ("none", "selective", "full"):
        assert layer_bytes(SMALL, 2, 1, cp=4, recompute=recompute) == layer_bytes(SMALL, 2, 1, recompute=recompute) / 4
    assert head_bytes(SMALL, 2, 2, cp=2) == head_bytes(SMALL, 2, 2) / 2


def test_llama_by_hand():
    """h = 8, 4 heads of 2 and 2 of keys and values, f = 24: no masks, no dropout; the core 2as."""
    llama = Shape(2, 8, 4, 24, 100, 16, kv_heads=2, gated=True, biased=False, tied=False)
    # 4 norms' and 4 blocks' h; q, result 2 x 2 x 8; k, v 2 x 2 x 4; gate, up, product 3 x 2 x 24; softmax 2 x 4 x 16
    assert layer_bytes(llama, 1) == 16 * (4 * 8 + 4 * 8 + 32 + 16 + 144 + 128)
    # t = 4: one head of keys and values each
    assert attention_bytes(llama, 4, core=False) == 32 / 4 + 2 * 2 * 2
    assert mlp_bytes(llama) == 144


def test_experts_by_hand():
    """E = 8, K = 2, one shared, f = 12 each, gated: what is dispatched and returned, the router's fp32, three experts' products."""
    mixture = Shape(2, 8, 2, 24, 100, 16, gated=True, biased=False, experts=8, top_k=2, expert_ffn=12, shared_experts=1, dense_layers=1)
    plain = layer_bytes(mixture, 1, recompute="selective")
    assert layer_bytes(mixture, 1, recompute="selective", experts=True) - plain == 16 * (8 * 8 + 4 * 2 * 8 + 6 * 12 * 3 - 6 * 24)


def test_latent_attention_by_hand():
    """Ranks 12 and 6, heads of 4 with 2 rotary, v 3: latents whole on every GPU, heads over t."""
    latent = Shape(2, 8, 2, 32, 100, 16, biased=False, latent=(12, 6, 4, 2, 3))
    heads, latents = 2 * 2 * (4 + 4 + 3 + 3), 2 * (2 * 12 + 2 * 6 + 2)
    assert layer_bytes(latent, 1, 2, recompute="selective") == 16 * (64 + latents + (heads + 4 * 32) / 2)


SCHEDULES = [("1f1b", 1), ("gpipe", 1), ("zb-h1", 1), ("interleaved", 2), ("interleaved", 3)]


@pytest.mark.parametrize(("schedule", "chunks"), SCHEDULES)
@pytest.mark.parametrize(("stages", "micro_batches"), [(2, 2), (4, 4), (4, 8), (4, 12), (1, 3)])
def test_passes_in_flight_are_the_peak_of_the_schedule(schedule, chunks, stages, micro_batches):
    for stage in range(stages):
        order = order_of(schedule, stage, stages, micro_batches, chunks)
        ends = Op.WEIGHT if schedule == "zb-h1" else Op.BACKWARD
        peak = np.cumsum(np.where(order.op == Op.FORWARD, 1, np.where(order.op == ends, -1, 0))).max()
        assert passes_in_flight(schedule, stage, stages, micro_batches, chunks) == peak


def test_the_first_stage_of_an_interleaved_pipeline():
    """arXiv 2205.05198 section 4.2.3: l layers' worth x (1 + (p - 1)/(pv))."""
    p, v, m = 8, 3, 64
    assert passes_in_flight("interleaved", 0, p, m, v) / (p * v) == pytest.approx(1 + (p - 1) / (p * v))
