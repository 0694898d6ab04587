"""Numbers in words: as `sim.units` writes them, with a micro sign, and estimates that claim no more than they know."""

from sim import units
from sim.units import show_bytes, show_count, show_rate

__all__ = ["file_stem", "plain", "plural", "roughly", "show_bytes", "show_count", "show_rate", "show_time"]


def show_time(seconds: float) -> str:
    """Seconds as "12.3 µs" or "1.23 ms"."""
    return units.show_time(seconds).replace(" us", " µs")


def plain(text: str) -> str:
    """Text that others wrote, safe in Markdown: no link or image in it is followed or fetched."""
    return "".join("\\" + letter if letter in "\\[]<$`*" else letter for letter in text)


def file_stem(name: str) -> str:
    """A scenario's name as the beginning of a file name."""
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name)[:60] or "scenario"


def roughly(seconds: float) -> str:
    """A duration that is only an estimate: "under a second", "about 40 s", "about 3 min"."""
    if seconds < 1:
        return "under a second"
    if seconds < 90:
        return f"about {seconds:.0f} s" if seconds < 10 else f"about {round(seconds / 5) * 5} s"
    if seconds < 5400:
        return f"about {seconds / 60:.0f} min"
    return f"about {seconds / 3600:.1f} h"


def plural(count: int, one: str, many: str | None = None) -> str:
    """A count with its noun: "1 switch", "24 switches"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
