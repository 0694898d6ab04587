"""The network with a partition's ports on it."""

import numpy as np

from views.figures.partition_map import partition_map
from views.parts import palette


def test_own_ports_have_a_halo_and_those_of_others_thin_lines(gpt):
    figure = partition_map(gpt.network, np.array([0, 3, 5]), np.array([8, 9]))
    by_name = {trace.name: trace for trace in figure.data}
    assert by_name["3 ports of the chosen partition"].line.color == palette.SELECTED
    assert np.isfinite(np.asarray(by_name["other partitions' ports"].x, float)).sum() == 4
    assert any(trace.hovertext and gpt.network.port_name(3) in trace.hovertext for trace in figure.data)


def test_without_partitions_the_network_alone_is_drawn(gpt):
    none = np.zeros(0, int)
    assert not any(trace.name and "partition" in trace.name for trace in partition_map(gpt.network, none, none).data)
