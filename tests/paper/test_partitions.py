"""Partitions: components by hand, and their numbers as flows come and go."""

import numpy as np

from sim.paper.outcome import Outcome
from sim.paper.partitions import Census, Partition, components

PORTS = {0: [1, 2], 1: [2, 3], 2: [7], 3: [3, 4], 4: [8, 7]}


def test_components_are_connected_over_ports():
    assert components([0, 1, 2, 3, 4], PORTS.__getitem__) == [([0, 1, 3], {1, 2, 3, 4}), ([2, 4], {7, 8})]


def test_order_is_that_of_the_flows_given():
    assert [group for group, _ in components([3, 2, 1, 4, 0], PORTS.__getitem__)] == [[3, 1, 0], [2, 4]]


def test_a_partition_keeps_its_number_through_merges_and_splits():
    census = Census()
    assert census.numbers([[0], [1]], {}) == [0, 1]
    assert census.numbers([[0, 1, 5]], {0: 0, 1: 1}) == [0] and census.merges == 1
    assert census.numbers([[0], [1, 5], [6]], dict.fromkeys([0, 1, 5], 0)) == [0, 2, 3]
    assert (census.formed, census.merges, census.splits) == (4, 1, 1)


def test_a_census_knows_who_uses_a_port():
    census, outcome = Census(), Outcome(None, None, np.ones(1), 0.05, 10, True)
    one, other = (Partition(number, [number], np.ones(1), ports, outcome, False, 0) for number, ports in enumerate(({1, 2}, {5})))
    census.add(one)
    census.add(other)
    assert census.touched([2, 1, 9]) == {0: one} and census.touched([5, 2]) == {1: other, 0: one}
    census.remove(one)
    assert census.touched([1, 2]) == {} and list(census.active) == [1]
