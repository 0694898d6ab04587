"""The one error family of the project: every message is a single line a user can act on."""

import difflib
import re
from collections.abc import Iterable

SHOWN = 60  # characters of a faulty word that an error repeats
LONGEST = 400  # characters of a word of a message that are left as they are: names of files may be long
_LONG_WORD = re.compile(rf"\S{{{LONGEST + 1},}}")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
CLOSE = 0.55  # likeness (difflib, 0 to 1) from which a word may be a misspelling of another


def one_line(message: object) -> str:
    """A message as one printable line: line ends and the like, as in names of files, as escapes; endless words cut."""
    text = _LONG_WORD.sub(lambda word: word[0][: SHOWN - 3] + "...", str(message))
    return _UNPRINTABLE.sub(lambda sign: sign[0].encode("unicode_escape").decode(), text)


class LabError(Exception):
    """Anything the user can mend: what is wrong, the value, the rule, the nearest thing that works."""

    def __init__(self, message: object = "") -> None:
        super().__init__(one_line(message))


class ScenarioError(LabError):
    """A scenario, preset, link or topology description that cannot be built."""


class FormatError(LabError):
    """A file of a foreign format that does not say what it should."""


class RunError(LabError):
    """A simulation that cannot go on."""


def quoted(word: object) -> str:
    """A word as an error repeats it: in quotes, and cut if it is long."""
    text = repr(str(word)[: SHOWN + 1])
    return text if len(text) <= SHOWN else text[: SHOWN - 4] + "...'"


def nearest_words(word: object, choices: Iterable[object]) -> str:
    """For long lists: the closest of `choices` to `word`, or three where none is close: "did you mean 'x'?", "the nearest are 'x', 'y', 'z'"."""
    folded = {str(choice).lower(): str(choice) for choice in choices}
    close = difflib.get_close_matches(str(word).lower(), folded, n=1, cutoff=CLOSE)
    if close:
        return f"did you mean {folded[close[0]]!r}?"
    return "the nearest are " + ", ".join(repr(folded[name]) for name in difflib.get_close_matches(str(word).lower(), folded, n=3, cutoff=0.0))


def did_you_mean(word: object, choices: Iterable[object]) -> str:
    """The closest of `choices` to `word`, then all of them: "did you mean 'x'? known: a, b, c"."""
    names = [str(choice) for choice in choices]
    if not names:
        return "none are known"
    folded = {name.lower(): name for name in names}
    close = difflib.get_close_matches(str(word).lower(), folded, n=1, cutoff=CLOSE)
    known = "known: " + ", ".join(names)
    return f"did you mean {folded[close[0]]!r}? {known}" if close else known
