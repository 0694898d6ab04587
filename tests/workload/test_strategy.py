"""Rank order and groups of a strategy."""

import numpy as np
import pytest

from sim.errors import ScenarioError
from sim.workload.strategy import Strategy, check_strategy

S = Strategy(tp=2, pp=3, dp=4)


def test_rank_order_is_tensor_data_pipeline():
    assert S.world == 24
    assert S.rank(tp=1) == 1
    assert S.rank(dp=1) == 2
    assert S.rank(pp=1) == 8
    assert S.rank(tp=1, dp=3, pp=2) == 23
    assert Strategy(tp=2, pp=3, dp=4, cp=5).rank(tp=1, cp=2, dp=3, pp=1) == 1 + 2 * (2 + 5 * (3 + 4 * 1))


def test_groups_of_a_stage():
    assert S.stage_ranks(1).tolist() == list(range(8, 16))
    assert S.tensor_groups(1).tolist() == [[8, 9], [10, 11], [12, 13], [14, 15]]
    assert S.data_groups(1).tolist() == [[8, 10, 12, 14], [9, 11, 13, 15]]


def test_groups_partition_the_ranks():
    for groups in (S.tensor_groups, S.data_groups):
        everyone = np.concatenate([groups(stage).ravel() for stage in range(S.pp)])
        assert sorted(everyone) == list(range(S.world))


def test_bucket_grows_with_many_replicas():
    assert Strategy(8, 2, 8).bucket_size == 40_000_000
    assert Strategy(2, 1, 64).bucket_size == 64_000_000


def test_tensor_parallelism_needs_nvlink():
    check_strategy(Strategy(1, 1, 8), nvlink_bps=0)
    with pytest.raises(ScenarioError, match=r"tp = 2 needs NVLink .* cluster.nvlink_gbps = 0; .*parallelism.tp = 1"):
        check_strategy(S, nvlink_bps=0)


def test_micro_batches_have_a_bound():
    check_strategy(Strategy(1, 1, 8, micro_batches=32_768), 1)
    with pytest.raises(ScenarioError, match="micro_batches = 32769: must be at most 32768"):
        check_strategy(Strategy(1, 1, 8, micro_batches=32_769), 1)
