"""Words, numbers and lines of a text file, with the places where they stand."""

import re
from bisect import bisect_right
from itertools import accumulate
from pathlib import Path

from sim.errors import FormatError, did_you_mean, quoted
from sim.units import MAX_DIGITS, plain_number

MAX_FILE_BYTES = 500_000_000
MAX_NAMES_SHOWN = 20
_LONG_NUMBER = re.compile(rf"\d{{{MAX_DIGITS + 1},}}")
_WHOLE = re.compile(r"([0-9]+)(?:\.0*)?", re.ASCII)


def read_bytes(path: str | Path) -> bytes:
    """The bytes of `path`; FormatError when there is none, or it is too large."""
    path = Path(path)
    try:
        if path.exists() and not path.is_file():
            raise FormatError(f"{path}: is not a file that can be read")
        if path.stat().st_size > MAX_FILE_BYTES:
            raise FormatError(f"{path}: is {path.stat().st_size} bytes; at most {MAX_FILE_BYTES} are read")
        return path.read_bytes()
    except FileNotFoundError:
        beside = sorted(other.name for other in path.parent.iterdir() if other.is_file()) if path.parent.is_dir() else []
        raise FormatError(f"{path}: there is no such file: {did_you_mean(path.name, beside[:MAX_NAMES_SHOWN])}") from None
    except (OSError, ValueError) as problem:
        raise FormatError(f"{path}: cannot be read: {problem}") from None


def read_text(path: str | Path) -> str:
    """The text of `path`; FormatError when there is none, it is not text, or it is too large."""
    return text_of(read_bytes(path), str(path))


def text_of(content: bytes, file: str) -> str:
    """The text of a file's bytes, UTF-8 with or without a byte order mark, with any line ends.

    Raises
    ------
    FormatError
        The file is empty, is not text, or holds a number longer than any number can be.
    """
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as problem:
        raise FormatError(f"{file}: cannot be read as text: byte {problem.start} is not UTF-8") from None
    if not text.strip():
        raise FormatError(f"{file}: is empty")
    long = _LONG_NUMBER.search(text)
    if long:
        line = text.count("\n", 0, long.start()) + 1
        raise FormatError(f"{file}:{line}: a number of {len(long[0])} digits: no number here has more than {MAX_DIGITS}")
    return text


def rows_of(text: str) -> list[tuple[int, list[str]]]:
    """(line number from 1, words) of every line that has any."""
    return [(line, words) for line, row in enumerate(text.split("\n"), 1) if (words := row.split())]


def whole(word: str, place: str, what: str, low: int = 0, high: int = 2**63 - 1) -> int:
    """A whole number of `low` to `high`, `12` or `12.0`; FormatError with place, value, rule and the nearest legal one."""
    found = _WHOLE.fullmatch(word)
    if found and len(found[1]) <= MAX_DIGITS and low <= int(found[1]) <= high:
        return int(found[1])
    raise FormatError(f"{place}: {what} {quoted(word)}: must be a whole number from {low} to {high}{_instead(word, low, high)}")


def _instead(word: str, low: int, high: int) -> str:
    """What would have worked in the place of `word`."""
    if len(word) > MAX_DIGITS:
        return ""
    value = int(found[1]) if (found := _WHOLE.fullmatch(word)) else plain_number(word)
    return f", like {low}" if value is None else f"; the nearest is {round(min(max(value, low), high))}"


class LineOfWord:
    """Line number (from 1) of the n-th whitespace-separated word of a text."""

    def __init__(self, text: str) -> None:
        self._words_before = list(accumulate(len(row.split()) for row in text.splitlines()))

    def __call__(self, word: int) -> int:
        return bisect_right(self._words_before, word) + 1
