"""A glTF file's container, buffers and accessors: JSON and binary in, arrays out.

Follows the glTF 2.0 specification, sections 3.6 (buffers, views, accessors, sparse, normalised integers) and 4 (GLB).
Nothing is taken from outside the file's own folder, and no size that a file states is believed before it is compared
with what is there.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import struct
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from poise.errors import FileError
from poise.files.formats.gltf.entry import JsonObject, parse_json
from poise.files.input import read_bytes

MAX_FILE_BYTES = 1 << 30
MAX_NUMBERS = 1 << 25  # decoded from all accessors of one file together, each eight bytes here
_MAGIC = b"glTF"
_HEADER, _CHUNK = struct.Struct("<4sII"), struct.Struct("<I4s")
COMPONENTS = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
_COMPRESSIONS = ("EXT_meshopt_compression", "MESHOPT_compression", "KHR_meshopt_compression")


@dataclass(eq=False)
class Document:
    """A glTF file as read.

    path    where it was read
    top     its JSON
    binary  the GLB's own buffer, None where it has none
    """

    path: Path
    top: JsonObject
    binary: bytes | None
    _buffers: dict[int, bytes] = field(default_factory=dict)
    _arrays: dict[int, np.ndarray] = field(default_factory=dict)
    _decoded: int = 0

    def __post_init__(self) -> None:
        top = self.top
        self.nodes = top.entries("nodes", "node")
        self.skins = top.entries("skins", "skin")
        self.meshes = top.entries("meshes", "mesh")
        self.animations = top.entries("animations", "animation")
        self.accessors = top.entries("accessors", "accessor")
        self.views = top.entries("bufferViews", "buffer view")
        self.buffers = top.entries("buffers", "buffer")

    def array(self, index: int, *types: str) -> np.ndarray:
        """An accessor's values (count, width), float64; whole numbers that are not normalised stay whole.

        types  the accessor types that can be used here, e.g. "VEC3"
        """
        accessor = self.accessors[index]
        if accessor.text("type") not in types:
            raise accessor.error(f"has type {accessor.text('type')!r:.20}; {' or '.join(types)} is needed here.")
        if index not in self._arrays:
            array = self._decode(accessor)
            if not np.isfinite(array).all():
                bad = int(np.argwhere(~np.isfinite(array))[0][0])
                raise accessor.error(f"holds a value that is not a finite number, at element {bad}.")
            array.flags.writeable = False
            self._arrays[index] = array
        return self._arrays[index]

    def _decode(self, accessor: JsonObject) -> np.ndarray:
        width = WIDTHS[str(accessor.text("type"))]
        dtype = _find_dtype(accessor)
        count = accessor.integer("count")
        self._decoded += count * width
        if self._decoded > MAX_NUMBERS:
            raise accessor.error(f"makes more than {MAX_NUMBERS} numbers in all, which is more than can be read.")
        view = accessor.find_index("bufferView", len(self.views))
        if view is None:
            raw = np.zeros((count, width), dtype)
        else:
            raw = self._read_view(accessor, view, accessor.integer("byteOffset", 0), dtype, (count, width))
        sparse = accessor.entry("sparse")
        if sparse is not None:
            raw = self._read_sparse(sparse, raw)
        return _to_numbers(raw, accessor.plain.get("normalized") is True)

    def _read_sparse(self, sparse: JsonObject, base: np.ndarray) -> np.ndarray:
        """The array with some of its elements replaced by those that a sparse accessor lists."""
        count = sparse.integer("count")
        places, values = sparse.entry("indices"), sparse.entry("values")
        if places is None or values is None or count > len(base):
            raise sparse.error(f"needs 'indices', 'values' and a count of at most {len(base)}.")
        kind = _find_dtype(places)
        if kind.kind != "u":
            raise places.error("must be whole numbers without sign.")
        parts = []
        for entry, dtype, width in ((places, kind, 1), (values, base.dtype, base.shape[1])):
            view = entry.index("bufferView", len(self.views))
            parts.append(self._read_view(entry, view, entry.integer("byteOffset", 0), dtype, (count, width)))
        at = parts[0][:, 0].astype(np.int64)
        if count and at.max() >= len(base):
            raise sparse.error(f"replaces element {at.max()}, but there are only {len(base)}.")
        result = base.copy()
        result[at] = parts[1]
        return result

    def _read_view(
        self, entry: JsonObject, index: int, offset: int, dtype: np.dtype, shape: tuple[int, int]
    ) -> np.ndarray:
        """`shape` elements of a buffer view, from `offset` on; checked against the bytes there are."""
        view = self.views[index]
        if any(view.extension(name) is not None for name in _COMPRESSIONS):
            raise view.error("is compressed (meshopt), which cannot be read. Export the file without compression.")
        data = self.read_buffer(view.index("buffer", len(self.buffers)))
        start, length = view.integer("byteOffset", 0), view.integer("byteLength")
        if start + length > len(data):
            raise view.error(f"ends at byte {start + length} of a buffer of {len(data)} bytes. The file is cut off.")
        if not shape[0]:
            return np.zeros(shape, dtype)
        size = shape[1] * dtype.itemsize
        stride = view.integer("byteStride", 0) or size
        needed = offset + (shape[0] - 1) * stride + size
        if stride < size or needed > length:
            raise entry.error(f"needs {needed} bytes of {view.what}, which has {length}. The file is damaged.")
        return np.ndarray(shape, dtype, data, start + offset, (stride, dtype.itemsize))

    def read_buffer(self, index: int) -> bytes:
        """The bytes of a buffer, wherever they are; at least as many as it declares."""
        if index not in self._buffers:
            buffer = self.buffers[index]
            uri = buffer.plain.get("uri")
            if uri is None:
                if self.binary is None or index != 0:
                    raise buffer.error("has no data: neither a URI nor the binary part of a GLB.")
                data = self.binary
            elif not isinstance(uri, str):
                raise buffer.error("has a 'uri' that is not text.")
            else:
                data = read_uri(buffer, uri)
            if buffer.integer("byteLength") > len(data):
                raise buffer.error(f"declares {buffer.integer('byteLength')} bytes; {len(data)} are there. Cut off?")
            self._buffers[index] = data
        return self._buffers[index]


def read_document(path: str | PathLike[str]) -> Document:
    """A .gltf, .glb, .vrm or .vrma file: its JSON and binary part. Buffers in other files are read when needed."""
    data = read_bytes(path, MAX_FILE_BYTES)
    if data[:4] == _MAGIC:
        text, binary = split_glb(path, data)
    elif data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{":
        text, binary = data, None
    else:
        raise FileError(path, "byte 0: is neither a binary glTF file nor JSON.")
    top = parse_json(path, text)
    asset = top.entry("asset")
    version = None if asset is None else asset.text("version")
    if version is None or not version.startswith("2."):
        raise FileError(path, f"is glTF of version {version or 'unknown'}; version 2 can be read. Export it anew.")
    return Document(Path(path), top, binary)


def split_glb(path: str | PathLike[str], data: bytes) -> tuple[bytes, bytes | None]:
    """The JSON text and the binary part of a GLB's bytes."""
    if len(data) < _HEADER.size + _CHUNK.size:
        raise FileError(path, f"byte {len(data)}: is cut off within the header of a binary glTF file.")
    _, version, total = _HEADER.unpack_from(data)
    if version != 2:
        raise FileError(path, f"byte 4: is binary glTF of version {version}; version 2 can be read. Export it anew.")
    if total > len(data):
        raise FileError(path, f"byte {len(data)}: is cut off: its header declares {total} bytes.")
    chunks: dict[bytes, bytes] = {}
    at = _HEADER.size
    while at + _CHUNK.size <= total and len(chunks) < 16:
        length, kind = _CHUNK.unpack_from(data, at)
        begin = at + _CHUNK.size
        if begin + length > total:
            raise FileError(path, f"byte {at}: a chunk of {length} bytes goes beyond the file's end.")
        chunks.setdefault(kind, data[begin : begin + length])
        at = begin + length + (-length % 4)
    if b"JSON" not in chunks:
        raise FileError(path, f"byte {_HEADER.size}: has no JSON chunk, with which a binary glTF file begins.")
    return chunks[b"JSON"], chunks.get(b"BIN\0")


