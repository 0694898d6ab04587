"""The 1F1B schedule by hand and in general."""

import pytest

from sim.workload.schedule.one_f_one_b import in_flight, order
from sim.workload.schedule.order import Op


def text(stage, stages, micro_batches):
    found = order(stage, stages, micro_batches)
    return " ".join(f"{'FB'[op]}{m}" for op, m in zip(found.op, found.micro_batch))


def test_four_stages_by_hand():
    assert text(0, 4, 5) == "F0 F1 F2 F3 B0 F4 B1 B2 B3 B4"
    assert text(1, 4, 5) == "F0 F1 F2 B0 F3 B1 F4 B2 B3 B4"
    assert text(2, 4, 5) == "F0 F1 B0 F2 B1 F3 B2 F4 B3 B4"
    assert text(3, 4, 5) == "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4"


def test_fewer_micro_batches_than_stages():
    assert text(0, 4, 2) == "F0 F1 B0 B1"
    assert text(0, 1, 2) == "F0 B0 F1 B1"


@pytest.mark.parametrize("stages", [1, 2, 5])
@pytest.mark.parametrize("micro_batches", [1, 2, 7])
def test_each_pass_once_and_no_more_in_flight_than_said(stages, micro_batches):
    for stage in range(stages):
        found = order(stage, stages, micro_batches)
        backward, micro_batch = found.op == Op.BACKWARD, found.micro_batch
        assert sorted(micro_batch[backward]) == sorted(micro_batch[~backward]) == list(range(micro_batches))
        held = peak = 0
        for is_backward in backward:
            held += -1 if is_backward else 1
            peak = max(peak, held)
        assert peak == in_flight(stage, stages, micro_batches)
