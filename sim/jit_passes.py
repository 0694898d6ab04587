"""numba's compiler without the steps that kernel code does not need: from byte code to typed statements to LLVM's language.

numba looks for closures, array expressions, `with` and `try`, loops to lift, variables to release; it measures itself,
checks itself after every step, and words the message of an error before there is one. That is two thirds of its time.
"""

from numba.core import cgutils, errors, types, typing
from numba.core.compiler import CompilerBase, StateDict, _make_subtarget, compile_result
from numba.core.funcdesc import PythonFunctionDescriptor
from numba.core.interpreter import Interpreter
from numba.core.ir import Assign
from numba.core.lowering import Lower
from numba.core.postproc import PostProcessor
from numba.core.targetconfig import ConfigStack
from numba.core.typeinfer import NOTSET, TypeInferer
from numba.core.untyped_passes import FixupArgs

from sim.jit_parts import Part, Whole

RARE_ROOMS = "sim.wormhole", "sim.player"  # no packet-hop passes here: small code that compiles quickly is as fast


class _Translator(Interpreter):
    """Byte code to numba's statements."""

    def post_process(self, peepholes, func_ir):
        """Kernel code has none of what is looked for here: `with`, `try`, dictionaries, calls with stars."""
        return func_ir


class _Typist(TypeInferer):
    """A type for every variable, the same from end to end."""

    def lock_type(self, var, tp, loc, literal_value=NOTSET):
        if var.startswith(("$", "arg.")):
            super().lock_type(var, tp, loc, literal_value)
        else:
            self.add_type(var, types.unliteral(tp), loc)  # a constant is not all that the variable can be

    def propagate(self, raise_errors=True):
        known = None
        while True:
            problems = []
            for constraint in self.constraints.constraints:
                try:
                    constraint(self)
                except errors.TypingError as problem:
                    problems.append(problem)
            found = {name: variable.type for name, variable in self.typevars.items()}
            if found == known:
                break
            known = found
        if problems:
            raise problems[0]


class _Writer(Lower):
    """Typed statements to LLVM's language."""

    def setup_function(self, fndesc):
        super().setup_function(fndesc)
        if self.library.is_part and not fndesc.inline:
            self.function.attributes.add("noinline")
        if fndesc.modname.startswith(RARE_ROOMS):
            self.function.attributes.add("optsize")

    def pre_block(self, block):
        self._cur_ir_block = block

    def lower_block(self, block):
        self.pre_block(block)
        for statement in block.body:
            self.loc = statement.loc
            self.lower_inst(statement)

    def lower_inst(self, inst):
        if isinstance(inst, Assign) and not self.context.enable_nrt:
            name = inst.target.name
            kind = self.typeof(name)
            value = self.lower_assign(kind, inst)
            if name in self._singly_assigned_vars:
                self._blk_local_varmap[name] = value
            else:
                self._alloca_var(name, kind)
                self.builder.store(value, self.varmap[name])
        else:
            super().lower_inst(inst)

    def alloca_lltype(self, name, lltype, datamodel=None):
        return cgutils.alloca_once(self.builder, lltype, name=name, zfill=False)

    def debug_print(self, msg):
        pass


class Lean(CompilerBase):
    """The steps that remain."""

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):
        if not flags.no_compile:
            typingctx.refresh()
            targetctx.refresh()
        self.state = StateDict(
            typingctx=typingctx, targetctx=_make_subtarget(targetctx, flags), args=args, flags=flags,
            func_ir=None, metadata={}, reload_init=[],
        )  # fmt: skip

    def _compile_core(self):
        state = self.state
        with ConfigStack().enter(state.flags.copy()):
            try:
                self._translate()
                self._infer()
                self._write()
            except errors.NumbaError as problem:
                problem.add_context(f"compiling {state.func_id.modname}.{state.func_id.func_qualname}")
                raise
        state.pipeline = None
        return state.cr

    def _translate(self):
        state = self.state
        state.func_ir = _Translator(state.func_id).interpret(state.bc)
        state.func_ir.generator_info = None
        FixupArgs().run_pass(state)

    def _infer(self):
        state = self.state
        context, code = state.typingctx, state.func_ir
        typist = _Typist(context, code, errors.WarningsFixer(errors.NumbaWarning))
        with context.callstack.register(state.targetctx.target, typist, code.func_id, state.args):
            for index, (name, kind) in enumerate(zip(code.arg_names, state.args, strict=True)):
                typist.seed_argument(name, index, kind)
            typist.build_constraint()
            typist.propagate()
            state.typemap, state.return_type, state.calltypes = typist.unify()

    def _write(self):
        state = self.state
        code, flags, context = state.func_ir, state.flags, state.targetctx
        if flags.nrt:
            PostProcessor(code).run(emit_dels=True)  # arrays are released where they are used last
        name = state.func_id.func_qualname
        if flags.no_compile:
            library = Part(context.codegen(), name, rarely=state.func_id.modname.startswith(RARE_ROOMS))
        else:
            library = Whole(context.codegen(), name)
        library.enable_object_caching()
        described = PythonFunctionDescriptor.from_specialized_function(
            code, state.typemap, state.return_type, state.calltypes, mangler=context.mangler, inline=flags.forceinline,
            noalias=flags.noalias, abi_tags=[flags.get_mangle_string()],
        )  # fmt: skip
        with context.push_code_library(library):
            writer = _Writer(context, library, described, code, metadata=state.metadata)
            writer.lower()
            if not flags.no_cpython_wrapper:
                writer.create_cpython_wrapper(flags.release_gil)
        entry_point = None
        if not flags.no_compile:
            entry_point = context.get_executable(library, described, writer.env)
            context.insert_user_function(entry_point, described, [library])
        state.cr = compile_result(
            typing_context=state.typingctx, target_context=context, entry_point=entry_point, typing_error=None, type_annotation=None,
            library=library, call_helper=writer.call_helper, signature=typing.signature(state.return_type, *state.args),
            objectmode=False, lifted=(), fndesc=described, environment=writer.env, metadata=state.metadata, reload_init=state.reload_init,
        )  # fmt: skip
