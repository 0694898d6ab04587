"""Rows of the model catalogue against the parameter counts that were published."""

import pytest

from sim.catalogue.models import MODELS


@pytest.mark.parametrize("name", MODELS)
def test_rows_are_keyed_by_name_and_say_where_they_come_from(name):
    row = MODELS[name]
    assert row.name == name
    assert row.source.startswith("arXiv ")
    assert row.hidden % row.heads == 0


@pytest.mark.parametrize(("name", "billions"), [("gpt-7b", 7.5), ("gpt-22b", 22), ("gpt-175b", 175), ("gpt-1t", 1008)])
def test_published_parameter_counts(name, billions):
    row = MODELS[name]
    # arXiv 2104.04473 eq. 2 with sequence 2048
    parameters = 12 * row.layers * row.hidden**2 * (
        1 + 13 / (12 * row.hidden) + (row.vocabulary + 2048) / (12 * row.layers * row.hidden))
    assert parameters / 1e9 == pytest.approx(billions, rel=0.03)
