"""Laws: what happens to a body in one step, each a C function of two addresses.

    @law
    def pull(body: int, block: int) -> None:
        x = record(block, SPRINGS)
        ...

A law reads and writes the body that it is called for and a *block* of its own: a NumPy record with named fields, some
of them numbers, some the addresses of arrays. Whoever runs laws needs to know nothing of what they do: `(law, body,
block)` is three integers, and a list of those is a program. A law is compiled when somebody first asks for its address,
so a run compiles what it uses. (A call by address takes 5 ns.)

What has no compiled law is a Python function in the same list: `Callback` has an address as well.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from poise.compiled.arena import Arena
from poise.errors import InputError, unknown_name

# What arrays may be of, as a law reads them: `floats` and `vectors`, `integers`, `flags`.
_KINDS = (np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.bool_))
_SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)


class Law:
    """A C function of (body, block), compiled at its first use. Made by `@law`, in a file named `*kernels.py`."""

    def __init__(self, function: Callable[[int, int], None]):
        self.function, self.__doc__, self.name = function, function.__doc__, function.__name__

    @cached_property
    def _compiled(self) -> Any:
        from numba import types

        from poise.compiled.kernel import compile_law

        return compile_law(self.function, ((types.int64, types.int64), types.void))

    @cached_property
    def address(self) -> int:
        """Where it is in memory."""
        return int(self._compiled.address)

    @cached_property
    def _call(self) -> Any:
        return _SIGNATURE(self.address)

    def __call__(self, body: Block, block: Block) -> None:
        """Let it happen once, from Python."""
        self._call(body.address, block.address)


def law(function: Callable[[int, int], None]) -> Law:
    """Make a function of two addresses a law."""
    return Law(function)


class Callback:
    """A Python function without arguments where a law is expected; see `Law.address`.

    An exception cannot pass through C: it is kept in `error`, and `raised` (1,) becomes 1 for whoever runs the list.
    """

    def __init__(self, function: Callable[[], None], raised: np.ndarray):
        kept: list[BaseException] = []

        def run(_body: int, _block: int) -> None:
            try:
                function()
            except BaseException as error:
                kept[:], raised[0] = [error], 1

        # nothing of it points back here: what it keeps, a simulation, goes when the list that it is in does
        self._kept, self._call = kept, _SIGNATURE(run)
        # ctypes.cast would have it point at itself
        self.address = int(ctypes.c_void_p.from_buffer(self._call).value or 0)

    @property
    def error(self) -> BaseException | None:
        """What it raised."""
        return self._kept[0] if self._kept else None

    def forget(self) -> None:
        """Keep no error."""
        self._kept.clear()


class Block:
    """A record with named fields at one place in memory, and the arrays that it points to.

    dtype   its fields; one that holds the address of an array is an integer
    room    where it is put, beside what is used with it
    fields  numbers, or arrays: of these the address is written, and they are kept alive
    """

    def __init__(self, dtype: np.dtype, room: Arena | None = None, **fields: Any):
        self.record = (room or Arena(0)).zeros(1, dtype=dtype)
        self.arrays: dict[str, np.ndarray] = {}
        self.address = int(self.record.ctypes.data)
        self.set(**fields)

    def set(self, **fields: Any) -> None:
        """Write some fields."""
        for name, value in fields.items():
            if name not in (self.record.dtype.names or ()):
                raise unknown_name("field", name, self.record.dtype.names or (), "this block")
            if isinstance(value, np.ndarray) and self.record.dtype[name].shape == () and value.ndim:
                self._check_array(name, value)
                self.arrays[name] = value
                self.record[name] = value.ctypes.data
                continue
            try:
                self.record[name] = value
            except (TypeError, ValueError, OverflowError):
                raise InputError(
                    f"field '{name}' of a block is {_describe(self.record.dtype[name])}; given {value!r}."
                ) from None

    def _check_array(self, name: str, array: np.ndarray) -> None:
        """Compiled code reads numbers at an address and asks no more: an array must be what it takes it for."""
        if self.record.dtype[name] != np.int64:
            raise InputError(f"field '{name}' of a block is one number, and no array's address; given {array.shape}.")
        if array.dtype not in _KINDS:
            raise InputError(
                f"the array '{name}' of a block is of {array.dtype}; laws read float64, int64 and bool. "
                "Convert it: np.ascontiguousarray(array, float)."
            )
        if not array.flags.c_contiguous:
            raise InputError(
                f"the numbers of array '{name}' of a block do not lie next to one another in memory. "
                "Give a copy: np.ascontiguousarray(array)."
            )

    def __getitem__(self, name: str) -> Any:
        """A field: the array that it points to, or its number, as it is now."""
        return self.arrays[name] if name in self.arrays else self.record[name][0]

    def __setitem__(self, name: str, value: Any) -> None:
        self.set(**{name: value})


def _describe(kind: np.dtype) -> str:
    if kind.shape:
        return f"{kind.shape[0]} numbers"
    return "a whole number, or an array" if kind == np.int64 else "a number"


def fields(arrays: str = "", integers: str = "", floats: str = "", **vectors: int) -> np.dtype:
    """The dtype of a block, from names: addresses of arrays, integers, numbers, and vectors of so many numbers."""
    names: list[Any] = [(name, np.int64) for name in f"{arrays} {integers}".split()]
    names += [(name, np.float64) for name in floats.split()]
    return np.dtype(names + [(name, np.float64, (size,)) for name, size in vectors.items()])
