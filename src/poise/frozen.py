"""Descriptions that travel: pickled, copied, sent to worker processes and back, and still nobody can write to them.

NumPy forgets on the way that an array is read-only, a `MappingProxyType` cannot be pickled at all, and what a
`cached_property` keeps may be many times as large as what it was computed from. Here read-only arrays and mappings
arrive read-only, and what was computed stays behind.

Poise never loads pickles from files: whoever does runs the code that is in them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np


class Portable:
    """A base of frozen dataclasses: their fields travel, read-only where they were."""

    def __getstate__(self) -> dict[str, Any]:
        """The fields, as pickle and copy take them."""
        return {field.name: _pack(getattr(self, field.name)) for field in dataclasses.fields(self)}  # type: ignore[arg-type]


class _Sealed:
    """A read-only array or mapping on its way; what arrives is the thing itself, not this."""

    def __init__(self, content: np.ndarray | Mapping[Any, Any]):
        self.content = content

    def __reduce__(self) -> tuple[Any, tuple[Any]]:
        if isinstance(self.content, np.ndarray):
            return _seal, (self.content,)
        return _seal, ({key: _pack(value) for key, value in self.content.items()},)


def _seal(content: Any) -> Any:
    if not isinstance(content, np.ndarray):
        return MappingProxyType(content)
    content.flags.writeable = False
    return content


def _pack(value: Any) -> Any:
    """A value with everything read-only in it wrapped."""
    if isinstance(value, MappingProxyType) or (type(value) is np.ndarray and not value.flags.writeable):
        return _Sealed(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_pack, value))
    if type(value) in (tuple, list):
        return type(value)(_pack(each) for each in value)
    if type(value) is dict:
        return {key: _pack(each) for key, each in value.items()}
    return value
