"""glTF, GLB, VRM and VRMA: every node's translation, rotation and scale, or matrix, down the tree.

The joints that should be found are those of all skins, the bones that a VRM names, and every node that the animation
moves, other than cameras, meshes that a skin bends (their own transform does not count [glTF 2.0, 3.7.3.3]) and the
nodes by which a VRM animation moves a face.

The JSON and the numbers of a file are those of glTF 2.0, 3.6 and 4.4; keys at given times those of 3.11 and appendix C.
"""

from __future__ import annotations

import base64
import functools
import json
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from poise.files.writing.independent.tree import PlainMotion, UnreadableError, move, stretch, turn

_PATHS = ("translation", "rotation", "scale")
# A frame this near to a key, in frames, is the key's: frames are told on an even grid, keys lie beside it.
_AT_KEY = 0.25
# Keys this near to each other, in frames, are one moment in several tracks; the last has all of them begun.
_SAME_MOMENT = 1e-3


@dataclass(frozen=True, eq=False)
class _Track:
    times: np.ndarray
    values: np.ndarray
    how: str


# (node, path) -> the sampler of its channel; keys are read when a node is asked for.
Samplers = dict[tuple[int, str], dict[str, Any]]


def read_gltf_motion(
    file: GltfFile, animation: int | None, times: np.ndarray, joints: Iterable[str] | None = None
) -> PlainMotion:
    """The nodes of a file, in an animation (None: at rest) at times (F,) s from its first key.

    joints  names of the nodes whose first key is meant, with what carries them; all if None
    """
    nodes: list[dict[str, Any]] = file.json["nodes"]
    parents = _list_parents(nodes)
    names = tuple(str(node.get("name") or f"node{i}") for i, node in enumerate(nodes))
    samplers = {} if animation is None else _find_samplers(file.json["animations"][animation])
    tracks = {key: functools.cache(functools.partial(_read_track, file, each)) for key, each in samplers.items()}
    still = PlainMotion(names, tuple(parents), 1, lambda i, rows: _rest(nodes[i]), ())
    own = None if joints is None else _find_own(still, set(joints))
    keys = [track().times for (i, _), track in tracks.items() if own is None or i in own]
    at = _find_moments(keys, np.asarray(times, float))

    def local(i: int, rows: slice) -> np.ndarray:
        node = nodes[i]
        moved = {path: tracks[i, path]() for path in _PATHS if (i, path) in tracks}
        if not moved:
            return _rest(node)
        if "matrix" in node:
            raise UnreadableError(f"node {i} has a matrix and is animated, which glTF forbids")
        parts = {path: np.atleast_2d(np.asarray(node.get(path) or _USUAL[path], float)) for path in _PATHS}
        for path, track in moved.items():
            parts[path] = sample(track.times, track.values, track.how, path == "rotation", at[rows])
        x, y, z, w = parts["rotation"].T
        return np.asarray(move(parts["translation"]) @ turn(w, x, y, z) @ stretch(parts["scale"]))

    return PlainMotion(names, tuple(parents), len(at), local, _find_wanted(file, {i for i, _ in tracks}))


def _list_parents(nodes: list[dict[str, Any]]) -> list[int]:
    parents = [-1] * len(nodes)
    for i, node in enumerate(nodes):
        for child in node.get("children") or ():
            parents[int(child)] = i
    return parents


_USUAL = {"translation": (0.0, 0.0, 0.0), "rotation": (0.0, 0.0, 0.0, 1.0), "scale": (1.0, 1.0, 1.0)}


def _rest(node: dict[str, Any]) -> np.ndarray:
    if node.get("matrix") is not None:
        return np.array(node["matrix"], float).reshape(1, 4, 4).transpose(0, 2, 1)  # stored column by column
    x, y, z, w = np.array(node.get("rotation") or _USUAL["rotation"], float)
    shift, size = (np.array(node.get(path) or _USUAL[path], float) for path in ("translation", "scale"))
    return np.asarray(move(shift) @ turn(w, x, y, z) @ stretch(size))


def _find_samplers(animation: dict[str, Any]) -> Samplers:
    samplers: Samplers = {}
    for channel in animation.get("channels") or ():
        target = channel.get("target") or {}
        node, path = target.get("node"), target.get("path")
        if node is not None and path in _PATHS:
            samplers.setdefault((int(node), path), animation["samplers"][int(channel["sampler"])])
    return samplers


def _read_track(file: GltfFile, sampler: dict[str, Any]) -> _Track:
    times, values = file.numbers(int(sampler["input"]))[:, 0], file.numbers(int(sampler["output"]))
    return _Track(times, values, sampler.get("interpolation") or "LINEAR")


