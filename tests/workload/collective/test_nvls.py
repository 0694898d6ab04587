"""All-reduce in the NVSwitch: its time against what was measured, and its place in a graph."""

import numpy as np
import pytest

from sim.workload.blocks import FlowKind, TaskKind
from sim.workload.collect import Work
from sim.workload.collective import nvls
from sim.workload.collective.registry import template
from sim.workload.collective.template import instantiate
from tests.workload.tiny_player import play

H100, H800 = 3600 * 10**9, 1600 * 10**9


def bus_gbytes_per_s(size, local, rate):
    return 2 * (local - 1) / local * size / nvls.all_reduce_ps(size, local, rate) * 1e12 / 1e9


def test_what_was_measured():
    assert bus_gbytes_per_s(8e9, 8, H100) == pytest.approx(480, rel=1e-3)
    assert bus_gbytes_per_s(1e12, 8, H800) == pytest.approx(213.3, rel=1e-3)
    assert nvls.all_reduce_ps(0, 8, H100) == 25e6, "25 us before the first byte"


def test_time_by_hand():
    """16.777 MB among 4: 5/4 of it leaves each GPU at 0.6857 x 450 GB/s."""
    assert nvls.EFFICIENCY == pytest.approx(480 / 450 * 9 / 14)
    assert nvls.all_reduce_ps(16_777_216, 4, H100) == pytest.approx(25e6 + 16_777_216 * 1.25 / (0.685714 * 450e9) * 1e12, rel=1e-5)


def placed(n, local, chunks=1):
    work = Work()
    plan, times = template("all-reduce", "nvls", n, local, chunks), nvls.switch_ps(n // local, local, H100, chunks)
    instantiate(work, plan, np.arange(n)[None], np.array([8_000_000]), 1, FlowKind.COLLECTIVE, names=lambda k, g: "all-reduce", switch_ps=times)
    dag = work.dag(n)
    dag.validate()
    return dag


def test_in_one_server_it_is_two_tasks_each_and_no_message():
    dag = placed(8, 8)
    assert dag.n_flows == 0 and (dag.task_kind == TaskKind.IN_SWITCH).sum() == 16 and (dag.task_kind == TaskKind.WAIT).sum() == 8
    _, end, _ = play(dag)
    assert end.max() == pytest.approx(nvls.all_reduce_ps(8_000_000, 8, H100), abs=2)
    _, end, _ = play(placed(8, 8, chunks=5))
    assert end.max() == pytest.approx(nvls.all_reduce_ps(8_000_000, 8, H100), rel=1e-5), "what was measured goes on in chunks already"


def test_across_servers_rails_all_reduce_their_shares_in_between():
    dag = placed(16, 8)
    assert dag.n_flows == 16 * 2 and set(dag.flow_bytes.tolist()) == {500_000}
    _, end, _ = play(dag, flow_ps=lambda size: 20 * size)
    one_way = 8_000_000 / (0.685714 * 450e9) * 1e12
    assert end.max() == pytest.approx(25e6 + 2 * one_way + 2 * 20 * 500_000, rel=1e-6)


def test_chunks_read_while_others_are_written():
    one_way = 8_000_000 / (0.685714 * 450e9) * 1e12
    _, end, _ = play(placed(16, 8, chunks=50), flow_ps=lambda size: 0)
    assert end.max() == pytest.approx(25e6 / 2 + one_way, rel=0.05)
