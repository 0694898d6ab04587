"""The one compile decorator of the project, and a compile cache that notices every edit.

numba's own cache looks only at the file of the outermost function, so a rule edited in an
imported module would go on running in its old form. The cache directory is therefore named
after a hash of all sources under `sim/` that can be compiled.
"""

import functools
import hashlib
import os
import tempfile
from pathlib import Path

import numba
from numba import config
from numba.core.codegen import CPUCodeLibrary

KERNEL_ROOMS = ("jit.py", "congestion", "packet", "player", "topology", "workload", "critical_path.py")


def _kernel_sources():
    root = Path(__file__).parent
    for room in KERNEL_ROOMS:
        path = root / room
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def source_fingerprint() -> str:
    """Hash of every source file that compiled code may come from, and of numba's version."""
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
    except OSError:
        directory = Path(tempfile.mkdtemp(prefix="wormhole-lab-"))
    return directory


CACHE_DIRECTORY = _cache_directory()
config.CACHE_DIR = str(CACHE_DIRECTORY)
COMPILED = not config.DISABLE_JIT

_KERNEL = dict(nogil=True, cache=True, error_model="numpy")


def njit(function):
    """Compile a function that may allocate arrays (routing, graph building)."""
    return numba.njit(**_KERNEL)(function)


_parts_under_way = []


def _optimise_whole_only(optimise):
    """Leave parts as they come: they are optimised with the whole they are inlined into."""

    @functools.wraps(optimise)
    def wrapper(library, *args):
        if not (_parts_under_way and _parts_under_way[-1]):
            optimise(library, *args)

    return wrapper


CPUCodeLibrary._optimize_final_module = _optimise_whole_only(CPUCodeLibrary._optimize_final_module)


def _linked_only(flags):
    """A part is never called from Python: no wrappers, no machine code of its own."""
    flags.no_compile = True
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    return flags


def _noting(dispatcher, is_part):
    if not COMPILED:
        return dispatcher
    compile_signature = dispatcher.compile

    @functools.wraps(compile_signature)
    def compile_noting(signature):
        _parts_under_way.append(is_part)
        try:
            entry_point = compile_signature(signature)
        finally:
            _parts_under_way.pop()
        return entry_point

    def add_part(compiled):
        compiled = compiled._replace(entry_point=object())
        dispatcher.overloads[tuple(compiled.signature.args)] = compiled
        compiled.target_context.insert_user_function(compiled.entry_point, compiled.fndesc, [compiled.library])

    dispatcher.compile = compile_noting
    if is_part:
        dispatcher.add_overload = add_part
        dispatcher._compiler._customize_flags = _linked_only
    return dispatcher


def kernel(function):
    """Compile a packet-kernel function: inlined into its caller, no reference counting.

    `_nrt=False` means that compiled code cannot allocate: scratch arrays are passed in.
    """
    return _noting(numba.njit(**{**_KERNEL, "cache": False}, _nrt=False, forceinline=True)(function), True)


def entry(function):
    """Compile a packet-kernel function that Python calls, or that is too large to inline."""
    return _noting(numba.njit(**_KERNEL, _nrt=False)(function), False)
