"""Numbers in words: as `sim.units` writes them, with a micro sign, and estimates that claim no more than they know."""

import re

from sim import units
from sim.units import show_bytes, show_rate

__all__ = [
    "file_stem", "fine_share", "off", "plain", "plural", "roughly", "roughly_count",
    "show_bytes", "show_count", "show_rate", "show_share", "show_time", "signed", "times", "told",
]  # fmt: skip
EXACT_BELOW = 10_000_000  # longer counts do not fit a tile, and nobody reads their last digits


def show_time(seconds: float) -> str:
    """Seconds as "12.3 µs" or "1.23 ms"."""
    return _micro(units.show_time(seconds))


def show_count(count: float) -> str:
    """A count to the last one, "9,626", or "581 M" where it is long."""
    return f"{count:,.0f}" if count < EXACT_BELOW else units.show_count(count)


def roughly_count(count: float) -> str:
    """A count that is only an estimate: "about 258,000"."""
    return f"about {show_count(float(f'{count:.3g}'))}"


def show_share(share: float) -> str:
    """A share of 1 as "83 %"; what is there is never written as nothing."""
    return "under 1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


def fine_share(share: float) -> str:
    """A share of 1 where the ends matter: "0.014 %", "1.2 %", "47 %", "99.986 %"; what is there is never written as nothing."""
    near = min(share, 1 - share)
    if near <= 0:
        return "100 %" if share >= 1 else "0 %"
    if near < 1e-5:
        return "under 0.001 %" if share < 0.5 else "over 99.999 %"
    digits = 3 if near < 0.001 else 2 if near < 0.01 else 1 if near < 0.1 else 0
    return f"{100 * share:.{digits}f} %"


def off(share: float) -> str:
    """A relative error: "0 %", "under 0.001 %", "0.52 %", "120 %"; what is there is never written as nothing."""
    if share < 5e-15:  # the rounding of a quotient
        return "0 %"
    return "under 0.001 %" if share < 1e-5 else f"{float(f'{100 * share:.2g}'):g} %"


def signed(share: float) -> str:
    """A relative difference with its sign: "+12 %", "−0.52 %", "equal"."""
    if share == 0:
        return "equal"
    sign = "−" if share < 0 else "+"
    return f"under {sign}0.001 %" if abs(share) < 1e-5 else f"{sign}{float(f'{100 * abs(share):.3g}'):g} %"


def times(ratio: float) -> str:
    """A speed-up: "224 ×", "2.4 ×", "0.04 ×"."""
    return f"{ratio:,.0f} ×" if ratio >= 10 else f"{ratio:.{1 if ratio >= 0.1 else 2}f} ×"


def _micro(text: str) -> str:
    return re.sub(r"(?<=\d )us\b", "µs", text)


def told(text: str) -> str:
    """A sentence of the engine as the pages write it, safe in Markdown."""
    return plain(_micro(text))


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
    return f"{show_count(count)} {one if count == 1 else many or one + 's'}"
