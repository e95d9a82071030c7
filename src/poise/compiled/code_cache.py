"""Numba's cache of machine code, made safe: a file in it that is broken is made again, not stumbled over or run.

Numba trusts what it finds. A file that was cut off, filled with garbage or may not be read makes it raise from inside
the first call of a kernel, and machine code in which a bit was flipped is run. Here every file of code ends with its
SHA-256, whatever cannot be read counts as not there, and code that cannot be written is used in this process only.
(Code of another Numba, CPU or Python has another name or key: Numba sees to that.)
"""

from __future__ import annotations

import hashlib
import pickle
from typing import Any

_SUM = hashlib.sha256().digest_size


def guard_cache(compiled: Any) -> None:
    """Make the cache of a kernel safe; a Numba that is built otherwise goes on as it does."""
    from numba.core.caching import FunctionCache, IndexDataCacheFile

    cache: Any = getattr(compiled, "_cache", None)
    if type(cache) is not FunctionCache or type(cache._cache_file) is not IndexDataCacheFile:
        return
    checked, safe = _build_classes(FunctionCache, IndexDataCacheFile)
    cache._cache_file.__class__ = checked
    cache.__class__ = safe


_CLASSES: list[tuple[type, type]] = []


def _build_classes(function_cache: Any, file: Any) -> tuple[type, type]:
    """Numba's two classes with the guards; once, since Numba is not imported before it is used."""
    if not _CLASSES:
        _CLASSES.append((_build_file(file), _build_cache(function_cache)))
    return _CLASSES[0]


def _build_file(base: Any) -> type:
    class CheckedFile(base):  # type: ignore[misc]
        """Index and code on the disk."""

        def _load_index(self) -> dict[Any, str]:
            try:
                found = super()._load_index()
            except Exception:  # pickle raises nearly anything at garbage
                return {}
            return found if isinstance(found, dict) else {}

        def _load_data(self, name: str) -> Any:
            with open(self._data_path(name), "rb") as stream:  # noqa: PTH123  Numba's own paths
                data = stream.read()
            code, check = data[:-_SUM], data[-_SUM:]
            if hashlib.sha256(code).digest() != check:
                raise OSError(f"{name} is broken")  # which Numba takes for a file that is gone
            return pickle.loads(code)

        def _save_data(self, name: str, data: Any) -> None:
            code = self._dump(data)
            with self._open_for_write(self._data_path(name)) as stream:
                stream.write(code + hashlib.sha256(code).digest())

    return CheckedFile


def _build_cache(base: Any) -> type:
    class SafeCache(base):  # type: ignore[misc]
        """What compiles anew where nothing can be loaded, and goes on where nothing can be saved."""

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                return super().load_overload(sig, target_context)
            except Exception:
                return None

        def save_overload(self, sig: Any, data: Any) -> None:
            try:
                super().save_overload(sig, data)
            except (OSError, pickle.PicklingError):  # a full disk, a folder that may not be written any more
                self.disable()

    return SafeCache
