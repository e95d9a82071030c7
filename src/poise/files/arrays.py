"""Named arrays out of an npz file, safely: no pickles, and no memory taken before the sizes are known.

An npz is a zip of `.npy` files. What each would take is read from the zip's directory and from its own header, and
refused where it is too much or where the two disagree, so that a small file cannot claim or unpack to a large one.
"""

from __future__ import annotations

import io
import lzma
import math
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import IO, TypeVar

import numpy as np
from numpy.lib import format as npy

from poise.errors import FileError, valid_text
from poise.files.input import MOST_BYTES, open_input, shorten
from poise.files.output import open_atomic

_MOST_MEMBERS = 1000
# Arrays may be so many times as large as the file, and as this at least. Recorded motion packs to a half, a still pose
# to a thousandth: of that, an hour of 20 joints at 50 Hz is read.
_MOST_PACKED, _SMALL = 100, 256_000_000
_T = TypeVar("_T")
_KINDS = "biufUS"  # booleans, integers, floats, text
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    SyntaxError,
    tokenize.TokenError,  # numpy reads old headers with it
    NotImplementedError,
    OverflowError,
    RecursionError,
    RuntimeError,
    MemoryError,
)


class NpzFile:
    """The arrays of an npz file, read when asked for. Use as a context."""

    def __init__(self, path: str | PathLike[str]):
        self.path = path
        self._stream = open_input(path)
        try:
            self._zip = zipfile.ZipFile(self._stream)
        except _BROKEN as error:
            self._stream.close()
            raise FileError(path, f"not an npz file, or cut off: {_say(error)}.") from None
        members = self._zip.infolist()
        if len(members) > _MOST_MEMBERS:
            self.__exit__()
            raise FileError(path, f"the file has {len(members)} arrays; at most {_MOST_MEMBERS} are read.")
        self._members = {m.filename.removesuffix(".npy"): m for m in members if m.filename.endswith(".npy")}
        size = self._stream.seek(0, io.SEEK_END)
        self._most = min(MOST_BYTES, max(_SMALL, _MOST_PACKED * size))
        self._left = self._most

    def __enter__(self) -> NpzFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()
        self._stream.close()

    def __contains__(self, name: str) -> bool:
        return name in self._members

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all arrays."""
        return tuple(self._members)

    def find(self, *names: str) -> np.ndarray | None:
        """The first of these arrays that the file has, or None."""
        return next((self[name] for name in names if name in self), None)

    def text_of(self, name: str) -> str:
        """The text that an array is."""
        array = self[name]
        if array.size != 1 or array.dtype.kind != "U":
            raise FileError(self.path, f"array '{shorten(name)}' must be one text.")
        return str(array.reshape(-1)[0])

    def __getitem__(self, name: str) -> np.ndarray:
        """One array, checked before it is read. Raises FileError where it is broken, too large, or holds objects."""
        return self._open(name, self._read)

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape that an array's header tells, without reading the array; checked as if it were read."""
        return self._open(name, lambda name, size, stream: self._read_header(name, size, stream)[0])

    def _open(self, name: str, read: Callable[[str, int, IO[bytes]], _T]) -> _T:
        member = self._members.get(name)
        if member is None:
            have = shorten(", ".join(self.names), 120)
            raise FileError(self.path, f"there is no array '{name}'; the file has {have or 'none'}.")
        try:
            with self._zip.open(member) as stream, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return read(name, member.file_size, stream)
        except FileError:
            raise
        except _BROKEN as error:
            said = "it is encrypted" if "encrypted" in str(error) else _say(error)
            raise FileError(self.path, f"array '{shorten(name)}' cannot be read: {said}.") from None

    def _read_header(self, name: str, size: int, stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
        """Shape, whether it is stored by columns, and type; size: of the whole member, bytes."""
        version = npy.read_magic(stream)
        read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
        if read_header is None:
            raise FileError(self.path, f"array '{shorten(name)}' is of npy version {version}, which is not known.")
        shape, fortran, dtype = read_header(stream)
        if dtype.kind not in _KINDS or dtype.hasobject:
            raise FileError(
                self.path,
                f"array '{shorten(name)}' holds {_say_kind(dtype)}; only real numbers and text are read.",
            )
        count = math.prod(int(n) for n in shape)  # Python's numbers, which do not overflow
        if any(n < 0 for n in shape) or stream.tell() + count * dtype.itemsize != size:
            raise FileError(
                self.path, f"array '{shorten(name)}' is not as large as its header says. The file is broken."
            )
        if count * max(dtype.itemsize, 8) > self._left:  # what it takes as float64
            raise FileError(
                self.path,
                f"with array '{shorten(name)}' of shape {shape} its arrays take more than {self._most} bytes, the most "
                "that is unpacked from a file of this size. Split it.",
            )
        return shape, fortran, dtype

    def _read(self, name: str, size: int, stream: IO[bytes]) -> np.ndarray:
        shape, fortran, dtype = self._read_header(name, size, stream)
        count = math.prod(shape)
        self._left -= count * max(dtype.itemsize, 8)
        array = np.frombuffer(stream.read(count * dtype.itemsize), dtype)
        return array.reshape(shape, order="F" if fortran else "C")

    def numbers(self, name: str, shape: tuple[int | None, ...], most: float = 1e9) -> np.ndarray:
        """An array of finite numbers as float64, of this shape; None stands for any length."""
        array = self[name]
        if array.dtype.kind not in "biuf":
            raise FileError(self.path, f"array '{name}' holds text; numbers are needed.")
        fits = array.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
        if not fits:
            wanted = ", ".join("any" if n is None else str(n) for n in shape)
            raise FileError(self.path, f"array '{name}' has shape {array.shape}; ({wanted}) is needed.")
        values = array.astype(float)
        if not (np.max(values, initial=0.0) <= most and np.min(values, initial=0.0) >= -most):
            where = tuple(int(i) for i in np.argwhere(~(np.abs(values) <= most))[0])
            raise FileError(self.path, f"array '{name}' has {values[where]:g} at {where}, which cannot be used.")
        return values

    def number(self, name: str) -> float:
        """An array of a single finite number, of any shape."""
        array = self[name]
        if array.size != 1 or array.dtype.kind not in "biuf" or not np.isfinite(array).all():
            raise FileError(self.path, f"array '{name}' must be one number.")
        return float(array.reshape(-1)[0])

    def words(self, name: str, count: int | None = None) -> tuple[str, ...]:
        """An array of text, one word an element."""
        array = self[name]
        if array.ndim != 1 or array.dtype.kind not in "US" or (count is not None and len(array) != count):
            raise FileError(self.path, f"array '{name}' must be a list of {count or ''} words.")
        return tuple(valid_text(str(w)) if array.dtype.kind == "U" else bytes(w).decode("latin-1") for w in array)


def write_npz(path: str | PathLike[str], arrays: Mapping[str, np.ndarray]) -> None:
    """Write named arrays, compressed, atomically. The same arrays give the same bytes."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    with open_atomic(path) as stream:
        stream.write(buffer.getvalue())


def list_missing(file: NpzFile, names: Iterable[str]) -> list[str]:
    """Which of these arrays a file does not have."""
    return [name for name in names if name not in file]


def _say_kind(dtype: np.dtype) -> str:
    """What an array that is not read holds."""
    if dtype.hasobject:
        return "Python objects"
    kinds = {"c": "complex numbers", "M": "dates", "m": "durations", "V": "records"}
    return kinds.get(dtype.kind, f"values of type {dtype}")


def _say(error: BaseException) -> str:
    """An error of a library as the end of a sentence."""
    return shorten(str(error).strip().rstrip(".").split("\n")[0] or type(error).__name__, 100)
