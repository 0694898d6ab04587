"""How long bytes take: serialisation and pacing gaps, on the exact or the 1 ns clock."""

from numpy import int64

from sim.jit import kernel

PS_PER_S = int64(1000000000000)


@kernel
def exact_ps(size_bytes, rate_bps):
    """Picoseconds that `size_bytes` take at `rate_bps`, truncated."""
    return int64(size_bytes) * 8 * PS_PER_S // rate_bps


@kernel
def truncated_ps(size_bytes, rate_bps):
    """Whole nanoseconds as ns-3's clock gives them: truncated, and one less where the division is exact.

    There the quotient goes through a binary fraction, which falls just short of a whole nanosecond.
    """
    return (int64(size_bytes) * int64(8000000000) - 1) // rate_bps * 1000


@kernel
def serialisation_ps(g, P, size_bytes):
    """How long port `P` is busy with so many bytes."""
    if P.ps_per_byte > 0:
        return int64(size_bytes) * P.ps_per_byte
    if g.whole_ns:
        return truncated_ps(size_bytes, P.rate_bps)
    return exact_ps(size_bytes, P.rate_bps)


@kernel
def pacing_ps(g, size_bytes, rate_bps):
    """Gap that a sending rate leaves after so many bytes."""
    if g.whole_ns:
        return truncated_ps(size_bytes, rate_bps)
    return exact_ps(size_bytes, rate_bps)
