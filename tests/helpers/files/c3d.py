"""C3D bytes made by hand, in all three byte orders and both kinds of numbers, for the tests of the reader."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

ORDERS = {"intel": 84, "dec": 85, "mips": 86}


class Packer:
    """Words and floats in one byte order."""

    def __init__(self, order: str):
        self.order = order
        self.endian = ">" if order == "mips" else "<"

    def word(self, value: int) -> bytes:
        return struct.pack(self.endian + "H", value & 0xFFFF)

    def floats(self, values: Any) -> bytes:
        values = np.asarray(values, float).reshape(-1)
        if self.order != "dec":
            return values.astype(self.endian + "f4").tobytes()
        halves = (4.0 * values).astype("<f4").view("<u2").reshape(-1, 2)
        return halves[:, ::-1].tobytes()

    def words(self, values: Any) -> bytes:
        return np.asarray(values).reshape(-1).astype(self.endian + "i2").tobytes()


def pack_parameter(packer: Packer, group: int, name: str, value: Any) -> bytes:
    """One parameter: words as text, integers as 16 bits, floats as floats; the first dimension varies fastest."""
    if isinstance(value, (list, tuple)) and (not value or isinstance(value[0], str)):
        width = max((len(word) for word in value), default=1)
        kind, shape = -1, (width, len(value))
        data = b"".join(word.encode("latin-1").ljust(width) for word in value)
    else:
        array = np.asarray(value)
        kind = 4 if array.dtype.kind == "f" else 2
        shape = array.shape
        flat = array.reshape(-1, order="F")
        data = packer.floats(flat) if kind == 4 else packer.words(flat)
    body = struct.pack("bB", kind, len(shape)) + bytes(shape) + data + b"\0"
    return struct.pack("bb", len(name), group) + name.encode() + packer.word(len(body) + 2) + body


def make_c3d(
    points: np.ndarray,
    labels: list[str],
    rate: float = 100.0,
    analog: np.ndarray | None = None,
    samples: int = 1,
    groups: Mapping[str, Mapping[str, Any]] | None = None,
    order: str = "intel",
    integers: float | None = None,
    first: int = 1,
    trial: bool = False,
    header: Mapping[int, int | float] | None = None,
) -> bytes:
    """A whole file. points (F, P, 3), NaN unseen; analog (F x samples, A); integers: the scale, None for floats.

    header  byte -> the word or float that the header has there instead of the right one
    """
    frames, count = points.shape[:2]
    packer = Packer(order)
    scale = -0.1 if integers is None else integers
    tables: dict[str, dict[str, Any]] = {"POINT": {"LABELS": labels, "RATE": float(rate), "SCALE": float(scale)}}
    for name, table in (groups or {}).items():
        tables.setdefault(name, {}).update(table)
    if trial:
        for key, value in (("ACTUAL_START_FIELD", first), ("ACTUAL_END_FIELD", first + frames - 1)):
            tables.setdefault("TRIAL", {})[key] = np.array(
                [(value & 0xFFFF) - 65536 * (value & 0x8000 > 0), value >> 16]
            )
    records = b""
    for i, (name, table) in enumerate(tables.items(), 1):
        records += struct.pack("bb", len(name), -i) + name.encode() + packer.word(3) + b"\0"
        records += b"".join(pack_parameter(packer, i, key, value) for key, value in table.items())
    section = bytes([1, 80, 0, ORDERS[order]]) + records + b"\0\0"
    blocks = -(-len(section) // 512)
    section = (section[:2] + bytes([blocks]) + section[3:]).ljust(512 * blocks, b"\0")
    channels = 0 if analog is None else analog.shape[1]
    top = bytes([2, 80]) + packer.word(count) + packer.word(channels * samples)
    top += packer.word(min(first, 65535)) + packer.word(min(first + frames - 1, 65535)) + packer.word(10)
    top += packer.floats([scale]) + packer.word(2 + blocks) + packer.word(samples) + packer.floats([rate])
    for at, value in (header or {}).items():
        wrong = packer.floats([value]) if isinstance(value, float) else packer.word(value)
        top = top[:at] + wrong + top[at + len(wrong) :]
    unseen = ~np.isfinite(points).all(axis=-1)
    values = np.concatenate([np.where(unseen[..., None], 0.0, points), np.where(unseen, -1.0, 1.0)[..., None]], axis=-1)
    rows = values.reshape(frames, -1)
    if integers is not None:
        values[..., :3] /= integers
        rows = np.round(values.reshape(frames, -1))
    if analog is not None:
        rows = np.concatenate([rows, analog.reshape(frames, -1)], axis=1)
    data = packer.floats(rows) if integers is None else packer.words(rows.astype(int))
    return top.ljust(512, b"\0") + section + data
