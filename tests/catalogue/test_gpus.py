"""Rows of the GPU catalogue: sources, directions and dense peaks."""

import pytest

from sim.catalogue.gpus import GPUS


@pytest.mark.parametrize("name", GPUS)
def test_rows_are_keyed_by_name_and_say_where_they_come_from(name):
    assert GPUS[name].name == name
    assert "datasheet" in GPUS[name].source or "arXiv" in GPUS[name].source


def test_nvlink_is_one_direction():
    assert GPUS["H100-SXM"].nvlink_bps == 450 * 8 * 10**9
    assert GPUS["A100-SXM-80"].nvlink_bps == 300 * 8 * 10**9


def test_peaks_are_dense():
    assert GPUS["A100-SXM-80"].peak_flops == 312e12
    assert round(GPUS["H100-SXM"].peak_flops / 1e12) == 989
    assert GPUS["B200-SXM"].peak_flops == 2250e12


@pytest.mark.parametrize("name", GPUS)
def test_fp8_is_twice_bf16_where_there_is_any(name):
    row = GPUS[name]
    assert row.peak_fp8_flops == (0 if name.startswith("A100") else pytest.approx(2 * row.peak_flops, rel=1e-4))
