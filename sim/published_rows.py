"""Published measurements as a table: one run, memory figure or collective a row, read strictly from CSV."""

import csv
import io
import math
from dataclasses import dataclass, fields
from pathlib import Path

from sim.errors import FormatError, did_you_mean

KINDS = ("iteration", "memory", "collective")
BYTES_MAX = 2_000_000  # of a file: a few thousand rows
ROWS_MAX = 2_000
CELL_MAX = 1_000  # characters
LEAST, LARGEST = 1e-12, 1e18  # of what is published: a picosecond in seconds, an exa of anything


@dataclass(frozen=True)
class PublishedRow:
    """One row as written: numbers where the column has numbers, None where nothing is given, the value as text."""

    id: str
    kind: str
    model: str = ""
    params_b: float | None = None
    layers: int | None = None
    hidden: int | None = None
    heads: int | None = None
    kv: int | None = None
    ffn: int | None = None
    vocab: int | None = None
    seq: int | None = None
    experts: int | None = None
    topk: int | None = None
    gpu: str = ""
    peak_tflops: float | None = None
    gpus: int | None = None
    tp: int | None = None
    pp: int | None = None
    cp: int | None = None
    ep: int | None = None
    dp: int | None = None
    vp: int | None = None
    micro_batch: int | None = None
    global_batch: int | None = None
    recompute: str = ""
    precision: str = ""
    metric: str = ""
    value: str = ""
    unit: str = ""
    derived_iter_s: float | None = None
    derived_tflops_gpu: float | None = None
    consistent: str = ""
    source: str = ""
    confidence: str = ""


MOST = {"layers": 2_000, "pp": 2_000, "vp": 2_000, "tp": 10_000, "cp": 10_000, "gpus": 10_000_000}  # others: 10^12

COLUMNS = tuple(field.name for field in fields(PublishedRow))
COUNTS = {field.name for field in fields(PublishedRow) if field.type == (int | None)}
NUMBERS = {field.name for field in fields(PublishedRow) if field.type == (float | None)}


def read_file(path: str | Path) -> list[PublishedRow]:
    """The rows of a file.

    Raises
    ------
    FormatError
        It cannot be read, or `read_rows` refuses it.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as problem:
        raise FormatError(f"{path}: cannot be read: {problem.strerror}") from None
    return read_rows(content, str(path))


def read_rows(content: bytes, name: str) -> list[PublishedRow]:
    """The rows of a CSV file with the columns `COLUMNS`.

    Raises
    ------
    FormatError
        Other columns, a number that is none, an id twice, or a file that is too large: line, column, value and rule.
    """
    if len(content) > BYTES_MAX:
        raise FormatError(f"{name}: {len(content):,} bytes: must be at most {BYTES_MAX:,}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise FormatError(f"{name}: byte {problem.start} is no UTF-8: save the table as CSV in UTF-8") from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        _check_header(next(reader, []), name)
        rows = [_row(cells, f"{name}: line {reader.line_num}") for cells in reader if any(cells)]
    except csv.Error as problem:
        raise FormatError(f"{name}: line {reader.line_num}: {problem}") from None
    if not rows:
        raise FormatError(f"{name}: holds no rows below its header")
    if len(rows) > ROWS_MAX:
        raise FormatError(f"{name}: {len(rows):,} rows: must be at most {ROWS_MAX:,}")
    seen: set[str] = set()
    for row in rows:
        if row.id in seen:
            raise FormatError(f"{name}: id {row.id!r} occurs twice: every row needs its own")
        seen.add(row.id)
    return rows


def _check_header(header: list[str], name: str) -> None:
    if tuple(header) == COLUMNS:
        return
    unknown = [column for column in header if column not in COLUMNS]
    missing = [column for column in COLUMNS if column not in header]
    if unknown:
        raise FormatError(f"{name}: column {unknown[0]!r} is not known: {did_you_mean(unknown[0], COLUMNS)}")
    if missing:
        raise FormatError(f"{name}: column {missing[0]!r} is missing; the columns are {', '.join(COLUMNS)}")
    raise FormatError(f"{name}: the columns must stand in this order, once each: {', '.join(COLUMNS)}")


def _row(cells: list[str], where: str) -> PublishedRow:
    if len(cells) != len(COLUMNS):
        raise FormatError(f"{where}: {len(cells)} cells: must be {len(COLUMNS)}, as the header has")
    given = {column: cell.strip() for column, cell in zip(COLUMNS, cells, strict=True)}
    for column, cell in given.items():
        if len(cell) > CELL_MAX:
            raise FormatError(f"{where}: {column} has {len(cell)} characters: must be at most {CELL_MAX}")
    if not given["id"]:
        raise FormatError(f"{where}: id is empty")
    if given["kind"] not in KINDS:
        raise FormatError(f"{where}: kind = {given['kind']!r} is not one of the choices: {did_you_mean(given['kind'], KINDS)}")
    return PublishedRow(**{column: _cell(column, cell, where) for column, cell in given.items()})


def _cell(column: str, cell: str, where: str) -> object:
    if column in COUNTS:
        most = MOST.get(column, 10**12)
        if cell and not (cell.isascii() and cell.isdecimal() and len(cell) <= 13 and 1 <= int(cell) <= most):
            raise FormatError(f"{where}: {column} = {cell!r}: must be a whole number from 1 to {most:,}, or empty")
        return int(cell) if cell else None
    if column in NUMBERS:
        number = _number(cell) if cell else None
        if cell and (number is None or number <= 0):
            raise FormatError(f"{where}: {column} = {cell!r}: must be a number above 0, or empty")
        return number
    return cell


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def values_of(row: PublishedRow) -> list[float]:
    """The numbers of `value`: one, or several between slashes (of cases that the metric names), or a range of two; none for words and for
    numbers that measure nothing in the units of this table."""
    separator = "/" if "/" in row.value else "-" if _number(row.value) is None else None
    numbers = [_number(part.strip()) for part in (row.value.split(separator) if separator else [row.value])]
    return numbers if all(number is not None and LEAST <= number <= LARGEST for number in numbers) else []
