"""States of stages as files, to be played again in another process: `.state.npz`, arrays that any NumPy can read.

    format    text    "poise-state 1"
    tree      text    JSON of what `Stage.save` gives; an array in it is a list of its type and shape
    float64, int64, uint8, bool    (n,) each: the numbers of all arrays of that type, one after the other, as in `tree`

In `tree` every list begins with a word: ["list", ...] is a list, ["float64", 3, 4] an array, ["number", "nan"] a
number that JSON does not have (nan, inf, -inf).

A file is read without pickles, and every size is checked before memory is taken for it. The same state gives the same
bytes.
"""

from __future__ import annotations

import json
import math
from os import PathLike
from typing import Any, NoReturn

import numpy as np

from poise.errors import FileError, InputError
from poise.files.arrays import NpzFile, write_npz
from poise.files.input import shorten
from poise.kinds import checked

SUFFIX = ".state.npz"
FORMAT = "poise-state 1"
_TYPES = ("float64", "int64", "uint8", "bool")
_ODD = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_DEEPEST = 40  # of lists and dictionaries in one another
_MOST_AXES = 8


@checked
def save_state(saved: dict[str, Any], path: str | PathLike[str]) -> None:
    """Write what `Stage.save` gave."""
    if not isinstance(saved, dict):
        raise InputError(f"what is written is what stage.save() gives; given {type(saved).__name__}.")
    arrays: dict[str, list[np.ndarray]] = {name: [] for name in _TYPES}
    tree = json.dumps(_flatten(saved, arrays, "state"), allow_nan=False, separators=(",", ":"))
    numbers = {
        name: np.concatenate([array.reshape(-1) for array in found] or [np.zeros(0, name)])
        for name, found in arrays.items()
    }
    write_npz(path, {"format": np.array(FORMAT), "tree": np.array(tree), **numbers})


@checked
def load_state(path: str | PathLike[str]) -> dict[str, Any]:
    """Read a state for `Stage.restore`. Whether it fits a stage is found out there."""
    with NpzFile(path) as file:
        if "format" not in file or file.text_of("format") != FORMAT:
            raise FileError(path, f"is no state: it does not say '{FORMAT}'. States are what poise.save_state writes.")
        text = file.text_of("tree")
        try:
            tree = json.loads(text, parse_constant=lambda word: _refuse(path, f"the number {word}"))
        except FileError:
            raise
        except (ValueError, RecursionError):
            raise FileError(path, "its tree must be JSON. The file is broken.") from None
        reader = _Reader(path, {name: _numbers(file, name) for name in _TYPES})
        found = reader.read(tree, 0)
        reader.check_end()
    if not isinstance(found, dict):
        _refuse(path, "no dictionary at the top")
    return found


def _flatten(value: Any, arrays: dict[str, list[np.ndarray]], where: str) -> Any:
    """A value as JSON; the numbers of its arrays go to `arrays`."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise InputError(f"{where} cannot be written: a dictionary in a state is by words.")
        return {key: _flatten(each, arrays, f"{where}/{key}") for key, each in value.items()}
    if isinstance(value, list | tuple):
        return ["list", *(_flatten(each, arrays, f"{where}/{k}") for k, each in enumerate(value))]
    if isinstance(value, np.ndarray):
        if value.dtype.name not in _TYPES:
            raise InputError(
                f"{where} cannot be written: an array in a state is of {', '.join(_TYPES)}; this is {value.dtype.name}."
            )
        arrays[value.dtype.name].append(np.ascontiguousarray(value))
        return [value.dtype.name, *value.shape]
    if isinstance(value, float) and not math.isfinite(value):
        return ["number", str(value)]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise InputError(
        f"{where} cannot be written: it is a {type(value).__name__}. A state is arrays, numbers, words, and lists and "
        "dictionaries of those."
    )


class _Reader:
    """Values out of JSON, with the numbers of their arrays taken from those of the file, one after the other."""

    def __init__(self, path: str | PathLike[str], numbers: dict[str, np.ndarray]):
        self.path, self.numbers = path, numbers
        self.taken = dict.fromkeys(numbers, 0)

    def read(self, node: Any, depth: int) -> Any:
        """One value."""
        if depth > _DEEPEST:
            _refuse(self.path, f"lists more than {_DEEPEST} deep")
        if isinstance(node, dict):
            return {key: self.read(each, depth + 1) for key, each in node.items()}
        if not isinstance(node, list):
            return node
        kind = node[0] if node else None
        if kind == "list":
            return [self.read(each, depth + 1) for each in node[1:]]
        if kind == "number" and len(node) == 2 and isinstance(node[1], str) and node[1] in _ODD:
            return _ODD[node[1]]
        if isinstance(kind, str) and kind in self.numbers:
            return self._read_array(kind, node[1:])
        return _refuse(self.path, f"a list that is none of list, number, {', '.join(_TYPES)}")

    def _read_array(self, kind: str, shape: list[Any]) -> np.ndarray:
        if len(shape) > _MOST_AXES or not all(type(n) is int and n >= 0 for n in shape):
            _refuse(self.path, f"an array of shape {shorten(str(shape))}")
        begin, size = self.taken[kind], math.prod(shape)
        if begin + size > len(self.numbers[kind]):
            _refuse(self.path, f"more {kind} numbers in its tree than in its arrays")
        self.taken[kind] = begin + size
        try:
            return np.array(self.numbers[kind][begin : begin + size].reshape(shape))
        except ValueError:  # no numbers, and an axis beyond all bounds
            return _refuse(self.path, f"an array of shape {shorten(str(shape))}")

    def check_end(self) -> None:
        """Raise FileError where numbers are left over."""
        for kind, array in self.numbers.items():
            if self.taken[kind] != len(array):
                _refuse(self.path, f"fewer {kind} numbers in its tree than in its arrays")


def _refuse(path: str | PathLike[str], what: str) -> NoReturn:
    raise FileError(path, f"is no state that can be read: there is {what}. The file is broken.")


def _numbers(file: NpzFile, name: str) -> np.ndarray:
    array = file[name]
    if array.ndim != 1 or array.dtype.name != name:
        raise FileError(file.path, f"array '{name}' must be (n,) of {name}; it is {array.shape} of {array.dtype.name}.")
    return array
