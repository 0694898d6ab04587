"""Numbers in words: as `sim.units` writes them, with a micro sign, and estimates that claim no more than they know."""

from sim import units
from sim.units import show_bytes, show_count, show_rate

__all__ = ["plural", "roughly", "show_bytes", "show_count", "show_rate", "show_time"]


def show_time(seconds: float) -> str:
    """ "12.3 µs", "1.23 ms"."""
    return units.show_time(seconds).replace(" us", " µs")


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
    """ "1 switch", "24 switches"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