def read_uri(entry: JsonObject, uri: str) -> bytes:
    """The bytes a URI names: inside the text itself (`data:`), or in a file of the same folder or below it."""
    if uri.startswith("data:"):
        head, _, body = uri.partition(",")
        if not head.endswith(";base64"):
            raise entry.error("has a data: URI that is not base64.")
        try:
            return base64.b64decode(body, validate=True)
        except (binascii.Error, ValueError) as error:
            raise entry.error(f"has a data: URI that is damaged: {error}.") from error
    place = find_beside(entry, uri)
    try:
        is_there = place.is_file()
    except OSError:  # a name longer than any file's
        is_there = False
    if not is_there:
        shown = place.name if len(place.name) <= 80 else place.name[:77] + "..."
        raise entry.error(f"depends on the file '{shown}', which is not beside it. Put it there.")
    return read_bytes(place, MAX_FILE_BYTES, may_be_empty=True)


def find_files_beside(document: Document) -> list[Path]:
    """The files that a document's buffers and images are in, where those are files of their own."""
    found = []
    for kind in ("buffers", "images"):
        for entry in document.top.entries(kind, kind.removesuffix("s")):
            uri = entry.plain.get("uri")
            if isinstance(uri, str) and not uri.startswith("data:"):
                with contextlib.suppress(FileError, ValueError, OSError):
                    found.append(find_beside(entry, uri))
    return found


def find_beside(entry: JsonObject, uri: str) -> Path:
    """The path of a file that a relative URI names; it must lie in the folder of the glTF file or below it."""
    shown = uri if len(uri) <= 80 else uri[:77] + "..."
    name = unquote(uri)
    folder = Path(entry.path).parent.resolve()
    try:
        place = (folder / name).resolve()
        inside = place.is_relative_to(folder) and "\0" not in name
    except (OSError, ValueError, RuntimeError):
        inside = False
    if not inside or ":" in name.split("/")[0] or name.startswith(("/", "\\")):
        raise entry.error(
            f"points to '{shown}', which is outside the file's own folder. Only files beside it are read."
        )
    return place


def _find_dtype(entry: JsonObject) -> np.dtype:
    code = entry.integer("componentType")
    if code not in COMPONENTS:
        raise entry.error(f"has component type {min(code, 10**9)}; known are {', '.join(map(str, COMPONENTS))}.")
    return np.dtype(COMPONENTS[code])


def _to_numbers(raw: np.ndarray, normalized: bool) -> np.ndarray:
    """float64, or int64 for whole numbers that count or point."""
    if raw.dtype.kind == "f":
        return raw.astype(float)
    if not normalized:
        return raw.astype(np.int64)
    # f = max(c / (2^(bits-1) - 1), -1) with sign, c / (2^bits - 1) without   [glTF 2.0, 3.11]
    return np.maximum(raw / float(np.iinfo(raw.dtype).max), -1.0)
