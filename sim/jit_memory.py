"""What numba's compiler finds out again at every use is found out once: signatures, attributes, missing implementations."""

import functools

from numba import types
from numba.core import base
from numba.core.errors import NumbaError
from numba.core.types.functions import BaseFunction
from numba.core.typing.context import BaseContext

FIXED = types.Number, types.Boolean, types.NumberClass, types.Record  # kinds whose attributes never change


def _remember_signatures(resolve):
    known = {}

    @functools.wraps(resolve)
    def wrapper(function, context, arguments, keywords):
        if keywords or not all(kind.is_precise() for kind in arguments):
            return resolve(function, context, arguments, keywords)
        key = context, function, tuple(arguments)
        if key not in known:
            signature = resolve(function, context, arguments, keywords)
            known[key] = signature, function._impl_keys[signature.args]
        signature, function._impl_keys[signature.args] = known[key]
        return signature

    return wrapper


def _remember_attributes(resolve):
    known = {}

    @functools.wraps(resolve)
    def wrapper(context, kind, name):
        if not isinstance(kind, FIXED) and not getattr(kind, "is_fixed", False):
            return resolve(context, kind, name)
        key = context, kind, name
        if key not in known:
            known[key] = resolve(context, kind, name)
        return known[key]

    return wrapper


def _remember_failures(find):
    """That nothing was found is put into words once: it is asked again for something more general."""

    @functools.wraps(find)
    def wrapper(selector, signature):
        known = selector._cache.get(signature)
        if isinstance(known, NumbaError):
            raise known.with_traceback(None)
        try:
            return find(selector, signature)
        except NumbaError as problem:
            selector._cache[signature] = problem
            raise

    return wrapper


def install() -> None:
    """Put these in the place of numba's own."""
    BaseFunction.get_call_type = _remember_signatures(BaseFunction.get_call_type)
    BaseContext.resolve_getattr = _remember_attributes(BaseContext.resolve_getattr)
    base.OverloadSelector.find = _remember_failures(base.OverloadSelector.find)
    base._has_loc = functools.cache(base._has_loc)
