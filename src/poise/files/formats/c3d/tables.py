"""The tables of a C3D file: header, parameters, points and analog samples, in the file's own units.

Source: the C3D file format user guide (Motion Lab Systems, c3d.org). All three byte orders are read: Intel, DEC (VAX)
and MIPS (SGI). Why not with a C++ library: of 1500 files with a few changed bytes in header and parameters, the usual
one (ezc3d 1.7.2) crashed the whole process on 55 and was still running after ten seconds on 5, which no error message
can turn into a sentence. It is the tests' oracle. Where header and parameters disagree: `files/formats/c3d/layout.py`.

Layout, in blocks of 512 bytes counted from 1:
    header      byte 0: first parameter block; byte 1: 80; then 16-bit words: points, analog values a frame, first and
                last frame, longest gap, scale (float), first data block, analog samples a frame, rate (float)
    parameters  4 bytes (the last: 83 + byte order), then records: length of name, id (groups are negative), name,
                16-bit way to the next record, and for a parameter: bytes an element (-1 for text), dimensions, data
    data        a frame: x, y, z and a word of residual a point, then the analog values; floats where the scale is
                negative, else 16-bit integers, which the scale multiplies
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike

import numpy as np

from poise.errors import FileError
from poise.files.formats.c3d.layout import BLOCK as _BLOCK
from poise.files.formats.c3d.layout import Counts, find_layout
from poise.files.input import read_bytes, shorten
from poise.findings import Finding

_KEY = 80
_INTEL, _DEC, _MIPS = 84, 85, 86
_LARGEST_VALUE = 1e9
_RATES = (1e-3, 1e6)  # Hz
Value = tuple[str, ...] | np.ndarray


@dataclass(frozen=True, eq=False)
class C3dTables:
    """A C3D file as it stands.

    parameters   group -> parameter -> value: words, or numbers with the first dimension varying fastest
    first_frame  number of the first frame; most programs count from 1, some from 0
    rate         Hz of the points
    points       (F, P, 3) in the file's unit, NaN where a point was not seen
    analog       (F x samples, A) scaled as the file says
    analog_rate  Hz
    findings     contradictions of header and parameters
    """

    path: str
    parameters: Mapping[str, Mapping[str, Value]]
    first_frame: int
    rate: float
    points: np.ndarray
    analog: np.ndarray
    analog_rate: float
    findings: tuple[Finding, ...] = ()

    def words(self, group: str, name: str) -> tuple[str, ...]:
        """A parameter's words, with those of its continuations (LABELS2, ...); empty where there are none."""
        table = self.parameters.get(group, {})
        words: list[str] = []
        for key in (name, *(f"{name}{i}" for i in range(2, 100))):
            value = table.get(key)
            if not isinstance(value, tuple):
                break
            words += value
        return tuple(words)

    def numbers(self, group: str, name: str) -> np.ndarray:
        """A parameter's numbers, indexed as the file's guide does; empty where there are none."""
        value = self.parameters.get(group, {}).get(name)
        return value.astype(float) if isinstance(value, np.ndarray) else np.empty(0)

    def integers(self, group: str, name: str) -> np.ndarray:
        """A parameter's numbers as integers, 0 for what is none."""
        values = self.numbers(group, name)
        return np.where(np.abs(values) < 2**31, values, 0.0).astype(int)

    def number(self, group: str, name: str) -> float | None:
        """A parameter's first number, or None."""
        values = self.numbers(group, name).reshape(-1)
        return float(values[0]) if len(values) and np.isfinite(values[0]) else None


def read_c3d_tables(path: str | PathLike[str]) -> C3dTables:
    """Read a C3D file. Raises FileError, with the byte, on anything that is not one or is cut off."""
    return parse_c3d(read_bytes(path), path)


