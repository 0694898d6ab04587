"""Bus bandwidth: what a collective would need of every line if it were ideal, so that algorithms and sizes can be compared.

Algorithm bandwidth times a factor that depends on the collective and on how many take part (NVIDIA/nccl-tests,
doc/PERFORMANCE.md). It is no rate on any wire: a tree, or a switch that adds up, moves other bytes than the factor counts.
"""

from dataclasses import dataclass
from fractions import Fraction

from sim.units import show_bytes, show_time

FORMULAS = {
    "all-reduce": "2(n-1)/n", "reduce-scatter": "(n-1)/n", "all-gather": "(n-1)/n", "all-to-all": "(n-1)/n", "broadcast": "1", "send": "1",
}  # fmt: skip


@dataclass(frozen=True)
class BusBandwidth:
    """Both bandwidths in bytes/s, and how they come about as one line of text."""

    algbw_bytes_per_s: float
    busbw_bytes_per_s: float
    formula: str


def factor(collective: str, n: int) -> Fraction:
    """Bus bandwidth over algorithm bandwidth among n members."""
    return {"2(n-1)/n": Fraction(2 * (n - 1), n), "(n-1)/n": Fraction(n - 1, n), "1": Fraction(1)}[FORMULAS[collective]]


def bus_bandwidth(collective: str, n: int, size_bytes: int, time_s: float) -> BusBandwidth:
    """Of a collective of `size_bytes`, as `Template` counts them, that took `time_s`."""
    algorithm = size_bytes / time_s
    bus = algorithm * float(factor(collective, n))
    words = {"2(n-1)/n": f"2({n}-1)/{n}", "(n-1)/n": f"({n}-1)/{n}", "1": "1"}[FORMULAS[collective]]
    spelled = FORMULAS[collective] if FORMULAS[collective] == "1" else f"{FORMULAS[collective]} = {words}"
    return BusBandwidth(
        algorithm, bus,
        f"algorithm bandwidth {show_bytes(size_bytes)} / {show_time(time_s)} = {show_bytes(algorithm)}/s, times {spelled}, "
        f"is a bus bandwidth of {show_bytes(bus)}/s; it compares algorithms and sizes and is no wire rate",
    )  # fmt: skip
