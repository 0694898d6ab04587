"""Ring collectives: bytes per rank, order of the flows, what waits for what."""

import numpy as np
import pytest

from sim.workload.blocks import Edges, FlowKind
from sim.workload.collective import ring


@pytest.mark.parametrize("n", [2, 3, 8])
@pytest.mark.parametrize(
    ("steps", "factor"), [(ring.all_reduce_steps, 2), (ring.reduce_scatter_steps, 1), (ring.all_gather_steps, 1)]
)
def test_bytes_per_rank(n, steps, factor):
    size = 4 * 840 * n
    flows, _ = ring.ring_series(
        np.arange(n)[None], ring.chunk_bytes(np.array([size // 4]), n, 4), steps(n), FlowKind.DP, 0, 0
    )
    for ends in (flows.src, flows.dst):
        assert np.bincount(ends, flows.n_bytes).tolist() == [factor * (n - 1) / n * size] * n


def test_chunks_are_padded_upwards():
    assert ring.chunk_bytes(np.array([9, 8, 1]), 4, 2).tolist() == [6, 4, 2]


def test_flows_of_two_rings_in_order():
    members = np.array([[0, 2, 4], [1, 3, 5]])
    flows, rings = ring.ring_series(members, np.array([10, 20]), 2, FlowKind.DP, first_node=100, first_collective=7)
    assert len(flows) == 2 * 2 * 2 * 3
    assert rings.flow[0, 0, 0].tolist() == [100, 101, 102]
    assert flows.src[:3].tolist() == [0, 2, 4]
    assert flows.dst[:3].tolist() == [2, 4, 0]
    assert flows.step[:6].tolist() == [0, 0, 0, 1, 1, 1]
    assert flows.collective[::6].tolist() == [7, 8, 9, 10]
    assert flows.n_bytes[[0, 12]].tolist() == [10, 20]
    assert not flows.draw_key.any(), "members, twins in other rings, steps and collectives draw alike"
    assert rings.arrival(1)[1, 1].tolist() == [rings.flow[1, 1, 1, 2], *rings.flow[1, 1, 1, :2]]


def test_edges_of_a_series_by_hand():
    flows, rings = ring.ring_series(np.arange(3)[None], np.array([1, 1]), 2, FlowKind.DP, 10, 0)
    done = Edges()
    ring.chain(rings, ready=np.array([[[0, 1, 2]], [[3, 4, 5]]]), reducing=2, done=done)
    waits = {}
    for before, after in zip(*done.arrays()):
        waits.setdefault(int(after), set()).add(int(before))
    assert waits == {
        10: {0}, 11: {1}, 12: {2},  # first step of the first collective: the own share
        13: {0, 12}, 14: {1, 10}, 15: {2, 11},  # second step: the own share and the arrival from the left
        16: {3, 15}, 17: {4, 13}, 18: {5, 14},  # next collective: its share and the last arrival of the first
        19: {3, 18}, 20: {4, 16}, 21: {5, 17},
    }  # fmt: skip
