"""Bare rows: what an array is to the kernel, one pointer.

A compiled function carries each array as seven values (pointer, length, strides, ...), each call passes
them all, and the compiler has to see through every one of them. The kernel knows its own sizes, so an
entry turns its arrays into rows first: a third of the compile time, and item addresses whose stride is
a constant.
"""

import hashlib
import operator

from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from sim.jit import COMPILED


def _short_name(dtype) -> str:
    """A short name for a type: a record's own lists all its fields, and would do so in every symbol that has to do with it."""
    return f"Record{hashlib.sha256(dtype.name.encode()).hexdigest()[:12]}" if isinstance(dtype, types.Record) else dtype.name


class Rows(types.Type):
    """Items of `dtype` one behind the other; an index is not checked and never wraps."""

    is_fixed = True

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(name=f"Rows{_short_name(dtype)}")


@register_model(Rows)
class _RowsModel(models.PrimitiveModel):
    def __init__(self, manager, rows):
        super().__init__(manager, rows, cgutils.voidptr_t)


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, args, kws):
        if isinstance(args[0], Rows) and isinstance(args[1], types.Integer):
            return signature(args[0].dtype, args[0], types.intp)


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, args, kws):
        if isinstance(args[0], Rows) and isinstance(args[1], types.Integer):
            return signature(types.none, args[0], types.intp, args[0].dtype)


def _item_pointer(context, builder, rows, base, index):
    item = context.get_data_type(rows.dtype)
    return builder.gep(builder.bitcast(base, item.as_pointer()), [index], inbounds=True)


@lower_builtin(operator.getitem, Rows, types.intp)
def _lower_getitem(context, builder, sig, args):
    pointer = _item_pointer(context, builder, sig.args[0], *args)
    if isinstance(sig.args[0].dtype, types.Record):
        return builder.bitcast(pointer, context.get_value_type(sig.args[0].dtype))
    return context.unpack_value(builder, sig.args[0].dtype, pointer)


@lower_builtin(operator.setitem, Rows, types.intp, types.Any)
def _lower_setitem(context, builder, sig, args):
    base, index, value = args
    context.pack_value(builder, sig.args[0].dtype, value, _item_pointer(context, builder, sig.args[0], base, index))


class Bundle(types.Type):
    """Rows by name, passed as one pointer to their pointers, which never change.

    The compiler may rely on that and read them once; so whoever makes a bundle hands it to a function that is
    called, and does not use it itself.
    """

    is_fixed = True

    def __init__(self, fields, dtypes):
        self.members = {
            field: (place, Rows(dtype)) for place, (field, dtype) in enumerate(zip(fields, dtypes, strict=True))
        }
        super().__init__(name="Bundle" + "".join(f"_{field}{rows.name}" for field, (_, rows) in self.members.items()))


@register_model(Bundle)
class _BundleModel(models.PrimitiveModel):
    def __init__(self, manager, bundle):
        super().__init__(manager, bundle, cgutils.voidptr_t.as_pointer())


@infer_getattr
class _BundleAttribute(AttributeTemplate):
    key = Bundle

    def generic_resolve(self, bundle, name):
        return bundle.members[name][1] if name in bundle.members else None


@lower_getattr_generic(Bundle)
def _lower_member(context, builder, bundle, pointer, name):
    member = builder.load(cgutils.gep_inbounds(builder, pointer, bundle.members[name][0]))
    member.set_metadata("invariant.load", builder.module.add_metadata([]))
    return member


@intrinsic
def _bundle(typing, arrays):
    bundle = Bundle(arrays.fields, [array.dtype for array in arrays])

    def generate(context, builder, sig, args):
        place = cgutils.alloca_once(builder, cgutils.voidptr_t, size=len(arrays))
        for j, array in enumerate(arrays):
            data = context.make_array(array)(context, builder, builder.extract_value(args[0], j)).data
            builder.store(builder.bitcast(data, cgutils.voidptr_t), cgutils.gep_inbounds(builder, place, j))
        return place

    return bundle(arrays), generate


@intrinsic
def _rows(typing, arrays):
    fields = [Rows(array.dtype) for array in arrays]
    rows = types.NamedTuple(fields, arrays.instance_class)

    def generate(context, builder, sig, args):
        pointers = []
        for j, array in enumerate(arrays):
            data = context.make_array(array)(context, builder, builder.extract_value(args[0], j)).data
            pointers.append(builder.bitcast(data, cgutils.voidptr_t))
        return context.make_tuple(builder, rows, pointers)

    return rows(arrays), generate


if COMPILED:
    rows_of, bundle_of = _rows, _bundle
else:

    def rows_of(arrays):
        """A named tuple of contiguous arrays as rows; whoever calls the entry keeps the arrays alive."""
        return arrays

    bundle_of = rows_of
