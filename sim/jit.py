"""The one compile decorator of the project, and a compile cache that notices every edit.

numba's own cache looks only at the file of the outermost function, so a rule edited in an
imported module would go on running in its old form. The cache directory is therefore named
after a hash of all sources of the kernel.
"""

import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path

import numba
from numba import config

from sim import jit_memory, jit_parts
from sim.jit_passes import Lean

KERNEL_ROOMS = (
    "jit.py",
    "jit_memory.py",
    "jit_parts.py",
    "jit_passes.py",
    "rows.py",
    "congestion",
    "packet",
    "player",
    "wormhole",
)


KEEP_UNUSED_S = 30 * 86400  # kernels of other versions of the sources


def _kernel_sources():
    root = Path(__file__).parent
    for room in KERNEL_ROOMS:
        path = root / room
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def source_fingerprint() -> str:
    """Hash of every source file that kernel code may come from, and of numba's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in _kernel_sources():
        if path.exists():
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_directory() -> Path:
    home = os.environ.get("WORMHOLE_LAB_CACHE") or os.environ.get("XDG_CACHE_HOME")
    base = Path(home) if home else Path.home() / ".cache"
    directory = base / "wormhole-lab" / f"kernel-{source_fingerprint()}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        os.utime(directory)
        for other in directory.parent.glob("kernel-*"):
            if other.stat().st_mtime < time.time() - KEEP_UNUSED_S:
                shutil.rmtree(other, ignore_errors=True)
    except OSError:
        directory = Path(tempfile.mkdtemp(prefix="wormhole-lab-"))
    return directory


CACHE_DIRECTORY = _cache_directory()
config.CACHE_DIR = str(CACHE_DIRECTORY)
COMPILED = not config.DISABLE_JIT
jit_memory.install()
jit_parts.install()

_KERNEL = dict(nogil=True, cache=True, error_model="numpy")


def njit(function):
    """Compile a function that may allocate arrays (routing, graph building) and calls only functions of its own file:
    numba's cache notices edits of that file by itself."""
    return numba.njit(**_KERNEL, pipeline_class=Lean)(function)


def _part(function, **options):
    return jit_parts.as_part(numba.njit(nogil=True, error_model="numpy", _nrt=False, pipeline_class=Lean, **options)(function))


def kernel(function):
    """Compile a packet-kernel function that is inlined into its caller, without reference counting.

    `_nrt=False` means that compiled code cannot allocate: scratch arrays are passed in.
    """
    if not COMPILED:
        return function
    return _part(function, forceinline=True)


def called(function):
    """Compile a large packet-kernel function that is called from several places rather than inlined."""
    if not COMPILED:
        return function
    return _part(function, forceinline=False)


def entry(function):
    """Compile a packet-kernel function that Python calls."""
    return numba.njit(**_KERNEL, _nrt=False, pipeline_class=Lean)(function)


def compile_for(function, *arguments):
    """Compile an entry for arguments like these, without calling it."""
    if COMPILED:
        function.compile(tuple(map(numba.typeof, arguments)))
