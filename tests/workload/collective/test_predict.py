"""Predictions by hand: stages one after the other, chunks that fill all lines, the bottleneck of rings with channels."""

import numpy as np
import pytest

from sim.workload.collective.load import Lines
from sim.workload.collective.predict import predict

NVLINK, NIC = 3600e9, 400e9
SIZE = 512_000_000


def transfer_ms(collective, algorithm, n, local, chunks=1, channels=1, near_bps=NVLINK, data=1.0, ack=0.0):
    lines = Lines(np.arange(n) // local, near_bps, NIC, data, ack)
    found = predict(collective, algorithm, n, SIZE, lines, local=local, chunks=chunks, channels=channels, nvlink_bps=3600 * 10**9)
    return 1e3 * found.transfer_s


def test_a_ring_is_as_fast_as_its_slowest_line():
    assert transfer_ms("all-reduce", "ring", 8, 8) == pytest.approx(7 / 4 * 512 / 450)
    assert transfer_ms("all-reduce", "ring", 64, 8) == pytest.approx(2 * 63 / 64 * 512 / 50)


def test_every_channel_brings_a_nic():
    """Eight NICs carry an eighth each; a GPU's NVLink carries the seven rings that do not leave there, 7/8 of all at nine times the rate."""
    for channels in (2, 4, 8):
        assert transfer_ms("all-reduce", "ring", 64, 8, channels=channels) == pytest.approx(2 * 63 / 64 * 512 / channels / 50)


def test_stages_follow_each_other_and_chunks_overlap_them():
    inside, rail = 7 / 8 * 512 / 450, 2 * 7 / 64 * 512 / 50
    assert transfer_ms("all-reduce", "hierarchical", 64, 8) == pytest.approx(2 * inside + rail)
    assert transfer_ms("all-reduce", "hierarchical", 64, 8, chunks=1000) == pytest.approx(max(2 * inside, rail), rel=2e-3)


def test_trees_need_chunks():
    whole = 2 * 512 / 50
    assert transfer_ms("all-reduce", "double-binary-tree", 64, 1, chunks=1000) == pytest.approx(whole, rel=0.01)
    assert transfer_ms("all-reduce", "double-binary-tree", 64, 1) > 4 * whole


def test_nvls_and_the_rails():
    one_way = 512 / (0.685714 * 450)
    assert transfer_ms("all-reduce", "nvls", 8, 8) == pytest.approx(9 / 8 * one_way, rel=1e-5)
    assert transfer_ms("all-reduce", "nvls", 64, 8) == pytest.approx(2 * one_way + 2 * 7 / 64 * 512 / 50, rel=1e-5)
    assert transfer_ms("all-reduce", "nvls", 64, 8, chunks=10_000) == pytest.approx(2 * 7 / 64 * 512 / 50, rel=2e-3), "the rail is the bottleneck"


def test_two_servers_over_a_tree_beat_the_ring():
    """NVIDIA/nccl#812: the NIC carries S, not 2(n-1)/n S."""
    ring = transfer_ms("all-reduce", "ring", 16, 8, channels=1)
    tree = transfer_ms("all-reduce", "double-binary-tree", 16, 8, chunks=10_000)
    assert ring / tree == pytest.approx(2 * 15 / 16, rel=0.01)


def test_all_to_all_leaves_by_every_nic():
    assert transfer_ms("all-to-all", "direct", 64, 8) == pytest.approx(7 / 8 * 512 / 50)
    assert transfer_ms("all-to-all", "pxn", 64, 8) == pytest.approx(7 / 8 * 512 / 50 + 7 / 8 * 512 / 450)


def test_headers_and_acks_take_their_share_of_a_line():
    """A ring of single GPUs: every NIC sends 1.048 bytes for a byte and 0.06 of ACKs for what it gets; in pairs of servers only one of the two."""
    one_each = 2 * 63 / 64 * 512 / 50
    assert transfer_ms("all-reduce", "ring", 64, 1, data=1.048, ack=0.06) == pytest.approx(one_each * 1.108)
    assert transfer_ms("all-reduce", "ring", 64, 8, data=1.048, ack=0.06) == pytest.approx(one_each * 1.048)
    assert transfer_ms("all-to-all", "direct", 64, 1, data=1.048, ack=0.06) == pytest.approx(63 / 64 * 512 / 50 * 1.108)


def test_without_nvlink_all_goes_over_the_nic():
    assert transfer_ms("all-reduce", "ring", 8, 8, near_bps=0) == pytest.approx(7 / 4 * 512 / 50)
    lines = Lines(np.zeros(8, int), 0, NIC)
    assert predict("all-reduce", "ring", 8, 0, lines, local=8).latency_s == pytest.approx((8.4 + 14 * 14) * 1e-6)
