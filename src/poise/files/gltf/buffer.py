"""What every glTF writer needs: a growing binary part, an animation in it, and the container round both."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from typing import Any

import numpy as np

from poise.errors import InputError
from poise.files.gltf.entry import mend_text

# glTF 2.0 specification, sections 3.6.2 and 5.1.3, 5.11.5
_COMPONENTS = {"float32": 5126, "uint32": 5125, "uint16": 5123, "uint8": 5121}
_TYPES = {(): "SCALAR", (3,): "VEC3", (4,): "VEC4", (16,): "MAT4"}
VERTICES, INDICES = 34962, 34963


class GltfBuffer:
    """The binary part, with the accessors and views that describe it. It may go on from what a file already has."""

    def __init__(
        self, data: bytes = b"", views: Iterable[dict[str, Any]] = (), accessors: Iterable[dict[str, Any]] = ()
    ) -> None:
        self.data = bytearray(data)
        self.views = list(views)
        self.accessors = list(accessors)

    def add_view(self, raw: bytes, target: int | None = None) -> int:
        """Append bytes and return the index of their view. Every view begins at a multiple of four."""
        self.data += b"\0" * (-len(self.data) % 4)
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(raw)}
        self.views.append(view if target is None else {**view, "target": target})
        self.data += raw + b"\0" * (-len(raw) % 4)
        return len(self.views) - 1

    def add(self, array: np.ndarray, target: int | None = None, bounds: bool = False) -> int:
        """Append an array (N, ...) and return the index of its accessor."""
        raw = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        accessor: dict[str, Any] = {
            "bufferView": self.add_view(raw, target),
            "componentType": _COMPONENTS[array.dtype.name],
            "count": len(array),
            "type": _TYPES[array.shape[1:]],
        }
        if bounds:
            flat = array.reshape(len(array), -1)
            accessor["min"], accessor["max"] = flat.min(axis=0).tolist(), flat.max(axis=0).tolist()
        self.accessors.append(accessor)
        return len(self.accessors) - 1


def build_animation(
    file: GltfBuffer, name: str, times: np.ndarray, channels: Iterable[tuple[int, str, np.ndarray]]
) -> dict[str, Any]:
    """An animation with keys at every frame, linear in between; a channel that never changes has one key.

    Where nothing ever changes the first channel has all keys, else nothing would say how long it lasts.

    times     (F,) s; the first becomes 0
    channels  (node, path, keys (F, 3) or (F, 4)) each; rotations wxyz
    """
    times = (times - times[0]).astype(np.float32)
    if np.any(np.diff(times) <= 0):
        raise InputError("glTF keeps times in single precision, in which some frames of this clip coincide. Cut it.")
    inputs: dict[int, int] = {}  # accessor of the first n times, by n
    samplers: list[dict[str, Any]] = []
    targets: list[dict[str, Any]] = []
    tracks = [
        (node, path, (keys[:, [1, 2, 3, 0]] if path == "rotation" else keys).astype(np.float32))
        for node, path, keys in channels
    ]
    rests = [bool((values == values[0]).all()) for _, _, values in tracks]
    if rests:
        rests[0] = rests[0] and not all(rests)
    for (node, path, values), is_still in zip(tracks, rests, strict=True):
        n = 1 if is_still else len(values)
        if n not in inputs:
            inputs[n] = file.add(times[:n], bounds=True)
        samplers.append({"input": inputs[n], "output": file.add(values[:n]), "interpolation": "LINEAR"})
        targets.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": path}})
    return {"name": name, "samplers": samplers, "channels": targets}


def _format(document: dict[str, Any]) -> str:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def pack_glb(document: dict[str, Any], binary: bytes) -> bytes:
    """The container: a header, the JSON chunk padded with blanks, the binary chunk padded with zeros."""
    try:
        text = _format(document).encode()
    except UnicodeEncodeError:  # a name that was given as half of a surrogate pair
        text = _format(mend_text(document)).encode()
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    total = 12 + 8 + len(text) + 8 + len(binary)
    return b"".join(
        [
            struct.pack("<4sII", b"glTF", 2, total),
            struct.pack("<I4s", len(text), b"JSON"),
            text,
            struct.pack("<I4s", len(binary), b"BIN\0"),
            binary,
        ]
    )
