"""Every column of every controller is told apart: a time, a packet number, a value, or a statistic that no rule reads."""

import pytest

from sim.congestion.registry import COLUMNS
from sim.wormhole import columns
from sim.wormhole.columns import COUNTERS, OF_CONTROLLER, SHARED_WORDS, flow_columns
from tests.walls.runs import EVERY_CONTROLLER, fabric, simulation


def test_no_column_is_left_out():
    assert {name for name, _ in COLUMNS} == OF_CONTROLLER.keys() | COUNTERS | SHARED_WORDS


@pytest.mark.parametrize("controller", EVERY_CONTROLLER)
def test_words_do_not_overlap(controller):
    settings = simulation(fabric(controller)).case.settings
    for has_loss in (False, True):
        words = flow_columns(controller, settings, has_loss)["word"]
        assert len(set(words.tolist())) == len(words)


def test_a_column_without_a_kind_is_refused(monkeypatch):
    settings = simulation(fabric("timely")).case.settings
    monkeypatch.delitem(columns.OF_CONTROLLER, "timely_increases")
    with pytest.raises(LookupError, match="timely_increases"):
        flow_columns("timely", settings, False)
