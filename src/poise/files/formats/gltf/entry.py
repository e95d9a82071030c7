"""The JSON of a glTF file, read key by key: an answer has the right type, or an error says where it has not."""

from __future__ import annotations

import json
import math
from os import PathLike
from typing import Any

import numpy as np

from poise.errors import FileError, valid_text

MAX_JSON_BYTES = 256 * 2**20  # buffers may stand in it as text
MAX_ITEMS = 3_000_000  # objects, lists and values: what they take in memory, unlike text, is many times their length
MAX_ENTRIES = 200_000  # nodes, accessors, ...
MAX_TEXT = 1024
MAX_SIZE = 1e30  # of a number: larger ones overflow as soon as anything is computed from them


def parse_json(path: str | PathLike[str], data: bytes) -> JsonObject:
    """The outermost object of a file's JSON text."""
    if len(data) > MAX_JSON_BYTES:
        raise FileError(path, f"its JSON has more than {MAX_JSON_BYTES // 2**20} MB, which no character needs.")
    if sum(data.count(mark) for mark in (b"{", b"[", b",")) > MAX_ITEMS:
        raise FileError(path, f"its JSON has more than {MAX_ITEMS} items, which no character needs.")
    try:
        value = json.loads(data.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise FileError(path, f"byte {error.start}: its JSON is not UTF-8 text. Is it a glTF file?") from error
    except json.JSONDecodeError as error:
        raise FileError(path, f"its JSON is damaged: {error.msg} (column {error.colno}).", error.lineno) from error
    except RecursionError as error:
        raise FileError(path, "its JSON is nested too deeply.") from error
    except ValueError as error:  # a number of thousands of digits, NaN
        raise FileError(path, f"its JSON is damaged: {error}.") from error
    return JsonObject(path, "the file", mend_text(value) if b"\\ud" in data.lower() else value)


def mend_text(value: Any) -> Any:
    """The same JSON without halves of surrogate pairs, which its escapes can say and no text can hold."""
    if isinstance(value, str):
        return valid_text(value)
    if isinstance(value, list):
        return [mend_text(item) for item in value]
    if isinstance(value, dict):
        return {valid_text(key): mend_text(item) for key, item in value.items()}
    return value


def _refuse_constant(name: str) -> float:
    raise ValueError(f"it contains {name}, which JSON has no number for")


class JsonObject:
    """One JSON object. `what` names it in errors: "node 3"."""

    def __init__(self, path: str | PathLike[str], what: str, value: object):
        self.path, self.what = path, what
        if not isinstance(value, dict):
            raise self.error("must be a JSON object {...}.")
        self.plain: dict[str, Any] = value

    def error(self, message: str) -> FileError:
        """The error for something about this object."""
        return FileError(self.path, f"{self.what} {message}")

    def __contains__(self, key: str) -> bool:
        return key in self.plain

    def text(self, key: str) -> str | None:
        """The text under a key, or None where there is none."""
        value = self.plain.get(key)
        if value is not None and (not isinstance(value, str) or len(value) > MAX_TEXT):
            raise self.error(f"has a '{key}' that is not text of at most {MAX_TEXT} characters.")
        return None if value is None else valid_text(value)

    def integer(self, key: str, default: int | None = None) -> int:
        """The whole number under a key, at least 0; without a default the key is required."""
        value = self.plain.get(key, default)
        if value is None:
            raise self.error(f"lacks '{key}'.")
        return self._integer(key, value)

    def find_index(self, key: str, count: int) -> int | None:
        """The index under a key into a list of `count`, or None where the key is missing."""
        return None if self.plain.get(key) is None else self._index(key, self.plain[key], count)

    def index(self, key: str, count: int) -> int:
        """The index under a key into a list of `count`."""
        index = self.find_index(key, count)
        if index is None:
            raise self.error(f"lacks '{key}'.")
        return index

    def indices(self, key: str, count: int) -> list[int]:
        """The indices under a key, each below `count`; none where the key is missing."""
        return [self._index(key, value, count) for value in self._list(key)]

    def numbers(self, key: str, count: int) -> np.ndarray | None:
        """(count,) finite numbers under a key, or None where it is missing."""
        if self.plain.get(key) is None:
            return None
        values = self._list(key)
        if len(values) != count or not all(_is_finite_number(value) for value in values):
            raise self.error(f"has a '{key}' that is not a list of {count} finite numbers.")
        return np.array(values, float)

    def entry(self, key: str) -> JsonObject | None:
        """The object under a key, or None."""
        value = self.plain.get(key)
        return None if value is None else JsonObject(self.path, f"'{key}' of {self.what}", value)

    def entries(self, key: str, what: str) -> list[JsonObject]:
        """The objects under a key, called `what` 0, 1, ...; none where the key is missing."""
        values = self._list(key)
        if len(values) > MAX_ENTRIES:
            raise self.error(f"has {len(values)} {key}; at most {MAX_ENTRIES} can be read.")
        return [JsonObject(self.path, f"{what} {i}", value) for i, value in enumerate(values)]

    def extension(self, name: str) -> JsonObject | None:
        """An extension of this object, or None."""
        extensions = self.entry("extensions")
        return None if extensions is None else extensions.entry(name)

    def _list(self, key: str) -> list[Any]:
        value = self.plain.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.error(f"has a '{key}' that is not a list.")
        return value

    def _integer(self, key: str, value: object) -> int:
        if isinstance(value, float) and value.is_integer():  # some writers have no whole numbers
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self.error(f"has a '{key}' that is not a whole number from 0.")
        return value

    def _index(self, key: str, value: object, count: int) -> int:
        index = self._integer(key, value)
        if index >= count:
            shown = index if index < 10**12 else "a number beyond all bounds"
            raise self.error(f"has '{key}' {shown}, but there are only {count}.")
        return index


def _is_finite_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value) and abs(value) < MAX_SIZE
    except OverflowError:
        return False
