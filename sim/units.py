"""Units at the walls: integer picoseconds, bits per second and bytes inside, readable text outside."""

import math
import re
from decimal import Decimal
from fractions import Fraction

PS_PER_S = 10**12
PS_PER_MS = 10**9
PS_PER_US = 10**6
PS_PER_NS = 10**3
BITS_PER_BYTE = 8
BPS_PER_GBPS = 10**9
BYTES_PER_KB = 10**3
BYTES_PER_MB = 10**6
INT64_MAX = 2**63 - 1

_TIME_PS = {"s": PS_PER_S, "ms": PS_PER_MS, "us": PS_PER_US, "ns": PS_PER_NS, "ps": 1}
_PREFIX = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_NUMBER = r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
_PLAIN = re.compile(_NUMBER)
_RATE = re.compile(_NUMBER + r"([kKMGT]?)(bps|b/s|Bps|B/s)")
_TIME = re.compile(_NUMBER + r"(s|ms|us|ns|ps)")


MAX_DIGITS = 40  # of a whole number in a file
LARGEST_EXPONENT = 40  # beyond any size, rate or time: what follows checks ranges


def _scaled(value: float | int | str | Decimal, factor: int) -> int:
    """`value` x `factor` to the nearest integer, exactly for what a decimal number can say."""
    number = Decimal(str(value))
    if number and abs(number.adjusted()) > LARGEST_EXPONENT:
        return 0 if number.adjusted() < 0 else (1 if number > 0 else -1) * 10**LARGEST_EXPONENT
    return round(Fraction(number) * factor)


def is_whole(word: str) -> bool:
    """Whether a word is a whole number in plain digits, 0 to 9, of a length that a number can have."""
    return word.isascii() and word.isdecimal() and len(word) <= MAX_DIGITS


def plain_number(word: str) -> float | None:
    """A number written plainly, like `2`, `.5` or `1e-3`; None for what else Python would take: `2_0`, `nan`, digits of other scripts."""
    return float(word) if _PLAIN.fullmatch(word) else None


def ps_from_s(seconds: float) -> int:
    """Seconds to whole picoseconds."""
    return _scaled(seconds, PS_PER_S)


def ps_from_us(microseconds: float) -> int:
    """Microseconds to whole picoseconds."""
    return _scaled(microseconds, PS_PER_US)


def ps_from_ns(nanoseconds: float) -> int:
    """Nanoseconds to whole picoseconds."""
    return _scaled(nanoseconds, PS_PER_NS)


def bps_from_gbps(gbps: float) -> int:
    """Gb/s to bit/s."""
    return _scaled(gbps, BPS_PER_GBPS)


def bytes_from_kb(kilobytes: float) -> int:
    """kB of 1000 bytes to bytes."""
    return _scaled(kilobytes, BYTES_PER_KB)


def bytes_from_mb(megabytes: float) -> int:
    """MB of 10^6 bytes to bytes."""
    return _scaled(megabytes, BYTES_PER_MB)


def s_from_ps(picoseconds: int) -> float:
    """Picoseconds to seconds."""
    return picoseconds / PS_PER_S


def ps_to_send(size_bytes: int, rate_bps: int) -> int:
    """Serialisation time in ps, rounded up so that no link is ever faster than its rate."""
    return -(-size_bytes * BITS_PER_BYTE * PS_PER_S // rate_bps)


def parse_rate_bps(text: str) -> int | None:
    """Bit/s of "100Gbps", "40Mb/s" or "1.5GBps"; None when the unit is missing or unknown."""
    match = _RATE.fullmatch(text)
    if not match:
        return None
    number, prefix, unit = match.groups()
    return _scaled(number, _PREFIX[prefix] * (BITS_PER_BYTE if unit[0] == "B" else 1))


def parse_time_ps(text: str) -> int | None:
    """Picoseconds of "0.001ms", "1us" or "1000ns"; None when the unit is missing or unknown."""
    match = _TIME.fullmatch(text)
    return _scaled(match[1], _TIME_PS[match[2]]) if match else None


def _engineering(value: float, steps: tuple[tuple[float, str], ...], fixed: bool) -> str:
    """Three significant digits in the largest unit of `steps` (falling) that leaves 1 or more."""
    if math.isnan(value):
        return "n/a"
    if math.isinf(value):
        return "-∞" if value < 0 else "∞"
    rounded = float(f"{value:.3g}")
    size, name = next((step for step in steps if abs(rounded) >= step[0]), steps[-1])
    scaled = float(f"{rounded / size:.4g}")
    digits = 0 if not fixed or scaled == 0 else max(0, 2 - math.floor(math.log10(abs(scaled))))
    number = f"{scaled:.{digits}f}" if fixed else f"{scaled:.4g}"
    return f"{number} {name}".rstrip()


_TIME_STEPS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"), (1e-12, "ps"))
_SI_STEPS = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def show_time(seconds: float) -> str:
    """Seconds as "1.23 ms"."""
    return "0 s" if seconds == 0 else _engineering(seconds, _TIME_STEPS, fixed=True)


def show_plural(count: int, one: str, many: str | None = None) -> str:
    """A count with its noun, whose plural is `one`s unless given: "1 flow", "1,200 flows"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def show_bytes(n_bytes: float) -> str:
    """Bytes in SI units (1000-based) as "4.00 MB"; below 1000 as whole bytes."""
    if abs(n_bytes) < 999.5:
        return f"{n_bytes:.0f} B"
    return _engineering(n_bytes, tuple((size, name + "B") for size, name in _SI_STEPS), fixed=True)


def show_rate(bps: float) -> str:
    """Bit/s as "400 Gb/s"."""
    return _engineering(bps, tuple((size, name + "b/s") for size, name in _SI_STEPS), fixed=False)


def show_count(count: float) -> str:
    """A plain count as "1.1 G"."""
    return _engineering(count, _SI_STEPS, fixed=False)


def show_number(value: float) -> str:
    """A number as people write it: "10000000", "0.00001", not "1e+07"; 15 significant digits at most."""
    text = f"{value:.15g}"
    return f"{value:.20f}".rstrip("0").rstrip(".") if 1e-12 <= abs(value) < 1e-4 and "e" in text else text
