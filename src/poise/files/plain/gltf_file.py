"""The JSON and the numbers of a glTF file [glTF 2.0, 3.6 and 4.4]."""

from __future__ import annotations

import base64
import json
import struct
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from poise.files.plain.tree import UnreadableError

_MOST_BYTES = 1 << 30
_MOST_NUMBERS = 1 << 25
_KINDS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


@dataclass
class GltfFile:
    """json  the document; binary  the bytes behind it; folder  where its buffers lie, None: nowhere."""

    json: dict[str, Any]
    binary: bytes = b""
    folder: Path | None = None
    buffers: dict[int, bytes] = field(default_factory=dict)

    def numbers(self, index: int) -> np.ndarray:
        """(count, width) float64 of an accessor."""
        accessor = self.json["accessors"][index]
        kind, width = np.dtype(_KINDS[accessor["componentType"]]), _WIDTHS[accessor["type"]]
        count = int(accessor["count"])
        if count * width > _MOST_NUMBERS:
            raise UnreadableError("an accessor is too large")
        rows = np.zeros((count, width), kind)
        if accessor.get("bufferView") is not None:
            rows = self._rows(accessor["bufferView"], accessor.get("byteOffset", 0), kind, count, width)
        sparse = accessor.get("sparse")
        if sparse is not None:
            rows = rows.copy()
            where, what, some = sparse["indices"], sparse["values"], int(sparse["count"])
            which = np.dtype(_KINDS[where["componentType"]])
            places = self._rows(where["bufferView"], where.get("byteOffset", 0), which, some, 1)[:, 0]
            rows[places] = self._rows(what["bufferView"], what.get("byteOffset", 0), kind, some, width)
        if accessor.get("normalized") and kind.kind in "iu":
            top = {1: 127.0, 2: 32767.0}[kind.itemsize] if kind.kind == "i" else {1: 255.0, 2: 65535.0}[kind.itemsize]
            return np.maximum(rows.astype(float) / top, -1.0)
        return rows.astype(float)

    def _rows(self, view: int, offset: int, kind: np.dtype, count: int, width: int) -> np.ndarray:
        entry = self.json["bufferViews"][int(view)]
        data = self._buffer(int(entry["buffer"]))
        start = int(entry.get("byteOffset", 0)) + int(offset)
        step = int(entry.get("byteStride") or 0) or kind.itemsize * width
        if count and start + (count - 1) * step + kind.itemsize * width > len(data):
            raise UnreadableError("a buffer is too short")
        raw = [data[start + i * step : start + i * step + kind.itemsize * width] for i in range(count)]
        return np.frombuffer(b"".join(raw), kind).reshape(count, width)

    def _buffer(self, index: int) -> bytes:
        if index not in self.buffers:
            uri = self.json["buffers"][index].get("uri")
            if uri is None:
                self.buffers[index] = self.binary
            elif uri.startswith("data:"):
                self.buffers[index] = base64.b64decode(uri.partition(",")[2])
            else:
                self.buffers[index] = self._read_beside(unquote(uri))
        return self.buffers[index]

    def _read_beside(self, name: str) -> bytes:
        if self.folder is None or not (self.folder / name).resolve().is_relative_to(self.folder.resolve()):
            raise UnreadableError(f"its buffer '{name[:80]}' is not beside it")
        if (self.folder / name).stat().st_size > _MOST_BYTES:
            raise UnreadableError("a buffer is too large")
        return (self.folder / name).read_bytes()


def read_gltf_file(path: str | PathLike[str]) -> GltfFile:
    """A .glb, .gltf, .vrm or .vrma file."""
    path = Path(path)
    if path.stat().st_size > _MOST_BYTES:
        raise UnreadableError("it is too large")
    data = path.read_bytes()
    if data[:4] != b"glTF":
        return GltfFile(json.loads(data.decode("utf-8-sig")), folder=path.parent)
    chunks: dict[bytes, bytes] = {}
    (total,) = struct.unpack_from("<I", data, 8)
    if total > len(data):
        raise UnreadableError("it is not a complete GLB")
    at = 12
    while at + 8 <= total:
        length, kind = struct.unpack_from("<I4s", data, at)
        chunks.setdefault(kind, data[at + 8 : at + 8 + length])
        at += 8 + length + (-length % 4)
    return GltfFile(json.loads(chunks[b"JSON"].decode("utf-8-sig")), chunks.get(b"BIN\0", b""), path.parent)
