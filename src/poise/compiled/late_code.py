"""Machine code only for what is run: a kernel that only other kernels call gets none of its own.

Numba puts the code of a kernel into each that calls it, as LLVM's own language. By itself it makes of every one of them
machine code as well, and a function by which Python calls it, though most are never called from outside: a third of the
time that a compilation takes. Here a kernel that is compiled because another calls it has neither, in memory and in the
cache. If Python calls it later, it is compiled again with both, and kept so.

Numba's order is to translate a kernel first, which changes it a little, and to put what is left of it into others; here
they get it unchanged. Their machine code is some percent shorter for it, and simulations are the same to the last bit
(`make same-bits`).

All of it is under Numba's compiler lock.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from poise.compiled import quick_compile

_UNRESOLVED = ".numba.unresolved$"  # of kernels that call themselves: Numba looks for their machine code
_OPTION = "no_cpython_wrapper"
_thread = threading.local()  # calls: kernels that are asked for by others, each for the one before
_waiting: dict[str, Any] = {}  # name -> environment of a kernel, until there is machine code that looks there
_reading = False  # a kernel without machine code is being read from the cache
_installed: list[bool] = []  # whether this Numba can do it


@contextmanager
def called_by_kernel() -> Iterator[None]:
    """What is compiled or loaded meanwhile is for another kernel."""
    _thread.calls = getattr(_thread, "calls", 0) + 1
    try:
        yield
    finally:
        _thread.calls -= 1


def is_called_by_kernel() -> bool:
    return getattr(_thread, "calls", 0) > 0


def compile_late(compiled: Any, signature: Any, plain: Any) -> Any:
    """What `plain` gives, Numba's own way to compile a kernel: that which Python calls, if it was Python that asked."""
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.sigutils import normalize_signature

    if not install():
        return plain(signature)
    with global_compiler_lock:
        if is_called_by_kernel():
            compiled.targetoptions[_OPTION] = True
            try:
                return plain(signature)
            finally:
                del compiled.targetoptions[_OPTION]
        entry, args = plain(signature), tuple(normalize_signature(signature)[0])
        if is_late(compiled, args):
            del compiled.overloads[args]
            with _forget_cache(compiled):
                entry = plain(signature)
        return entry


def add_overload(compiled: Any, result: Any, plain: Any) -> None:
    """Do as `plain`, Numba's own way to keep what was compiled; but Python is not told of what it cannot call."""
    if getattr(result.library, "late", False):
        compiled.overloads[tuple(result.signature.args)] = result
    else:
        plain(result)


def is_late(compiled: Any, args: tuple[Any, ...]) -> bool:
    """Whether a kernel for arguments of some types has nothing that Python could call."""
    found = compiled.overloads.get(args)
    return found is not None and getattr(found.library, "late", False)


@contextmanager
def _forget_cache(compiled: Any) -> Iterator[None]:
    """What the cache has of a kernel is not read meanwhile; it is written."""
    cache = compiled._cache
    cache.load_overload = lambda signature, context: None
    try:
        yield
    finally:
        del cache.load_overload


def emit(library: Any) -> None:
    """Make machine code of it, if there is none."""
    if getattr(library, "late", False):
        library.emit()


def install() -> bool:
    """Have Numba make its libraries of code late; False for one that is built otherwise and goes on as it does."""
    if not _installed:
        _installed.append(_install())
    return _installed[0]


def _install() -> bool:
    try:
        from numba.core.codegen import JITCodeLibrary
        from numba.core.registry import cpu_target

        codegen = cpu_target.target_context.codegen()
        needed = ("_finalize_final_module", "_finalize_dynamic_globals", "_verify_declare_only_symbols", "_unserialize")
        if codegen._library_class is not JITCodeLibrary or not all(hasattr(JITCodeLibrary, name) for name in needed):
            return False
        plain, engine = codegen.set_env, codegen._engine
        is_defined = engine.is_symbol_defined
    except (ImportError, AttributeError):
        return False

    def set_env(name: str, environment: Any) -> None:
        if is_defined(name):
            plain(name, environment)
        else:
            _waiting[name] = environment

    def give_environments() -> None:
        for name in [name for name in _waiting if is_defined(name)]:
            plain(name, _waiting.pop(name))

    codegen.set_env = set_env
    codegen._library_class = _build_library(JITCodeLibrary, give_environments)
    return True


def _build_library(base: Any, give_environments: Any) -> type:
    class LateLibrary(base):  # type: ignore[misc]
        """Code of one kernel, with that of all that it calls."""

        late = False  # there is no machine code yet

        def _finalize_final_module(self) -> None:
            compiles = quick_compile.is_compiling() and getattr(self, "_compiled_object", None) is None
            if (compiles or _reading) and not self._calls_itself():
                self._finalize_dynamic_globals()
                self._verify_declare_only_symbols()
                self._finalized = self.late = True
                return
            super()._finalize_final_module()
            give_environments()

        def _calls_itself(self) -> bool:
            return any(variable.name.startswith(_UNRESOLVED) for variable in self._final_module.global_variables)

        def emit(self) -> None:
            self.late = False
            self._dynamic_globals.clear()
            if not self._object_caching_enabled:
                self.enable_object_caching()
            super()._finalize_final_module()
            give_environments()

        def get_pointer_to_function(self, name: str) -> int:
            """Where it is in memory; 0 if there is none of that name, as of a kernel that Python does not call."""
            self._ensure_finalized()
            if self.late:
                if not self._has(name):
                    return 0
                self.emit()
            return int(super().get_pointer_to_function(name))

        def _has(self, name: str) -> bool:
            try:
                return not self._final_module.get_function(name).is_declaration
            except NameError:
                return False

        def serialize_using_object_code(self) -> Any:
            return self.serialize_using_bitcode() if self.late else super().serialize_using_object_code()

        @classmethod
        def _unserialize(cls, codegen: Any, state: Any) -> Any:
            global _reading
            _reading = state[1] == "bitcode"
            try:
                return super()._unserialize(codegen, state)
            finally:
                _reading = False

    return LateLibrary