def parse_c3d(data: bytes, path: str | PathLike[str] = "<bytes>") -> C3dTables:
    """The tables of a C3D file whose bytes are at hand; `path` is for messages."""
    if len(data) < 2 * _BLOCK or data[1] != _KEY:
        raise FileError(path, "byte 1: not a C3D file: it has not the header of one, or is cut off there.")
    start = (data[0] - 1) * _BLOCK
    if start < _BLOCK or start + 4 > len(data):
        raise FileError(path, f"byte 0: the parameters should begin in block {data[0]}, which the file has not.")
    order = data[start + 3]
    if order not in (_INTEL, _DEC, _MIPS):
        raise FileError(path, f"byte {start + 3}: byte order {order} is not known; 84 (Intel), 85 (DEC), 86 (SGI) are.")
    reader = _Reader(path, data, order)
    parameters = reader.read_parameters(start)
    return reader.read_data(parameters)


class _Reader:
    """Numbers out of the bytes of one file, in its byte order."""

    def __init__(self, path: str | PathLike[str], data: bytes, order: int):
        self.path, self.data, self.order = path, data, order
        self.endian = ">" if order == _MIPS else "<"

    def _word(self, at: int, kind: str = "H") -> int:
        return int(struct.unpack_from(self.endian + kind, self.data, at)[0])

    def _floats(self, raw: bytes) -> np.ndarray:
        with np.errstate(invalid="ignore"):  # signalling NaNs
            if self.order != _DEC:
                return np.frombuffer(raw, self.endian + "f4").astype(float)
            # VAX floats have their halves swapped and an exponent 2 larger: a quarter of what IEEE makes of them.
            halves = np.frombuffer(raw, "<u2").reshape(-1, 2)[:, ::-1].copy()
            return halves.view("<f4")[:, 0].astype(float) / 4.0

    def _error(self, at: int, message: str) -> FileError:
        return FileError(self.path, f"byte {at}: {message}")

    def read_parameters(self, start: int) -> dict[str, dict[str, Value]]:
        """group -> parameter -> value. Records may stand in any order, so groups are named at the end."""
        end = len(self.data)
        groups: dict[int, str] = {}
        found: list[tuple[int, str, Value]] = []
        at = start + 4
        while at + 2 <= end:
            length, identity = struct.unpack_from("bb", self.data, at)
            length = abs(length)
            if length == 0 or identity == 0:
                break
            link = at + 2 + length
            if link + 2 > end:
                raise self._error(at, "the parameters end in the middle of a name. The file is cut off.")
            name = self.data[at + 2 : link].decode("latin-1").strip().upper()
            step = self._word(link)
            if identity < 0:
                groups[-identity] = name
            else:
                found.append((identity, name, self._read_value(link + 2, name)))
            if step == 0:
                break
            if step < 2:
                raise self._error(link, f"parameter '{shorten(name)}' leads nowhere. The file is broken.")
            at = link + step
        parameters: dict[str, dict[str, Value]] = {}
        for identity, name, value in found:
            parameters.setdefault(groups.get(identity, str(identity)), {})[name] = value
        if "POINT" not in parameters:
            raise self._error(start, "there are no POINT parameters. The file is broken or not a C3D.")
        return parameters

    def _read_value(self, at: int, name: str) -> Value:
        if at + 2 > len(self.data):
            raise self._error(at, "the parameters end in the middle of one. The file is cut off.")
        kind, rank = struct.unpack_from("bB", self.data, at)
        body = at + 2 + rank
        shape = tuple(self.data[at + 2 : body])
        size = math.prod(shape) * abs(kind)
        if kind not in (-1, 1, 2, 4) or rank > 7 or body + size > len(self.data):
            raise self._error(at, f"parameter '{shorten(name)}' is broken, or the file is cut off there.")
        raw = self.data[body : body + size]
        if kind == -1:
            width = shape[0] if shape else 1
            text = raw.decode("latin-1")
            count = math.prod(shape[1:])
            return tuple(text[i * width : (i + 1) * width].strip("\0 ") for i in range(count)) if width else ()
        values = self._floats(raw) if kind == 4 else np.frombuffer(raw, {1: "i1", 2: self.endian + "i2"}[kind])
        return values.reshape(shape, order="F")

    def read_data(self, parameters: dict[str, dict[str, Value]]) -> C3dTables:
        """Points and analog samples."""
        table = C3dTables("", parameters, 1, 0.0, np.empty(0), np.empty(0), 0.0)
        rate, found = self._find_rate(table)
        header = self._read_header(table)
        if header.scale is None:
            raise self._error(12, "neither header nor parameters have a scale that can be true. The file is broken.")
        if header.points == 0 and not table.number("POINT", "USED"):
            raise self._error(2, "there are no points in it: it has no markers to make a motion of.")
        if header.start is not None and header.start < _BLOCK and table.number("POINT", "DATA_START") is None:
            raise self._error(16, "the header does not say where the data begins. The file is broken.")
        others = tuple(self._read_counts(table, header, rate))
        layout, odd = find_layout(header, others, len(self.data))
        if layout is None:
            first, last = self._word(6), self._word(8)
            raise self._error(6, f"frames {first} to {last} are none. The file is empty or broken.")
        if layout.left_over(len(self.data)) < 0:
            there = max(0, len(self.data) - layout.start) // layout.frame_bytes
            message = (
                f"the file ends after {there} of the {layout.frames} frames that its header announces. It is cut off."
            )
            raise self._error(len(self.data), message)
        values = self._read_values(layout.start, layout.frames, layout.frame_bytes, layout.width)
        n_points = layout.points
        points = self._read_points(values[:, : 4 * n_points].reshape(layout.frames, n_points, 4), layout.scale)
        samples = self._word(18)
        if layout.analog != header.analog or not samples:
            samples = _count_samples(table, rate)
        channels = layout.analog // samples if samples else 0
        if channels * samples != layout.analog:
            raise self._error(
                4, f"{layout.analog} analog values a frame are not {samples} samples of as many channels."
            )
        analog = self._scale_analog(values[:, 4 * n_points :].reshape(-1, channels) if channels else None, table)
        return C3dTables(str(self.path), parameters, layout.first, rate, points, analog, rate * samples, (*found, *odd))

    def _find_rate(self, table: C3dTables) -> tuple[float, list[Finding]]:
        """Hz of the points, as the parameters say, or else the header; and a warning if they differ."""
        stated, header = table.number("POINT", "RATE"), float(self._floats(self.data[20:24])[0])
        good = [rate for rate in (stated, header) if rate is not None and _RATES[0] <= rate <= _RATES[1]]
        if not good:
            raise self._error(20, f"a rate of {header:g} Hz cannot be true. The file is broken.")
        if len(good) == 2 and abs(good[0] - good[1]) > 1e-3 * good[0]:
            message = f"the header says {header:g} Hz, POINT:RATE {stated:g}; the latter is taken."
            return good[0], [Finding("frame rate", message, good[0])]
        return good[0], []

    def _read_header(self, table: C3dTables) -> Counts:
        """What the header says; no frames where its numbers of the first and last make none or overflowed."""
        n_points, n_analog, first, last = (self._word(at) for at in (2, 4, 6, 8))
        scale, start = float(self._floats(self.data[12:16])[0]), (self._word(16) - 1) * _BLOCK
        stated = table.number("POINT", "SCALE")
        if stated and (stated < 0) == (
            scale < 0
        ):  # both say floats, or integers: then the parameter's is the exact one
            scale = stated
        frames = last - first + 1 if first <= last < 0xFFFF else None
        return Counts(first, frames, n_points, n_analog, start, scale if math.isfinite(scale) and scale else stated)

    def _read_counts(self, table: C3dTables, header: Counts, rate: float) -> Iterator[Counts]:
        """What the parameters say, place by place."""
        used, channels = (_whole(table.number(group, "USED")) for group in ("POINT", "ANALOG"))
        samples = _count_samples(table, rate)
        begins = _whole(table.number("POINT", "DATA_START"))
        start = (begins - 1) * _BLOCK if begins else None
        scale = table.number("POINT", "SCALE")
        analog = None if channels is None else channels * samples
        yield Counts(None, None, used or None, analog, start, scale)
        ends = []
        for name in ("ACTUAL_START_FIELD", "ACTUAL_END_FIELD"):
            words = table.integers("TRIAL", name).reshape(-1) & 0xFFFF
            ends.append(int(words[0] + (int(words[1]) << 16)) if len(words) == 2 else None)
        first, last = ends
        if first is not None and last is not None and last >= first:
            same = self._word(6) in (first & 0xFFFF, 0xFFFF)
            yield Counts(first if same else None, last - first + 1)
        for name in ("LONG_FRAMES", "FRAMES"):
            frames = table.number("POINT", name)
            if frames is not None and frames != 0:
                # 16 bits without a sign, unless it was stored as a float.
                yield Counts(None, _whole(frames + 65536.0 if -32768 <= frames < 0 else frames))
        yield from self._read_overflowed(header, used)

    def _read_overflowed(self, header: Counts, used: int | None) -> Iterator[Counts]:
        """The header's own frames where their numbers stopped at 65535, or began again from 0: as many as there are."""
        first, last = self._word(6), self._word(8)
        if last < 0xFFFF and first == last + 1:
            return  # an empty file
        width = 4 if (header.scale or -1.0) < 0 else 2
        frame_bytes = width * (4 * (header.points or used or 0) + (header.analog or 0))
        there = max(0, len(self.data) - (header.start or 0)) // frame_bytes if frame_bytes else 0
        if last == 0xFFFF:
            yield Counts(first, last - first + 1)  # it may be just so many
            yield Counts(first, there)
            return
        rest = (last - first) % 65536 + 1
        yield Counts(first, rest + max(0, there - rest) // 65536 * 65536)

    def _read_values(self, start: int, frames: int, frame_bytes: int, width: int) -> np.ndarray:
        """(F, values a frame)"""
        raw = self.data[start : start + frames * frame_bytes]
        flat = self._floats(raw) if width == 4 else np.frombuffer(raw, self.endian + "i2").astype(float)
        return flat.reshape(frames, -1)

    def _read_points(self, values: np.ndarray, scale: float) -> np.ndarray:
        """(F, P, 3) NaN where the residual is negative, or all three coordinates are exactly zero."""
        points = values[..., :3] * (1.0 if scale < 0 else scale)
        with np.errstate(invalid="ignore"):
            unseen = ~(values[..., 3] >= 0) | np.all(points == 0, axis=-1) | ~np.all(np.abs(points) < 1e9, axis=-1)
        points[unseen] = np.nan
        return points

    def _scale_analog(self, raw: np.ndarray | None, table: C3dTables) -> np.ndarray:
        """(N, A) (value - OFFSET) SCALE GEN_SCALE; 0 where that is no number."""
        if raw is None:
            return np.empty((0, 0))
        channels = raw.shape[1]
        general = table.number("ANALOG", "GEN_SCALE")
        scale = _pad(table.numbers("ANALOG", "SCALE"), channels, 1.0)
        offset = _pad(table.numbers("ANALOG", "OFFSET"), channels, 0.0)
        if "UNSIGNED" in [word.upper() for word in table.words("ANALOG", "FORMAT")]:
            raw, offset = np.where(raw < 0, raw + 65536.0, raw), np.where(offset < 0, offset + 65536.0, offset)
        with np.errstate(invalid="ignore", over="ignore"):
            values = (raw - offset) * scale * (1.0 if general is None else general)
        return np.where(np.abs(values) <= _LARGEST_VALUE, values, 0.0)


def _count_samples(table: C3dTables, rate: float) -> int:
    """Analog samples a channel and frame, by the two rates."""
    stated = table.number("ANALOG", "RATE") or rate
    return max(1, round(min(max(stated, rate), _RATES[1]) / rate))


def _whole(value: float | None) -> int | None:
    """A count that a parameter holds, None where it is none."""
    return int(value) if value is not None and 0 <= value < 2**31 and value == int(value) else None


def _pad(values: np.ndarray, count: int, default: float) -> np.ndarray:
    """(count,) the values, as many as there are, then the default."""
    flat = values.reshape(-1)[:count]
    return np.concatenate([flat, np.full(count - len(flat), default)])
