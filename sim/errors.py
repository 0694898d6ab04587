"""The one error family of the project: every message is a single line a user can act on."""

import difflib
from collections.abc import Iterable


class LabError(Exception):
    """Anything the user can mend: what is wrong, the value, the rule, the nearest thing that works."""


class ScenarioError(LabError):
    """A scenario, preset, link or topology description that cannot be built."""


class FormatError(LabError):
    """A file of a foreign format that does not say what it should."""


class RunError(LabError):
    """A simulation that cannot go on."""


def did_you_mean(word: object, choices: Iterable[object]) -> str:
    """The closest of `choices` to `word`, then all of them: "did you mean 'x'? known: a, b, c"."""
    names = [str(choice) for choice in choices]
    if not names:
        return "none are known"
    folded = {name.lower(): name for name in names}
    close = difflib.get_close_matches(str(word).lower(), folded, n=1, cutoff=0.55)
    known = "known: " + ", ".join(names)
    return f"did you mean {folded[close[0]]!r}? {known}" if close else known
