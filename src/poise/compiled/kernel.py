"""Compiled loops: one decorator for every Numba kernel.

A module with kernels is imported only when it is used, since Numba takes half a second to import. Machine code is kept
in Numba's cache, beside the source or in the user's cache directory (`NUMBA_CACHE_DIR` overrides both); where neither
can be written, as in a read-only installation, each process compiles anew instead of failing.

Numba looks only at the file that a kernel is in to see whether its machine code is still valid, though that code
contains the kernels it calls. Here the contents of all files that the kernel's file imports count, transitively, so an
edit recompiles only what depends on it, and a checkout or a copy of the tree recompiles nothing. For a law outside the
package the kernel files beside it count as well. A broken cache is rebuilt: see `code_cache`.

A kernel gets machine code of its own only if Python calls it: see `late_code`.

A first run compiles for half a minute. `on_compile` has somebody told; nobody is unless he asks.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, overload

from poise.compiled import late_code, quick_compile
from poise.compiled.code_cache import guard_cache

Function = TypeVar("Function", bound=Callable[..., Any])
# Files that have kernels, in the package and beside laws outside it; a test checks that the package has no others.
_PACKAGE = Path(__file__).parent.parent
_SOURCES = ("*kernels.py", "*_law.py", "settings.py", "views.py")
# These decide what machine code is made.
_COMPILER = ("kernel.py", "late_code.py", "layout.py", "layout_type.py", "quick_compile.py")
_IMPORT = re.compile(
    r"^[ \t]*(?:from|import)[ \t]+(poise[\w.]*)(?:[ \t]+import[ \t]+(\([^)]*\)|[^\n]*))?", re.MULTILINE
)
Listener = Callable[[int, int], None]
_listeners: list[Listener] = []
_made = _compiled = 0  # kernels in the modules that were imported; those of them that were not in the cache
# Nobody passes a kernel to another as an argument, so none needs an entry for C; laws have theirs.
_DEFAULTS = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


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


def on_compile(listener: Listener | None) -> None:
    """Have a function called whenever a kernel is compiled rather than loaded from the cache; None ends it.

    It is called before the kernel is compiled, with how many were by then, this one included, and how many there are
    in the modules that are in use. Where all is in the cache, nothing is called and nothing costs.
    """
    _listeners[:] = [] if listener is None else [listener]


def _prepare() -> None:
    """Before the first kernel: teach Numba layouts, and watch what it compiles."""
    if not _made:
        import poise.compiled.layout_type  # noqa: F401

        _watch()


def _watch() -> None:
    """Have Numba tell of every function that it compiles, ours or not; one that has no events tells nothing."""
    try:
        from numba.core import event
    except ImportError:
        return

    class Watch(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            function = getattr(event.data.get("dispatcher"), "py_func", None)
            if _is_ours(function):
                quick_compile.begin()
            _tell(function)

        def on_end(self, event: Any) -> None:
            if _is_ours(getattr(event.data.get("dispatcher"), "py_func", None)):
                quick_compile.end()

    event.register("numba:compile", Watch())


def _is_ours(function: Any) -> bool:
    return str(getattr(function, "__module__", "")).startswith("poise.")


def _tell(function: Any) -> None:
    if _is_ours(function):
        _tell_one()


def _tell_one() -> None:
    global _compiled
    _compiled += 1
    for listener in _listeners:
        listener(_compiled, max(_made, _compiled))


def _compile(function: Any, flags: dict[str, Any]) -> Any:
    global _made
    import numba

    _prepare()
    _made += 1
    try:
        return _share(_stamp(numba.njit(**flags)(function)))
    except RuntimeError as error:
        if not flags["cache"] or "cannot cache" not in str(error):
            raise
        return _share(numba.njit(**{**flags, "cache": False})(function))


def _share(compiled: Any) -> Any:
    """Have one machine code for all kernels that call this one: Numba makes one for each constant that they pass."""
    from numba import types

    find = compiled.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        with late_code.called_by_kernel():
            return find(tuple(map(types.unliteral, args)), {name: types.unliteral(kind) for name, kind in kws.items()})

    compiled.get_call_template = get_call_template
    return _make_late(compiled)


def _make_late(compiled: Any) -> Any:
    """Have machine code of a kernel of ours made when Python calls it, not when another does: see `late_code`."""
    if _is_ours(compiled.py_func):
        compile_now, add = compiled.compile, compiled.add_overload
        compiled.compile = lambda signature: late_code.compile_late(compiled, signature, compile_now)
        compiled.add_overload = lambda result: late_code.add_overload(compiled, result, add)
    return compiled


def compile_law(function: Any, signature: Any) -> Any:
    """A function as a C function of a signature (types of arguments, type returned), cached as kernels are."""
    from numba.core.ccallback import CFunc

    global _made
    _prepare()
    _made += 1
    made: Any = CFunc(function, signature, locals={}, options={"error_model": _DEFAULTS["error_model"]})
    try:
        made.enable_caching()
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
    else:
        _stamp(made)
    uncached = made._compile_uncached

    def compile_anew() -> Any:
        _tell_one()  # whosever law it is
        quick_compile.begin()
        try:
            result = uncached()
            late_code.emit(result.library)
            return result
        finally:
            quick_compile.end()

    made._compile_uncached = compile_anew
    made.compile()
    return made


def _stamp(compiled: Any) -> Any:
    """Make a kernel's cache depend on all its sources; a Numba that keeps its stamp elsewhere stays as it is."""
    file: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        function = getattr(compiled, "py_func", None) or getattr(compiled, "_pyfunc", None)
        source = Path(function.__code__.co_filename) if function is not None else Path(__file__)
        file._source_stamp = _stamp_of(source)
    guard_cache(compiled)
    return compiled


def _stamp_of(source: Path) -> tuple[str, ...]:
    """Return a stamp of all files that the kernels of a source file depend on.

    Files outside the package are read each time, since they may change while a process runs; they may call every
    kernel of the package.
    """
    if source.is_relative_to(_PACKAGE):
        return (_hash_files(frozenset(_find_sources(source))),)
    beside = (path for pattern in _SOURCES for path in source.parent.glob(pattern))
    own = sorted(path for path in {source, *beside} if path.is_file())
    package = frozenset(path for pattern in _SOURCES for path in _PACKAGE.rglob(pattern))
    return (_hash_files(package), *(hashlib.sha256(path.read_bytes()).hexdigest() for path in own))


@cache
def _hash_files(paths: frozenset[Path]) -> str:
    """Return one SHA-256 of files of the package, and of those that decide what machine code is made."""
    total = hashlib.sha256()
    for path in sorted(paths | {Path(__file__).parent / name for name in _COMPILER}):
        total.update(_read(path)[0])
    return total.hexdigest()


def _find_sources(source: Path) -> set[Path]:
    """Return a kernel file, the kernel files it imports, transitively, and the other files that these import."""
    found, open_ones = {source}, [source]
    while open_ones:
        for path in _read(open_ones.pop())[1] - found:
            found.add(path)
            if any(path.match(pattern) for pattern in _SOURCES):
                open_ones.append(path)
    return found


@cache
def _read(path: Path) -> tuple[bytes, frozenset[Path]]:
    """Return the SHA-256 of a file's content and the files of the package that it imports."""
    content = path.read_bytes()
    imports = set()
    for module, names in _IMPORT.findall(content.decode()):
        base = _PACKAGE.parent.joinpath(*module.split("."))
        imports.add(base.with_suffix(".py"))
        imports.update(base / f"{name}.py" for name in re.findall(r"\w+", names))
    return hashlib.sha256(content).digest(), frozenset(path for path in imports if path.is_file())
