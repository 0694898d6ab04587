"""The lean compiler against Python: what it leaves out makes no difference to what functions return."""

import math

import numpy as np
import pytest
from numba import types
from numba.core.errors import TypingError
from numba.core.runtime import _nrt_python as nrt
from numba.core.runtime import rtsys
from numpy import int64, uint64

from sim.jit import COMPILED, entry, kernel, njit

pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")


@kernel
def sign_of(x):
    answer = -1
    if x > 0:
        answer = 1
    elif x == 0:
        answer = 0
    return answer


@entry
def signs(xs):
    total = int64(0)
    for x in xs:
        total = 10 * total + sign_of(x) + 1
    return total


def test_a_variable_that_is_given_several_constants_can_be_each_of_them():
    assert signs(np.array([5, 0, -7, 1])) == 2102


@entry
def collatz(start):
    steps = 0
    x = start
    while x != 1:
        steps += 1
        if x % 2:
            x = 3 * x + 1
            continue
        if steps > 10_000:
            break
        x //= 2
        if x == 7:
            continue
    return steps


@pytest.mark.parametrize("start", [1, 6, 27, 97])
def test_loops_that_are_left_and_continued_in_several_places(start):
    steps, x = 0, start
    while x != 1:
        steps, x = steps + 1, 3 * x + 1 if x % 2 else x // 2
    assert collatz(start) == steps


@entry
def mean_or_count(xs, mean):
    found = 0
    for x in xs:
        found = found + x
    if mean:
        return found / len(xs)
    return found * 1.0


def test_a_variable_that_begins_whole_and_becomes_a_fraction_is_one_throughout():
    assert mean_or_count(np.array([0.5, 1.0]), True) == 0.75
    assert mean_or_count(np.array([0.5, 1.0]), False) == 1.5


@entry
def mixed(x):
    x = (x ^ (x >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    return x ^ (x >> uint64(31))


def test_unsigned_arithmetic_wraps():
    x = 2**63 + 12345
    expected = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    assert mixed(np.uint64(x)) == expected ^ (expected >> 31)


@njit
def primes(limit):
    is_prime = np.ones(limit, np.bool_)
    is_prime[:2] = False
    for n in range(2, limit):
        if is_prime[n]:
            multiples = np.arange(2 * n, limit, n)
            for m in multiples:
                is_prime[m] = False
    return np.flatnonzero(is_prime)


def test_arrays_made_on_the_way_are_released():
    primes(10)
    nrt.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        found = primes(50)
        assert found.tolist() == [n for n in range(2, 50) if all(n % d for d in range(2, math.isqrt(n) + 1))]
        del found
        after = rtsys.get_allocation_stats()
    finally:
        nrt.memsys_disable_stats()
    assert after.alloc - before.alloc > 10
    assert after.free - before.free == after.alloc - before.alloc


@kernel
def nonsense(x):
    return x.no_such_field


@entry
def asks_for_nonsense(x):
    return nonsense(x)


def test_an_error_names_the_functions_on_the_way_to_it():
    with pytest.raises(TypingError, match=r"(?s)no_such_field.*compiling tests.test_jit_passes.nonsense"):
        asks_for_nonsense.compile((types.int64,))
