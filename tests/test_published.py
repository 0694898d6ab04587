"""The project's table of published measurements, predicted within the targets; several numbers in a cell; skipped rows say why."""

import pytest

from sim.published import (
    MEAN_WANTED,
    REFERENCE,
    WORST_WANTED,
    cases_of,
    mean_abs_error,
    reference_fit,
    validate,
    worst,
)
from sim.published_models import NotGiven
from sim.published_rows import read_file
from tests.published_rows import cells, read, row


@pytest.fixture(scope="module")
def found():
    return validate(read_file(REFERENCE))


def test_iterations_are_within_the_target_on_average(found):
    rows = found.of_kind("iteration")
    assert len(rows) == 74
    assert mean_abs_error(rows) < MEAN_WANTED
    assert sum(abs(row.error) <= WORST_WANTED for row in rows) >= 66


def test_the_software_that_is_furthest_off_is_known(found):
    """Mixtures in fp8 on H100, DeepSpeed's pipeline and ZeRO-3, wide tensor parallelism on B200: nothing else is off by more than a tenth."""
    far = {row.stack for row in found.of_kind("iteration") if abs(row.error) > WORST_WANTED + 0.005}
    assert far <= {
        "Megatron-Bridge", "Megatron-Bridge, overlapped all-to-all", "DeepSpeed with Megatron 2021", "DeepSpeed ZeRO-3 2021", "Megatron-LM by SimuMax"
    }  # fmt: skip


def test_memory_is_exact_and_collectives_are_near(found):
    assert worst(found.of_kind("memory")).error == pytest.approx(0, abs=1e-12)
    assert mean_abs_error(found.of_kind("collective")) < 0.05


def test_every_row_is_compared_or_says_why_not(found):
    ids = {row.id.partition(" (")[0] for row in found.rows} | {row.id for row in found.skipped}
    assert {row.id for row in read_file(REFERENCE)} == ids
    assert all(row.why for row in found.skipped)


def test_parts_are_the_step(found):
    for row_ in found.of_kind("iteration"):
        assert sum(row_.parts_s.values()) == pytest.approx(row_.predicted_s)
        faster = row_.predicted_s < row_.published_s
        assert faster == ((row_.error > 0) == (row_.unit in ("TFLOP/s", "tokens/s", "%", "1e9"))) or abs(row_.error) < 1e-9


def test_one_efficiency_for_each_gpu_and_precision(found):
    assert set(found.fitted) == {"A100-SXM-80 bf16", "A100-SXM-80 fp16", "B200-SXM bf16", "H100-SXM bf16", "H100-SXM fp8", "H800-SXM fp8"}
    assert all(0.3 < one.efficiency < 0.9 for one in found.fitted.values())


def test_another_table_is_predicted_with_the_efficiencies_of_this_one():
    """A row that claims to be twice as fast is off by two: it does not pull the fit."""
    (honest,), (claimed,) = (validate(read(cells(row(value=value)))).rows for value in ("18.13", "9.065"))
    assert honest.predicted == claimed.predicted
    assert claimed.error == pytest.approx(2 * (honest.error + 1) - 1)
    assert validate(read(cells(row()))).fitted == reference_fit()


@pytest.mark.parametrize(
    ("value", "metric", "cases"),
    [
        ("137", "any", [("", 137)]),
        ("48-49", "payload rate", [("", 48.5)]),
        ("49.2/54.3", "MFU Megatron-LM / MegaScale", [("MFU Megatron-LM", 49.2), ("MegaScale", 54.3)]),
        ("84.8/96", "busbw, 128 MB: average / peak", [("average", 84.8), ("peak", 96)]),
        ("18.5/27.2/36.2", "all-reduce busbw 2/4/8 MiB", [("2 MiB", 18.5), ("4 MiB", 27.2), ("8 MiB", 36.2)]),
    ],
)
def test_several_numbers_in_a_cell(value, metric, cases):
    assert cases_of(row(value=value, metric=metric)) == cases


def test_numbers_without_names_are_refused():
    with pytest.raises(NotGiven, match="has 3 numbers, and 'busbw' does not name as many"):
        cases_of(row(value="1/2/3", metric="busbw"))
    with pytest.raises(NotGiven, match="value 'about 1 NIC' is no number"):
        cases_of(row(value="about 1 NIC"))


def test_two_programs_in_a_row_are_compared_apart():
    weak = row(metric="MFU Megatron-LM / MegaScale", unit="%", value="49/54", source="arXiv 2402.15627 Fig 9", recompute="")
    found = validate(read(cells(weak)))
    assert [one.id for one in found.rows] == ["gpt (Megatron-LM 2023)", "gpt (MegaScale)"]
    assert found.rows[0].predicted < found.rows[1].predicted
