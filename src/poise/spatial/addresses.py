"""Arrays and C functions by their address, for compiled loops over things that Python made one by one.

Numba cannot loop over a list of objects that each have arrays of their own; it can loop over a table of addresses. Who
makes the table keeps the arrays alive, and knows their shapes and types: nothing is checked here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, types
from numba.core import cgutils
from numba.extending import intrinsic

from poise.spatial.compile import kernel


@intrinsic
def pointer(_context: Any, address: Any) -> Any:
    """A void pointer from an integer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), generate


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
def record(_context: Any, address: Any, dtype: Any) -> Any:
    """The NumPy record of a dtype (a constant) at an address: its fields are read and written in place, by name."""
    kind = dtype.dtype

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(kind))

    return kind(types.int64, dtype), generate


@kernel
def floats(address: int, count: int) -> np.ndarray:
    """(count,) float64 at an address."""
    return carray(pointer(address), (count,), np.float64)


@kernel
def vectors(address: int, rows: int, columns: int) -> np.ndarray:
    """(rows, columns) float64 at an address."""
    return carray(pointer(address), (rows, columns), np.float64)


@kernel
def blocks(address: int, count: int, rows: int, columns: int) -> np.ndarray:
    """(count, rows, columns) float64 at an address."""
    return carray(pointer(address), (count, rows, columns), np.float64)


@kernel
def splines(address: int, segments: int, joints: int) -> np.ndarray:
    """(segments, joints, 4, 4) float64 at an address."""
    return carray(pointer(address), (segments, joints, 4, 4), np.float64)


@kernel
def integers(address: int, count: int) -> np.ndarray:
    """(count,) int64 at an address."""
    return carray(pointer(address), (count,), np.int64)


@kernel
def tables(address: int, rows: int, columns: int) -> np.ndarray:
    """(rows, columns) int64 at an address."""
    return carray(pointer(address), (rows, columns), np.int64)


@kernel
def flags(address: int, count: int) -> np.ndarray:
    """(count,) bool at an address."""
    return carray(pointer(address), (count,), np.bool_)
