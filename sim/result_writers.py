"""A result on disk or as one archive: every table as CSV or parquet, the summary, and the data dictionary."""

import io
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from sim.errors import FormatError, did_you_mean
from sim.result_dictionary import dictionary_table
from sim.result_tables import seconds

FORMATS = ("csv", "parquet")


def series_table(result) -> pd.DataFrame:
    """Port series in long form, only bins in which a port did something."""
    series = result.series
    active = (series.tx_bytes > 0) | (series.max_queue_bytes > 0) | (series.ecn_marks > 0) | (series.paused_s > 0)
    port, bin = np.nonzero(active)
    edges = series.edges_s
    return pd.DataFrame(
        {
            "port_id": port,
            "bin_start_s": edges[bin],
            "bin_end_s": edges[bin + 1],
            "tx_bytes": series.tx_bytes[port, bin],
            "max_queue_bytes": series.max_queue_bytes[port, bin],
            "ecn_marks": series.ecn_marks[port, bin],
            "paused_s": series.paused_s[port, bin],
        }
    )


def paths_table(result) -> pd.DataFrame:
    """One row per flow, path that it took and hop of its data, by flow and time."""
    raw, later = result.raw, result.raw.reroutes
    ptr = np.concatenate((raw.data_ptr, raw.data_ptr[-1] + later.data_ptr[1:]))
    hops = np.diff(ptr)
    flow = np.concatenate((np.arange(len(raw.data_ptr) - 1), later.flow))
    table = pd.DataFrame(
        {
            "flow_id": np.repeat(flow, hops),
            "since_s": np.repeat(seconds(np.concatenate((raw.start_ps[raw.dag.n_tasks :], later.at_ps))), hops),
            "hop": np.arange(ptr[-1]) - np.repeat(ptr[:-1], hops),
            "port_id": np.concatenate((raw.data_ports[: raw.data_ptr[-1]], later.data_ports)),
        }
    )
    return table.sort_values("flow_id", kind="stable", ignore_index=True) if len(later.flow) else table


def tables(result) -> dict[str, pd.DataFrame]:
    """Every table of a result by name, as in the data dictionary."""
    return {
        "flows": result.flows,
        "tasks": result.tasks,
        "ports": result.ports,
        "critical_path": result.critical_path,
        "episodes": result.episodes,
        "partitions": result.partitions,
        "patterns": result.patterns,
        "port_series": series_table(result),
        "paths": paths_table(result),
    }


def encoded(table: pd.DataFrame, format: str) -> bytes:
    """A table as the content of a CSV or parquet file."""
    sink = io.BytesIO()
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    if format == "csv":
        pa.csv.write_csv(arrow, sink)
    else:
        pa.parquet.write_table(arrow, sink)
    return sink.getvalue()


def files(result, format: str = "csv"):
    """Yield (file name, content) of everything that is written for a result."""
    if format not in FORMATS:
        raise FormatError(f"table format {format!r} is not one of the choices: {did_you_mean(format, FORMATS)}")
    yield "summary.json", json.dumps(result.summary, indent=2).encode()
    yield "data_dictionary.csv", encoded(dictionary_table(), "csv")
    for name, table in tables(result).items():
        yield f"{name}.{format}", encoded(table, format)


def write_tables(result, directory: str | Path, format: str = "csv") -> list[Path]:
    """Write every table, the summary and the dictionary into a directory; returns the paths."""
    directory = Path(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        written = []
        for name, content in files(result, format):
            (directory / name).write_bytes(content)
            written.append(directory / name)
    except OSError as problem:
        raise FormatError(
            f"cannot write tables to {directory}: {problem.strerror}; choose a directory you may write to"
        ) from problem
    return written


def tables_archive(result, format: str = "csv") -> bytes:
    """The same files as one zip archive in memory."""
    return archive_of(files(result, format))


def archive_of(named: Iterable[tuple[str, bytes]]) -> bytes:
    """(file name, content) of any files as one zip archive in memory."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in named:
            archive.writestr(name, content)
    return sink.getvalue()
