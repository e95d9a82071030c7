"""Machine code only for what is run: a kernel that only other kernels call gets none of its own.

Numba puts the code of a kernel into each that calls it, as LLVM's own language, and translates every one of them to
machine code by itself as well, though most are never called from outside: a fifth of the time that a compilation takes.
Here a kernel that is compiled because another calls it is left as LLVM has it, in memory and in the cache. It gets
machine code when Python calls it, and is kept with that from then on.

Numba's order is to translate a kernel first, which changes it a little, and to put what is left of it into others; here
they get it unchanged. Their machine code is some percent shorter for it, and simulations are the same to the last bit
(`tests/same_bits.py`).

All of it is under Numba's compiler lock.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from poise.spatial import quick_compile

_WRAPPER = "_ZN7cpython5poise"  # how the names begin by which Python calls kernels of ours
_UNRESOLVED = ".numba.unresolved$"  # of kernels that call themselves: Numba looks for their machine code
_thread = threading.local()  # calls: kernels that are asked for by others, each for the one before
_waiting: dict[str, Any] = {}  # name -> environment of a kernel, until there is machine code that looks there
_reading = False  # a kernel without machine code is being read from the cache
_installed: list[bool] = []


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


def install() -> None:
    """Have Numba make its libraries of code late; one that is built otherwise goes on as it does."""
    if _installed:
        return
    _installed.append(True)
    try:
        from numba.core.codegen import JITCodeLibrary
        from numba.core.registry import cpu_target

        codegen = cpu_target.target_context.codegen()
        needed = ("_finalize_final_module", "_finalize_dynamic_globals", "_verify_declare_only_symbols", "_unserialize")
        if codegen._library_class is not JITCodeLibrary or not all(hasattr(JITCodeLibrary, name) for name in needed):
            return
        plain, engine = codegen.set_env, codegen._engine
        engine.is_symbol_defined  # noqa: B018  a Numba without it is built otherwise
    except (ImportError, AttributeError):
        return

    def set_env(name: str, environment: Any) -> None:
        if engine.is_symbol_defined(name):
            plain(name, environment)
        else:
            _waiting[name] = environment

    def give_environments() -> None:
        for name in [name for name in _waiting if engine.is_symbol_defined(name)]:
            plain(name, _waiting.pop(name))

    codegen.set_env = set_env
    codegen._library_class = _build_library(JITCodeLibrary, give_environments)


def is_late(library: Any) -> bool:
    """Whether nothing of it can be called from outside."""
    return getattr(library, "is_placeholder", False)


def emit(library: Any) -> None:
    """Make machine code of it, if there is none."""
    if getattr(library, "late", False):
        library.emit()


def make_callable(compiled: Any, args: tuple[Any, ...], entry: Any) -> Any:
    """What Python calls a kernel by, whose machine code is made and kept if there is none.

    args   types of its arguments
    entry  what Numba would have Python call
    """
    from numba.core.compiler_lock import global_compiler_lock

    with global_compiler_lock:
        found = compiled.overloads.get(args)
        if found is None:
            return entry
        library = found.library
        if is_late(library):
            emit(library)
            library.is_placeholder = False
            entry = found.target_context.get_executable(library, found.fndesc, found.environment)
            found = found._replace(entry_point=entry)
            found.target_context.insert_user_function(entry, found.fndesc, [library])
            compiled.add_overload(found)
        if getattr(library, "is_kept_late", False):
            library.is_kept_late = False
            compiled._cache.save_overload(args, found)
        return found.entry_point


def _build_library(base: Any, give_environments: Any) -> type:
    class LateLibrary(base):  # type: ignore[misc]
        """Code of one kernel, with that of all that it calls."""

        late = False  # there is no machine code yet
        is_placeholder = False  # Python has been given nothing that it could call
        is_kept_late = False  # the cache has no machine code of it

        def _finalize_final_module(self) -> None:
            compiles = quick_compile.is_compiling() and getattr(self, "_compiled_object", None) is None
            if (compiles or _reading) and not self._calls_itself():
                self._finalize_dynamic_globals()
                self._verify_declare_only_symbols()
                self._finalized = self.late = True
                self.is_kept_late = _reading
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
            self._ensure_finalized()
            if self.late:
                if not self._has(name):
                    return 0
                if is_called_by_kernel() and name.startswith(_WRAPPER):
                    self.is_placeholder = True
                    return 0
                self.emit()
            return int(super().get_pointer_to_function(name))

        def _has(self, name: str) -> bool:
            try:
                return not self._final_module.get_function(name).is_declaration
            except NameError:
                return False

        def serialize_using_object_code(self) -> Any:
            if not self.late:
                return super().serialize_using_object_code()
            self.is_kept_late = True
            return self.serialize_using_bitcode()

        @classmethod
        def _unserialize(cls, codegen: Any, state: Any) -> Any:
            global _reading
            _reading = state[1] == "bitcode"
            try:
                return super()._unserialize(codegen, state)
            finally:
                _reading = False

    return LateLibrary
