"""Compiled loops: one decorator for every Numba kernel.

A module with kernels is imported only when it is used, since Numba takes half a second to import. Machine code is kept
in Numba's cache, beside the source or in the user's cache directory (`NUMBA_CACHE_DIR` overrides both); where neither
can be written, as in a read-only installation, each process compiles anew instead of failing.

Numba looks only at the file that a kernel is in to see whether its machine code is still true, though the code of the
kernels that it calls is part of it. Here a change in any file with kernels makes all of them compile anew.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, overload

Function = TypeVar("Function", bound=Callable[..., Any])

# Files that have kernels; a test looks that there are no others.
_SOURCES = ("*kernels.py", "instant.py", "addresses.py")
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
        return _stamp(numba.njit(**flags)(function))
    except RuntimeError as error:
        if not flags["cache"] or "cannot cache" not in str(error):
            raise
        return numba.njit(**{**flags, "cache": False})(function)


def _stamp(compiled: Any) -> Any:
    """Have the cache of a kernel look at all sources; a Numba that keeps its stamp elsewhere goes on as it does."""
    file: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        file._source_stamp = (file._source_stamp, _source_stamp())
    return compiled


@cache
def _source_stamp() -> tuple[int, int]:
    """Newest change (ns) and total size (bytes) of all sources with kernels."""
    package = Path(__file__).parent.parent
    found = [path.stat() for name in _SOURCES for path in package.rglob(name)]
    return max(stat.st_mtime_ns for stat in found), sum(stat.st_size for stat in found)
