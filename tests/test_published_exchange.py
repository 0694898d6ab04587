"""Exchanges by hand: tensors in all-reduces or gathered and scattered, context, tokens to experts, and what hides them."""

from dataclasses import replace

import pytest

from sim.published_exchange import context, experts, tensor
from sim.published_products import Seconds
from sim.published_rates import ALL_REDUCE_S, ALL_REDUCE_STEP_S, GATHER_AND_SCATTER_S, GATHER_AND_SCATTER_STEP_S
from sim.published_tokens import all_to_all_s
from tests.published_rows import ALONE, MIXTURE, ROUND, SMALL, with_stack

NOTHING, LONG = Seconds(), Seconds(1.0, 2.0)
REDUCED_S = 2 * 7 / 8 * 2**20 / 1e11 + ALL_REDUCE_S + 14 * ALL_REDUCE_STEP_S  # 2Th = 1 MiB among 8 over 100 GB/s
PAIR_S = 2 * 7 / 8 * 2**20 / 1e11 + GATHER_AND_SCATTER_S + 7 * GATHER_AND_SCATTER_STEP_S


def test_all_reduces_are_exposed_or_go_beside_the_gradients_of_the_first_products_weights():
    exposed = with_stack(SMALL, tensor_hidden="none")
    assert tensor(exposed, ROUND, LONG, LONG) == Seconds(pytest.approx(REDUCED_S), pytest.approx(REDUCED_S))
    assert SMALL.stack.tensor_hidden == "backward"
    assert tensor(SMALL, ROUND, NOTHING, LONG) == Seconds(pytest.approx(REDUCED_S), pytest.approx(REDUCED_S))
    assert tensor(SMALL, ROUND, LONG, LONG) == Seconds(pytest.approx(REDUCED_S), 0.0)
    half = Seconds(0.0, REDUCED_S)  # of which half are the gradients of weights
    assert tensor(SMALL, ROUND, half, LONG).backward == pytest.approx(REDUCED_S / 2)
    assert tensor(ALONE, ROUND, LONG, LONG) == Seconds()


def test_with_sequence_parallelism_the_input_is_gathered_a_second_time():
    """Backward: a gather beside nothing, one beside the gradient of the input, a scatter beside those of the weights."""
    job = replace(SMALL, sequence_parallel=True)
    assert tensor(job, ROUND, LONG, LONG) == Seconds(pytest.approx(PAIR_S), pytest.approx(PAIR_S / 2))
    assert tensor(job, ROUND, NOTHING, LONG).backward == pytest.approx(1.5 * PAIR_S)
    assert tensor(with_stack(job, tensor_hidden="none"), ROUND, LONG, LONG).backward == pytest.approx(1.5 * PAIR_S)
    window = Seconds(0.0, PAIR_S / 2)  # a quarter of the pair for the gather and for the scatter each
    assert tensor(job, ROUND, window, LONG).backward == pytest.approx(PAIR_S / 2 + 2 * PAIR_S / 4)
    assert tensor(with_stack(job, tensor_hidden="all"), ROUND, NOTHING, LONG) == Seconds(pytest.approx(PAIR_S / 8), pytest.approx(PAIR_S / 8))


def test_context_is_gathered_or_passed_round():
    """Keys and values of the other part: 2 x 2 x 256 x 1024 bytes over NVLink."""
    job, one = replace(ALONE, cp=2, gpus=2), 2**20 / 1e11
    assert context(with_stack(job, context_hidden=False), ROUND, LONG) == Seconds(pytest.approx(one), pytest.approx(2 * one))
    assert context(job, ROUND, Seconds(one / 4, one)) == Seconds(pytest.approx(one * 3 / 4), pytest.approx(one))
    assert context(ALONE, ROUND, NOTHING) == Seconds()


def test_tokens_to_experts_by_hand():
    """K = 2 copies of 512 hidden states of 2 bytes: 7/16 within the server of 8, 1/2 to the other."""
    states = 512 * 1024 * 2
    assert all_to_all_s(MIXTURE, ROUND, 2) == pytest.approx(states * 2 / 2 / 1e10 + 70e-6)
    near = replace(MIXTURE, ep=8)
    assert all_to_all_s(near, ROUND, 2) == pytest.approx(states * 2 * 7 / 8 / 1e11 + 50e-6)
    # once per server: 2 uniform choices among 2 servers reach 1.5, half of them the other one
    once = with_stack(MIXTURE, experts_once=True)
    assert all_to_all_s(once, ROUND, 2) == pytest.approx(states * 0.75 / 1e10 + 70e-6)


def test_hidden_tokens_cost_multiprocessors_where_their_window_is_long_enough():
    """32 of 128 multiprocessors: 1/3 of the exchange's time more; a short window leaves the rest of the exchange exposed."""
    one = all_to_all_s(MIXTURE, ROUND, 2)
    assert experts(MIXTURE, ROUND, LONG, LONG, 1.0) == Seconds(pytest.approx(2 * one), pytest.approx(2 * one))
    hidden = with_stack(MIXTURE, experts_hidden=True)
    assert experts(hidden, ROUND, LONG, LONG, 1.0) == Seconds(pytest.approx(2 * one / 3), pytest.approx(2 * one / 3))
    # attention forward is short: what comes back from the experts of the other micro-batch waits beside nothing
    assert experts(hidden, ROUND, Seconds(0.0, 1.0), LONG, 1.0) == Seconds(pytest.approx(2 * one / 3), pytest.approx(4 * one / 3))
    # so are the experts' gradients of inputs: 2 s of backward are all those of weights
    assert experts(hidden, ROUND, LONG, LONG, 2.0) == Seconds(pytest.approx(4 * one / 3), pytest.approx(2 * one / 3))
    few = with_stack(hidden, all_to_all_multiprocessors=16)
    assert experts(few, ROUND, LONG, LONG, 1.0).forward == pytest.approx(2 * one / 7)
