"""Ranks on hosts."""

import pytest

from sim.errors import ScenarioError
from sim.workload.placement import idle_hosts, place


def test_ranks_fill_hosts_in_order():
    assert place(4, 6).tolist() == [0, 1, 2, 3]
    assert idle_hosts(4, 6).tolist() == [4, 5]
    assert idle_hosts(6, 6).tolist() == []


def test_too_many_ranks():
    with pytest.raises(ScenarioError, match="9 ranks cannot be placed on 8 hosts"):
        place(9, 8)
