"""Bars of bytes, memory and the critical path: their lengths are the numbers, their colours the kinds."""

import pytest

from sim.preset import load_preset
from sim.workload.bytes import bytes_per_gpu as sent
from sim.workload.memory import feasibility
from tests import fabricate
from views.figures.shares import OTHERS, bytes_per_gpu, memory_per_gpu, parts_of_path, path_shares
from views.parts import palette

OVER = {"TP": "NVLink", "PP": "network", "DP": "NVLink and network", "EMBEDDING": "network"}


def test_bytes_of_the_busiest_stage_by_kind():
    rows = sent(load_preset("gpt-7b-64"))
    (bars,) = bytes_per_gpu(rows, OVER).data
    assert list(bars.y) == ["TP (NVLink)", "PP (network)", "DP (NVLink and network)", "embedding (network)"]
    assert list(bars.marker.color) == [palette.KINDS[kind] for kind in ("TP", "PP", "DP", "embedding")]
    data = max(row.sent_bytes for row in rows if row.kind == "DP")
    assert bars.x[2] * 1e9 == pytest.approx(data)
    assert bytes_per_gpu(rows, OVER).layout.xaxis.title.text == "sent per GPU and iteration (GB)"


def test_nothing_sent_is_said():
    assert "no GPU sends anything" in bytes_per_gpu([], OVER).layout.annotations[0].text


def test_memory_is_stacked_per_stage_against_the_capacity():
    memory = feasibility(load_preset("gpt-7b-64"))
    figure = memory_per_gpu(memory.rows, memory.capacity_bytes)
    assert [trace.name for trace in figure.data] == ["weights", "gradients", "optimizer", "activations"]
    assert sum(trace.x[0] for trace in figure.data) * 1e9 == pytest.approx(memory.rows[0].total)
    assert figure.layout.shapes[0].x0 == 80 and "capacity 80.0 GB" in figure.layout.annotations[0].text
    assert figure.layout.xaxis.range[1] > 80


def test_memory_beyond_capacity_stays_inside_the_chart():
    memory = feasibility(load_preset("gpt-7b-64").replace_all({"model.name": "gpt-175b"}))
    figure = memory_per_gpu(memory.rows, memory.capacity_bytes)
    assert figure.layout.xaxis.range[1] * 1e9 >= max(row.total for row in memory.rows)


def test_parts_of_the_critical_path_fill_the_bar(gpt):
    figure = path_shares(gpt.path_shares_s)
    assert sum(trace.x[0] for trace in figure.data) == pytest.approx(100)
    assert {trace.name for trace in figure.data} >= {"compute", "TP", "DP", "PP"}


def test_a_path_without_steps_is_said():
    assert "nothing was computed" in path_shares({"compute": 0.0}).layout.annotations[0].text


@pytest.mark.parametrize("strategy, wanted", [({"tp": 4, "pp": 2}, "bubble"), ({"tp": 4, "pp": 1}, OTHERS)])
def test_a_bubble_is_one_only_where_there_is_a_pipeline(strategy, wanted):
    result = fabricate.result(fabricate.training(parallelism=strategy))
    parts = parts_of_path(result)
    assert list(parts) == [wanted if name == "bubble" else name for name in result.path_shares_s]
    assert parts[wanted] == result.path_shares_s["bubble"]
    assert path_shares({wanted: 1.0}).data[0].marker.color == palette.KINDS["bubble"]


def test_every_part_of_the_path_is_named_with_room_for_all_names_on_a_phone(gpt):
    figure = path_shares(gpt.path_shares_s)
    assert figure.layout.showlegend and all(trace.name for trace in figure.data)
    parts = dict.fromkeys(("compute", "TP", "bubble", "optimizer"), 1.0)
    assert path_shares(parts).layout.height - path_shares({"compute": 1.0}).layout.height == 20  # three short names fit beside each other