def _find_own(tree: PlainMotion, joints: set[str]) -> set[int]:
    """The nodes of these names and all that carry them."""
    own = {i for i, name in enumerate(tree.names) if name in joints}
    return own.union(*(tree.above(i) for i in own))


def _find_moments(keys: list[np.ndarray], times: np.ndarray) -> np.ndarray:
    """(F,) s on the animation's clock for times from its first key: at a key where one is near."""
    if not keys:
        return times
    every = np.unique(np.concatenate(keys))
    at = every[0] + times
    if len(times) < 2:
        return at
    step = float(np.median(np.diff(times)))
    nearest = _near(every, at)
    latest = every[np.searchsorted(every, nearest + _SAME_MOMENT * step, side="right") - 1]
    return np.where(np.abs(nearest - at) < _AT_KEY * step, latest, at)


def _near(every: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Of sorted numbers, the nearest to each of some."""
    after = np.clip(np.searchsorted(every, at), 0, len(every) - 1)
    before = np.maximum(after - 1, 0)
    return np.where(at - every[before] < every[after] - at, every[before], every[after])


def _find_wanted(file: GltfFile, moving: set[int]) -> tuple[int, ...]:
    wanted = {int(joint) for skin in file.json.get("skins") or () for joint in skin.get("joints") or ()}
    extensions = file.json.get("extensions") or {}
    wanted |= _find_bones(extensions)
    nodes = file.json["nodes"]
    face = _find_face(extensions.get("VRMC_vrm_animation") or {})
    moved = {i for i in moving if "camera" not in nodes[i] and "skin" not in nodes[i]}
    return tuple(sorted(wanted | moved - face))


def _find_bones(extensions: dict[str, Any]) -> set[int]:
    """The nodes that are bones of a VRM body."""
    found: set[int] = set()
    for name in ("VRMC_vrm", "VRMC_vrm_animation", "VRM"):
        bones = ((extensions.get(name) or {}).get("humanoid") or {}).get("humanBones") or {}
        entries = bones.values() if isinstance(bones, dict) else bones
        found |= {int(entry["node"]) for entry in entries if entry and entry.get("node") is not None}
    return found


def _find_face(extension: dict[str, Any]) -> set[int]:
    """The nodes that stand for expressions and for where the eyes look."""
    entries = [extension.get("lookAt") or {}]
    for group in (extension.get("expressions") or {}).values():
        entries += list(group.values())
    return {int(entry["node"]) for entry in entries if entry.get("node") is not None}


def list_key_times(file: GltfFile, animation: int) -> np.ndarray:
    """(K,) s, every moment at which something of an animation has a key; zero alone where nothing has."""
    samplers = _find_samplers(file.json["animations"][animation])
    keys = [_read_track(file, sampler).times for sampler in samplers.values()]
    return np.unique(np.concatenate(keys)) if keys else np.zeros(1)


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


def sample(times: np.ndarray, values: np.ndarray, how: str, is_turn: bool, at: np.ndarray) -> np.ndarray:
    """(F, W) values of keys (K,), (K or 3 K, W) at times (F,); before the first and after the last they are held."""
    at = np.clip(at, times[0], times[-1])
    last = len(times) - 1
    k = np.clip(np.searchsorted(times, at, side="right") - 1, 0, last)
    if how == "STEP" or last == 0:
        return values[1::3][k] if how == "CUBICSPLINE" else values[k]
    k = np.minimum(k, last - 1)
    length = times[k + 1] - times[k]
    u = np.where(length > 0, (at - times[k]) / np.where(length > 0, length, 1.0), 1.0)[:, None]
    if how == "CUBICSPLINE":
        d = length[:, None]
        into, keys, out = values[0::3], values[1::3], values[2::3]
        return (
            (2 * u**3 - 3 * u**2 + 1) * keys[k]
            + d * (u**3 - 2 * u**2 + u) * out[k]
            + (3 * u**2 - 2 * u**3) * keys[k + 1]
            + d * (u**3 - u**2) * into[k + 1]
        )
    here, there = values[k], values[k + 1]
    if not is_turn:
        return (1.0 - u) * here + u * there
    here = here / np.sqrt((here**2).sum(axis=1, keepdims=True))
    there = there / np.sqrt((there**2).sum(axis=1, keepdims=True))
    dot = (here * there).sum(axis=1, keepdims=True)
    there, dot = np.where(dot < 0, -there, there), np.abs(dot)
    # sin((1 - u) a) / sin a and sin(u a) / sin a, with a the angle between them; straight where it vanishes.
    angle = np.arccos(np.minimum(dot, 1.0))
    near = angle < 1e-6
    sine = np.where(near, 1.0, np.sin(angle))
    first = np.where(near, 1.0 - u, np.sin((1.0 - u) * angle) / sine)
    second = np.where(near, u, np.sin(u * angle) / sine)
    return np.asarray(first * here + second * there)
