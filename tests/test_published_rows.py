"""Reading tables of published measurements: strictly, with line, column, value and rule."""

import pytest

from sim.errors import FormatError
from sim.published import REFERENCE
from sim.published_rows import BYTES_MAX, COLUMNS, read_file, read_rows, values_of
from tests.published_rows import GPT_175B, read, row, table


def refusal(content: bytes) -> str:
    with pytest.raises(FormatError) as refused:
        read_rows(content, "table.csv")
    return str(refused.value)


def test_the_table_of_the_project_reads_whole():
    rows = read_file(REFERENCE)
    assert len(rows) == 113
    assert {row.kind for row in rows} == {"iteration", "memory", "collective"}
    first = rows[0]
    assert (first.id, first.hidden, first.micro_batch, first.derived_iter_s, first.value) == ("megatron-1.7B", 2304, None, 3.528, "137")


def test_cells_become_numbers_or_none():
    (found,) = read({**GPT_175B, "params_b": "174.6", "metric": 'time, "all"'})
    assert found == row(params_b=174.6, metric='time, "all"')
    assert read_rows(b"\xef\xbb\xbf" + table(GPT_175B).replace(b"\n", b"\r\n"), "t") == [row()]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tp": "8.5"}, "line 2: tp = '8.5': must be a whole number from 1 to 10,000, or empty"),
        ({"layers": "2001"}, "line 2: layers = '2001': must be a whole number from 1 to 2,000"),
        ({"tp": "-1"}, "tp = '-1'"),
        ({"heads": "9" * 400}, "heads = "),
        ({"params_b": "nan"}, "params_b = 'nan': must be a number above 0"),
        ({"params_b": "1,5"}, "params_b = '1,5'"),
        ({"kind": "iterations"}, "kind = 'iterations' is not one of the choices: did you mean 'iteration'?"),
        ({"id": ""}, "line 2: id is empty"),
        ({"source": "x" * 1001}, "source has 1001 characters: must be at most 1000"),
    ],
)
def test_a_wrong_cell_is_named(changes, words):
    assert words in refusal(table({**GPT_175B, **changes}))


def test_what_is_no_such_table_is_refused():
    assert "column 'ids' is not known: did you mean 'id'?" in refusal(table(GPT_175B, columns=("ids", *COLUMNS[1:])))
    assert "column 'confidence' is missing" in refusal(table(GPT_175B, columns=COLUMNS[:-1]))
    assert "must stand in this order" in refusal(table(GPT_175B, columns=COLUMNS[::-1]))
    assert "holds no rows" in refusal(table())
    assert "line 2: 2 cells: must be 34" in refusal(table() + b"a,b\n")
    assert "id 'gpt' occurs twice" in refusal(table(GPT_175B, GPT_175B))
    assert "byte 0 is no UTF-8" in refusal(b"\xff")
    assert f"must be at most {BYTES_MAX:,}" in refusal(b" " * (BYTES_MAX + 1))
    assert "line 2" in refusal(table() + b'"a\n')
    with pytest.raises(FormatError, match=r"none\.csv: cannot be read: No such file"):
        read_file("none.csv")


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        ("137", [137]), ("49.2/54.3", [49.2, 54.3]), ("48-49", [48, 49]), ("1e-3", [1e-3]), ("about 1 NIC", []), ("77,98/114", []), ("", []),
        ("-3", []), ("1e-300", []), ("1/1e300", []),
    ],
)  # fmt: skip
def test_numbers_of_a_value(value, numbers):
    assert values_of(row(value=value)) == numbers
