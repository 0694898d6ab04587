"""Tables of a result on disk and in an archive read back as they were."""

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest

from sim.errors import FormatError
from sim.result import Result
from sim.result_dictionary import COLUMNS
from sim.result_writers import tables, tables_archive, write_tables
from tests import fabricate


@pytest.fixture(scope="module")
def incast() -> Result:
    return fabricate.result(fabricate.scenario())


@pytest.fixture(scope="module")
def partial() -> Result:
    return fabricate.result(fabricate.training(), stop_after=0.5)


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_written_tables_read_back_as_they_were(partial, tmp_path, format):
    written = write_tables(partial, tmp_path / "out", format)
    assert {path.name for path in written} == {
        "summary.json",
        "data_dictionary.csv",
        *(f"{name}.{format}" for name in COLUMNS),
    }
    read = pd.read_csv if format == "csv" else pd.read_parquet
    for name, table in tables(partial).items():
        back = read(tmp_path / "out" / f"{name}.{format}")
        assert list(back.columns) == list(table.columns) and len(back) == len(table)
        for column in table.select_dtypes("number").columns:
            np.testing.assert_array_equal(back[column].to_numpy(), table[column].to_numpy(), err_msg=f"{name}.{column}")


def test_archive_holds_the_same_files(incast):
    archive = zipfile.ZipFile(io.BytesIO(tables_archive(incast)))
    assert archive.testzip() is None
    assert json.loads(archive.read("summary.json")) == incast.summary
    assert len(pd.read_csv(io.BytesIO(archive.read("flows.csv")))) == 4


def test_unknown_format_and_unwritable_place_are_one_clear_line(incast, tmp_path):
    with pytest.raises(FormatError, match="table format 'cvs' is not one of the choices: did you mean 'csv'"):
        write_tables(incast, tmp_path, "cvs")
    (tmp_path / "file").write_text("")
    with pytest.raises(FormatError, match="cannot write tables to .*file"):
        write_tables(incast, tmp_path / "file")
