"""Words of a text file with the lines they stand in."""

from bisect import bisect_right
from itertools import accumulate
from pathlib import Path

from sim.errors import FormatError, did_you_mean

MAX_FILE_BYTES = 500_000_000


def read_text(path: str | Path) -> str:
    """The text of `path`; FormatError when there is none, it is not text, or it is too large."""
    path = Path(path)
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise FormatError(f"{path}: is {path.stat().st_size} bytes; at most {MAX_FILE_BYTES} are read")
        return path.read_text("utf-8")
    except FileNotFoundError:
        beside = (
            sorted(other.name for other in path.parent.iterdir() if other.is_file()) if path.parent.is_dir() else []
        )
        raise FormatError(f"{path}: there is no such file: {did_you_mean(path.name, beside[:20])}") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise FormatError(f"{path}: cannot be read as text: {problem}") from None


class LineOfWord:
    """Line number (from 1) of the n-th whitespace-separated word of a text."""

    def __init__(self, text: str) -> None:
        self._words_before = list(accumulate(len(row.split()) for row in text.splitlines()))

    def __call__(self, word: int) -> int:
        return bisect_right(self._words_before, word) + 1
