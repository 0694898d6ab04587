"""Parts: inlined or called, linked once, and loaded from the cache as they were compiled."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from numpy import int64

from sim.jit import COMPILED, called, entry, kernel
from sim.jit_parts import Part
from sim.jit_passes import Lean

pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")


@kernel
def doubled(x):
    return 2 * x


@called
def summed(xs):
    total = int64(0)
    for j in range(len(xs)):
        total += max(doubled(xs[j]), 0)
    return total


@entry
def twice(xs):
    return summed(xs) + summed(xs) + min(doubled(int64(3)), 100)


@pytest.fixture
def compiled():
    """`twice`, compiled now."""
    function = numba.njit(nogil=True, error_model="numpy", _nrt=False, pipeline_class=Lean)(twice.py_func)
    assert function(np.array([1, -2, 3])) == 22
    return function.overloads[function.signatures[0]]


def test_small_parts_are_inlined_and_large_ones_are_there_once(compiled):
    names = [function.name for function in compiled.library._final_module.functions if not function.is_declaration]
    assert sum("summed" in name for name in names) == 1
    assert not any("doubled" in name for name in names)


def test_a_part_has_no_machine_code_of_its_own_and_is_compiled_once_for_all_constants(compiled):
    assert len(doubled.overloads) == len(summed.overloads) == 1
    libraries = [part.library for function in (doubled, summed) for part in function.overloads.values()]
    assert all(isinstance(library, Part) and not library._compiled for library in libraries)
    assert compiled.library._compiled


FRESH = "import numpy as np; from tests.test_jit_parts import twice; print(twice(np.array([4, -1])), sum(twice.stats.cache_hits.values()))"


def test_another_process_loads_what_was_compiled(tmp_path):
    environment = {**os.environ, "WORMHOLE_LAB_CACHE": str(tmp_path)}
    first, second = (
        subprocess.run([sys.executable, "-c", FRESH], env=environment, capture_output=True, text=True, check=True).stdout.split() for _ in range(2)
    )
    assert first == ["22", "0"]
    assert second == ["22", "1"]
