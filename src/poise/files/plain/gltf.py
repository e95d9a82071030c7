"""glTF, GLB, VRM and VRMA: every node's translation, rotation and scale, or matrix, down the tree.

The joints that should be found are those of all skins, the bones that a VRM names, and every node that the animation
moves, other than cameras, meshes that a skin bends (their own transform does not count [glTF 2.0, 3.7.3.3]) and the
nodes by which a VRM animation moves a face.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.files.plain.gltf_file import GltfFile
from poise.files.plain.gltf_keys import sample
from poise.files.plain.matrices import move, stretch, turn
from poise.files.plain.tree import PlainMotion, UnreadableError

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
    parents = [-1] * len(nodes)
    for i, node in enumerate(nodes):
        for child in node.get("children") or ():
            parents[int(child)] = i
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
    for name in ("VRMC_vrm", "VRMC_vrm_animation", "VRM"):
        bones = ((extensions.get(name) or {}).get("humanoid") or {}).get("humanBones") or {}
        entries = bones.values() if isinstance(bones, dict) else bones
        wanted |= {int(entry["node"]) for entry in entries if entry and entry.get("node") is not None}
    nodes = file.json["nodes"]
    face = _find_face(extensions.get("VRMC_vrm_animation") or {})
    moved = {i for i in moving if "camera" not in nodes[i] and "skin" not in nodes[i]}
    return tuple(sorted(wanted | moved - face))


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
