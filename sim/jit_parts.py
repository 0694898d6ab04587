"""Parts: compiled functions that exist only within others, inlined into them or called there.

numba makes machine code of every function, with a wrapper for Python, and links everything into everything on the way.
Parts are simplified one by one, linked once into the function that Python calls, and become machine code there.
"""

import functools
import hashlib

from numba import types
from numba.core import cgutils, funcdesc
from numba.core.codegen import CodeLibrary, JITCodeLibrary
from numba.core.codegen import ll as llvm
from numba.core.compiler import Compiler
from numba.core.typing.templates import _OverloadFunctionTemplate


class Part(JITCodeLibrary):
    """The code of one part. `rarely`: it runs so seldom that it is simplified only a little before it is linked."""

    is_part = True

    def __init__(self, codegen, name, rarely=False):
        CodeLibrary.__init__(self, codegen, name)
        self._linking_libraries, self._final_module, self._shared_module = [], None, None
        self._passes = self._few_passes if rarely else codegen._function_pass_manager

    def add_ir_module(self, ir_module):
        module = llvm.parse_assembly(cgutils.normalize_ir_text(str(ir_module)))
        module.data_layout = self._codegen._data_layout
        for function in module.functions:
            if not function.is_declaration:
                passes, builder = self._passes()
                passes.run(function, builder)
        self._final_module = module

    def _few_passes(self):
        passes = llvm.create_new_function_pass_manager()
        passes.add_sroa_pass()
        passes.add_simplify_cfg_pass()
        passes.add_instruction_combine_pass()
        return passes, self._codegen._pass_builder()

    def finalize(self):
        self._finalized = True

    def _get_module_for_linking(self):
        if self._shared_module is None:
            for function in self._final_module.functions:
                if not function.is_declaration:
                    function.linkage = "linkonce_odr"
            self._shared_module = self._final_module
        return self._shared_module


class Whole(JITCodeLibrary):
    """A function that Python calls, with all its parts."""

    is_part = False

    def finalize(self):
        self._linking_libraries = list(reversed(_closure(self._linking_libraries)))  # users first: the linker drops what nobody uses yet
        super().finalize()

    def _optimize_final_module(self):
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


def _closure(libraries) -> dict:
    """All libraries that these need, each once, what is needed first."""
    seen = {}
    for library in libraries:
        if isinstance(library, Part):
            seen.update(_closure(library._linking_libraries))
        seen[library] = None
    return seen


def _short_symbol(mangle):
    """Name a compiled function by a digest of its argument types: records spell out all their fields."""

    @functools.wraps(mangle)
    def wrapper(name, argtypes, **tags):
        kinds = hashlib.sha256(" ".join(map(str, argtypes)).encode()).hexdigest()[:16]
        return mangle(f"{name}_{kinds}", (), **tags)

    return wrapper


def _linked_only(flags):
    """A part is never called from Python: no wrappers, no machine code of its own."""
    flags.no_compile = True
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    return flags


def as_part(dispatcher, constants=False):
    """Let a compiled function exist only within others; `constants`: one for each constant argument."""
    compiler = dispatcher._compiler

    def compile_once(arguments):
        if not constants:
            arguments = tuple(map(types.unliteral, arguments))
        if arguments not in dispatcher.overloads:
            compiled = compiler.compile(arguments, None)._replace(entry_point=object())
            dispatcher.overloads[arguments] = compiled
            compiled.target_context.insert_user_function(compiled.entry_point, compiled.fndesc, [compiled.library])

    dispatcher.compile = compile_once
    compiler._customize_flags = _linked_only
    return dispatcher


class _OfNumba(Compiler):
    """What numba compiles for `min`, `np.empty` and others, as a part."""

    def compile_extra(self, func):
        self.state.library = Part(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


def _as_parts(choose):
    @functools.wraps(choose)
    def wrapper(template):
        jit = choose(template)
        return lambda **options: lambda function: as_part(jit(**options, pipeline_class=_OfNumba)(function), constants=True)

    return wrapper


def install() -> None:
    """Let numba name functions shortly, and make its own functions parts."""
    funcdesc.default_mangler = _short_symbol(funcdesc.default_mangler)
    _OverloadFunctionTemplate._get_jit_decorator = _as_parts(_OverloadFunctionTemplate._get_jit_decorator)
