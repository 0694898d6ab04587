"""The one compile decorator of the project, and a compile cache that notices every edit.

numba's own cache looks only at the file of the outermost function, so a rule edited in an
imported module would go on running in its old form. The cache directory is therefore named
after a hash of all sources of the kernel.
"""

import functools
import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path

import numba
from numba import config, types
from numba.core import funcdesc
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import (
    AnnotateTypes,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.typing.context import BaseContext
from numba.core.untyped_passes import FixupArgs, IRProcessing, ReconstructSSA, TranslateByteCode

KERNEL_ROOMS = (
    "jit.py",
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

_KERNEL = dict(nogil=True, cache=True, error_model="numpy")


def njit(function):
    """Compile a function that may allocate arrays (routing, graph building) and calls only functions of its own file:
    numba's cache notices edits of that file by itself."""
    return numba.njit(**_KERNEL)(function)


def _is_part(library) -> bool:
    return getattr(library, "is_part", False)


def _whole_only(step):
    """Make a step of code generation pass over parts: it is done once, on the whole they are inlined into."""

    @functools.wraps(step)
    def wrapper(library):
        if not _is_part(library):
            step(library)

    return wrapper


def _link_once(finalize):
    """Link a part's own parts into the whole only, not into every part on the way."""

    @functools.wraps(finalize)
    def wrapper(library):
        needed = library._linking_libraries
        if _is_part(library):
            library.needed, library._linking_libraries = needed, []
        else:
            library._linking_libraries = list(
                reversed(_closure(needed))
            )  # users first: the linker drops what nobody uses yet
        finalize(library)

    return wrapper


def _closure(libraries) -> dict:
    """All libraries that these need, each once, what is needed first."""
    seen = {}
    for library in libraries:
        seen.update(_closure(getattr(library, "needed", ())))
        seen[library] = None
    return seen


CPUCodeLibrary._optimize_final_module = _whole_only(CPUCodeLibrary._optimize_final_module)
CPUCodeLibrary._verify_declare_only_symbols = _whole_only(CPUCodeLibrary._verify_declare_only_symbols)
CPUCodeLibrary.finalize = _link_once(CPUCodeLibrary.finalize)


class _Plain(CompilerBase):
    """numba's steps without those for what kernel code does not have: closures, array expressions, literal unrolling, lifted loops."""

    def define_pipelines(self):
        steps = PassManager("plain")
        for step in (
            TranslateByteCode, FixupArgs, IRProcessing, ReconstructSSA, NopythonTypeInference, PreLowerStripPhis,
            IRLegalization, AnnotateTypes, NativeLowering, NoPythonBackend,
        ):  # fmt: skip
            steps.add_pass(step, step.__name__)
        steps.finalize()
        return [steps]


def _remember_scalars(resolve):
    """Let the compiler work out once what an operator does with two kinds of numbers, not at every use."""
    known = {}

    @functools.wraps(resolve)
    def wrapper(context, function, arguments, keywords):
        scalars = not keywords and all(isinstance(kind, (types.Number, types.Boolean)) for kind in arguments)
        if not scalars or getattr(function, "__module__", "") != "_operator":
            return resolve(context, function, arguments, keywords)
        key = function, tuple(arguments)
        if key not in known:
            known[key] = resolve(context, function, arguments, keywords)
        return known[key]

    return wrapper


BaseContext.resolve_function_type = _remember_scalars(BaseContext.resolve_function_type)


def _short_symbol(mangle):
    """Name a compiled function by a digest of its argument types: records spell out all their fields."""

    @functools.wraps(mangle)
    def wrapper(name, argtypes, **tags):
        kinds = hashlib.sha256(" ".join(map(str, argtypes)).encode()).hexdigest()[:16]
        return mangle(f"{name}_{kinds}", (), **tags)

    return wrapper


funcdesc.default_mangler = _short_symbol(funcdesc.default_mangler)


def _linked_only(flags):
    """A part is never called from Python: no wrappers, no machine code of its own."""
    flags.no_compile = True
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    return flags


def _as_part(dispatcher, apart=False):
    """Let a compiled function exist only within others: inlined into them, or called there (`apart`)."""

    def add_overload(compiled):
        compiled.library.is_part = True
        if apart:
            functions = compiled.library._final_module.functions
            next(f for f in functions if f.name == compiled.fndesc.llvm_func_name).add_function_attribute("noinline")
        compiled = compiled._replace(entry_point=object())
        dispatcher.overloads[tuple(compiled.signature.args)] = compiled
        compiled.target_context.insert_user_function(compiled.entry_point, compiled.fndesc, [compiled.library])

    compile_types = dispatcher.compile
    dispatcher.compile = lambda arguments: compile_types(
        tuple(map(types.unliteral, arguments))
    )  # one part for all constants
    dispatcher.add_overload = add_overload
    dispatcher._compiler._customize_flags = _linked_only
    return dispatcher


def kernel(function):
    """Compile a packet-kernel function that is inlined into its caller, without reference counting.

    `_nrt=False` means that compiled code cannot allocate: scratch arrays are passed in.
    """
    if not COMPILED:
        return function
    return _as_part(
        numba.njit(**{**_KERNEL, "cache": False}, _nrt=False, forceinline=True, pipeline_class=_Plain)(function)
    )


def called(function):
    """Compile a large packet-kernel function that is called from several places rather than inlined."""
    if not COMPILED:
        return function
    return _as_part(numba.njit(**{**_KERNEL, "cache": False}, _nrt=False, forceinline=False, pipeline_class=_Plain)(function), apart=True)


def entry(function):
    """Compile a packet-kernel function that Python calls."""
    return numba.njit(**_KERNEL, _nrt=False)(function)
