"""Records that read alike in compiled code and in plain Python."""

import numpy as np
import pytest

from sim.packet import layout
from sim.player import tables

PADDING = ("pad", "fill")
RECORDS = {
    f"{module.__name__}.{name}": value
    for module in (layout, tables)
    for name, value in vars(module).items()
    if isinstance(value, np.dtype) and value.names
}


@pytest.mark.parametrize("name", RECORDS)
def test_no_field_is_hidden_by_an_attribute_of_numpys_own(name):
    # in plain Python `K.size` of a record would be numpy's: always 1
    hidden = [field for field in RECORDS[name].names if hasattr(np.record, field) and field not in PADDING]
    assert hidden == []


@pytest.mark.parametrize(("name", "lines"), [("PACKET", 1), ("PORT", None), ("NODE", None)])
def test_records_are_whole_cache_lines(name, lines):
    size = getattr(layout, name).itemsize
    assert size % 64 == 0 and (lines is None or size == 64 * lines)
