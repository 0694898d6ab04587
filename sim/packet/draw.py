"""Random draws without hidden state: a hash of what the draw is for.

Equal (seed, flow key, packet, hop) give equal draws wherever and whenever a partition runs.
The mixing function is the 64-bit finaliser of SplitMix (Steele et al., OOPSLA 2014).
"""

from numpy import uint64

from sim.jit import kernel

_A = uint64(0xBF58476D1CE4E5B9)
_B = uint64(0x94D049BB133111EB)
_GOLDEN = uint64(0x9E3779B97F4A7C15)
_S30, _S27, _S31, _S11 = uint64(30), uint64(27), uint64(31), uint64(11)
_TO_UNIT = 1.0 / 9007199254740992.0


@kernel
def mix(x):
    """Finaliser of SplitMix64."""
    x = (x ^ (x >> _S30)) * _A
    x = (x ^ (x >> _S27)) * _B
    return x ^ (x >> _S31)


@kernel
def unit_draw(seed, key, number, hop):
    """Uniform number in [0, 1) for the `number`-th packet of flow `key` at `hop`."""
    x = mix(uint64(seed) + _GOLDEN)
    x = mix(x ^ (uint64(key) * _GOLDEN))
    x = mix(x ^ ((uint64(number) << _S11) + uint64(hop)))
    return float(x >> _S11) * _TO_UNIT
