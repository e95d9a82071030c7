"""Arrays and C functions by their address, for compiled loops over things that Python made one by one.

Numba cannot loop over a list of objects that each have arrays of their own; it can loop over a table of addresses. Who
makes the table keeps the arrays alive, and knows their shapes and types: nothing is checked here.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array


@intrinsic
def call_with_two(_context: Any, function: Any, first: Any, second: Any) -> Any:
    """Call the C function at an address with two pointers, given as integers; it returns nothing."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        target = builder.inttoptr(arguments[0], ir.FunctionType(ir.VoidType(), [word, word]).as_pointer())
        builder.call(target, [arguments[1], arguments[2]])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@intrinsic
def call_with_three(_context: Any, function: Any, first: Any, second: Any, third: Any) -> Any:
    """The same with three pointers."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        target = builder.inttoptr(arguments[0], ir.FunctionType(ir.VoidType(), [word, word, word]).as_pointer())
        builder.call(target, list(arguments[1:]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
def record(_context: Any, address: Any, dtype: Any) -> Any:
    """The NumPy record of a dtype (a constant) at an address: its fields are read and written in place, by name."""
    kind = dtype.dtype

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(kind))

    return kind(types.int64, dtype), generate


def _viewer(kind: Any, dimensions: int, *fixed: int) -> Any:
    """An intrinsic (address, sizes) -> array of a kind at an address; the last sizes may be fixed."""
    free = dimensions - len(fixed)
    array = types.Array(kind, dimensions, "C")

    def view(_context: Any, address: Any, *sizes: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            made = make_array(array)(context, builder)
            item = context.get_abi_sizeof(context.get_data_type(kind))
            word = context.get_value_type(types.intp)
            shape = [*arguments[1:], *(ir.Constant(word, size) for size in fixed)]
            strides = [ir.Constant(word, item)]
            for size in shape[:0:-1]:
                strides.insert(0, builder.mul(strides[0], size))
            populate_array(
                made, data=builder.inttoptr(arguments[0], made.data.type), shape=cgutils.pack_array(builder, shape),
                strides=cgutils.pack_array(builder, strides), itemsize=ir.Constant(word, item), meminfo=None,
            )  # fmt: skip
            return made._getvalue()

        return array(types.int64, *(types.intp for _ in sizes)), generate

    if free == 1:
        return intrinsic(lambda context, address, count: view(context, address, count))
    if free == 2:
        return intrinsic(lambda context, address, rows, columns: view(context, address, rows, columns))
    return intrinsic(lambda context, address, count, rows, columns: view(context, address, count, rows, columns))


# Arrays at an address: (count,), (rows, columns), (count, rows, columns) and (segments, joints, 4, 4) float64, (count,)
# and (rows, columns) int64, (count,) bool and int32. Intrinsics, since a kernel would be compiled for every way to
# call it.
floats = _viewer(types.float64, 1)
vectors = _viewer(types.float64, 2)
blocks = _viewer(types.float64, 3)
splines = _viewer(types.float64, 4, 4, 4)
integers = _viewer(types.int64, 1)
tables = _viewer(types.int64, 2)
flags = _viewer(types.boolean, 1)
shorts = _viewer(types.int32, 1)
