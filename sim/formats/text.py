"""Words of a text file with the lines they stand in."""

import re
from bisect import bisect_right
from itertools import accumulate
from pathlib import Path

from sim.errors import FormatError, did_you_mean

MAX_FILE_BYTES = 500_000_000
MAX_DIGITS = 40
_LONG_NUMBER = re.compile(rf"\d{{{MAX_DIGITS + 1},}}")


def read_text(path: str | Path) -> str:
    """The text of `path`; FormatError when there is none, it is not text, or it is too large."""
    path = Path(path)
    try:
        if path.exists() and not path.is_file():
            raise FormatError(f"{path}: is not a file that can be read")
        if path.stat().st_size > MAX_FILE_BYTES:
            raise FormatError(f"{path}: is {path.stat().st_size} bytes; at most {MAX_FILE_BYTES} are read")
        text = path.read_text("utf-8")
    except FileNotFoundError:
        beside = (
            sorted(other.name for other in path.parent.iterdir() if other.is_file()) if path.parent.is_dir() else []
        )
        raise FormatError(f"{path}: there is no such file: {did_you_mean(path.name, beside[:20])}") from None
    except (OSError, ValueError) as problem:
        raise FormatError(f"{path}: cannot be read as text: {problem}") from None
    long = _LONG_NUMBER.search(text)
    if long:
        line = text.count("\n", 0, long.start()) + 1
        raise FormatError(f"{path}:{line}: a number of {len(long[0])} digits: no number here has more than {MAX_DIGITS}")
    return text


class LineOfWord:
    """Line number (from 1) of the n-th whitespace-separated word of a text."""

    def __init__(self, text: str) -> None:
        self._words_before = list(accumulate(len(row.split()) for row in text.splitlines()))

    def __call__(self, word: int) -> int:
        return bisect_right(self._words_before, word) + 1
