"""Numba compiles in half the time: what is between `begin` and `end` makes the same machine code, with less searching.

Two things cost most, and neither makes code. For every operator, at every place, Numba asks dozens of definitions anew
which of them is meant: here what an operator means for numbers and arrays of some types is asked once. And Python looks
for garbage among the millions of objects that a compilation keeps: that waits until it is over.

Both are for the time of a compilation of Poise's own kernels, in which Numba holds its compiler lock.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

_depth = 0  # of kernels that are being compiled, each for the one before
_collects = True  # whether Python looked for garbage before
_began = 0.0  # s, when the first of them was begun
_spent = 0.0  # s on kernels that are compiled
_plain: Callable[..., Any] | None = None  # Numba's own search, while ours is in its place
_known: dict[Any, tuple[Any, Any]] = {}  # (operator, types) -> its meaning, and the operator to keep its id its own


def begin() -> None:
    """A kernel of ours is going to be compiled."""
    global _depth, _began, _collects
    _depth += 1
    if _depth == 1:
        _began = time.perf_counter()
        _collects = gc.isenabled()
        gc.disable()
        _install()


def end() -> None:
    """It is, or failed to be."""
    global _depth, _spent
    _depth -= 1
    if _depth == 0:
        _spent += time.perf_counter() - _began
        _remove()
        if _collects:
            gc.enable()


def is_compiling() -> bool:
    """Whether a kernel of ours is being compiled."""
    return _depth > 0


def get_seconds() -> float:
    """s that this process has spent on compiling kernels of ours."""
    return _spent


def _install() -> None:
    global _plain
    kind = _find_class()
    if kind is None:
        return
    from numba import types

    plain = _plain = kind.get_call_type
    common = (types.Number, types.Boolean, types.Array, types.BaseTuple)

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or getattr(self.typing_key, "__module__", "") != "_operator":
            return plain(self, context, args, kws)
        if not all(isinstance(arg, common) for arg in args):
            return plain(self, context, args, kws)
        key = id(self), id(context), tuple(args)
        if key not in _known:
            _known[key] = plain(self, context, args, kws), (self, context)
        return _known[key][0]

    kind.get_call_type = get_call_type


def _remove() -> None:
    global _plain
    if _plain is not None:
        _find_class().get_call_type = _plain
        _plain = None


def _find_class() -> Any:
    """Numba's class of functions that have several definitions; None in a Numba that has it elsewhere."""
    try:
        from numba.core.types.functions import BaseFunction
    except ImportError:
        return None
    return BaseFunction if "get_call_type" in vars(BaseFunction) else None
