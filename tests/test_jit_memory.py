"""What the compiler remembers is what it would find out anew."""

import operator

import pytest
from numba import types
from numba.core.registry import cpu_target
from numba.core.types.functions import BaseFunction

from sim.jit import COMPILED

pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
KINDS = (types.int64, types.int32, types.uint8, types.uint64, types.float64, types.boolean, types.literal(3))


@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.floordiv, operator.truediv, operator.lt, operator.rshift, max])
def test_signatures_are_those_that_numba_finds(operation):
    context = cpu_target.typing_context
    context.refresh()
    function = context.resolve_value_type(operation)
    anew = BaseFunction.get_call_type.__wrapped__
    for a in KINDS:
        for b in KINDS:
            if operation is operator.rshift and types.float64 in (a, b):
                continue
            remembered = [function.get_call_type(context, (a, b), {}) for _ in range(2)]
            assert remembered[0] is remembered[1]
            assert remembered[0] == anew(function, context, (a, b), {}), (a, b)


def test_a_constant_is_told_from_another_and_from_its_kind():
    context = cpu_target.typing_context
    context.refresh()
    function = context.resolve_value_type(operator.getitem)
    pair = types.Tuple((types.int64, types.float64))
    found = [function.get_call_type(context, (pair, types.literal(j)), {}).return_type for j in (0, 1, 0)]
    assert found == [types.int64, types.float64, types.int64]


def test_what_is_not_there_is_still_reported():
    context = cpu_target.typing_context
    with pytest.raises(Exception, match="No implementation|No match"):
        context.resolve_value_type(operator.rshift).get_call_type(context, (types.float64, types.int64), {})
