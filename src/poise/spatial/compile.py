"""Compiled loops: one decorator for every Numba kernel.

A module with kernels is imported only when it is used, since Numba takes half a second to import. Machine code is kept
in Numba's cache, beside the source or in the user's cache directory (`NUMBA_CACHE_DIR` overrides both); where neither
can be written, as in a read-only installation, each process compiles anew instead of failing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

Function = TypeVar("Function", bound=Callable[..., Any])

_DEFAULTS = {"cache": True, "nogil": True, "error_model": "numpy"}


@overload
def kernel(function: Function, /) -> Function: ...
@overload
def kernel(**options: Any) -> Callable[[Function], Function]: ...
def kernel(function: Any = None, /, **options: Any) -> Any:
    """Compile a function with Numba: `@kernel` or `@kernel(fastmath=True)`.

    Options are those of `numba.njit`. By default the machine code is cached, the GIL is released, and a division by
    zero gives inf or NaN as in NumPy instead of raising.
    """
    flags = {**_DEFAULTS, **options}
    return _compile(function, flags) if function is not None else lambda function: _compile(function, flags)


def _compile(function: Any, flags: dict[str, Any]) -> Any:
    import numba

    try:
        return numba.njit(**flags)(function)
    except RuntimeError as error:
        if not flags["cache"] or "cannot cache" not in str(error):
            raise
        return numba.njit(**{**flags, "cache": False})(function)
