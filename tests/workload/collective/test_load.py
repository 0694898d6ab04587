"""Loads told without steps, against the templates message by message."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from sim.workload.collective.load import LOADS, Lines, line_seconds, load
from sim.workload.collective.registry import LANES, template
from tests.workload.collective.test_registry import cases


def test_every_algorithm_has_its_load():
    assert set(LOADS) == set(LANES)


@pytest.mark.parametrize(("collective", "algorithm"), LANES)
def test_a_load_counts_what_the_template_sends(collective, algorithm):
    @settings(max_examples=25, deadline=None, derandomize=True)
    @given(cases(algorithm))
    def holds(case):
        plan, told = template(collective, algorithm, *case), load(collective, algorithm, *case)
        sent = plan.is_message
        built = Counter(zip(plan.src[sent].tolist(), plan.dst[sent].tolist(), map(Fraction, plan.part[sent].tolist(), plan.parts[sent].tolist())))
        counted = Counter()
        for src, dst, part, parts, times in zip(*(column.tolist() for column in (told.src, told.dst, told.part, told.parts, told.times))):
            counted[src, dst, Fraction(part, parts)] += times
        assert +counted == built
        assert (told.messages, told.tasks) == (int(sent.sum()), int((~sent).sum()))
        assert told.total_bytes(12345) == plan.message_bytes(12345, 1)[sent].sum()

    holds()


@pytest.mark.parametrize("algorithm", ["direct", "pxn", "hierarchical"])
def test_some_senders_stand_for_all(algorithm):
    whole, some = load("all-to-all", algorithm, 64, 8), load("all-to-all", algorithm, 64, 8, senders=5)
    assert some.messages == whole.messages and len(some.src) < len(whole.src) / 10
    assert some.total_bytes(10**6) == pytest.approx(whole.total_bytes(10**6))


def test_time_of_the_lines_by_hand():
    """8 members on 2 servers, 8 MB: in the server 3 x 2 MB at 400 Gb/s, on the rail 2 x 1 MB at 100 Gb/s."""
    told = load("all-reduce", "hierarchical", 8, 4)
    lines = Lines(np.arange(8) // 4, 400e9, 100e9)
    busiest = {stage: seconds.max() for stage, seconds in line_seconds(told, 8_000_000, lines).items()}
    assert busiest == pytest.approx({0: 120e-6, 1: 160e-6, 2: 120e-6})
