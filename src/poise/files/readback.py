"""Where the joints are in a file that Poise has written, read from its bytes: reported figures are of what was written.

Knows of a format only what Poise writes. It shares no code with the GLB writer, whose mistakes it is there to see.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import FileError
from poise.files.formats import find_format, read_recording
from poise.spatial import rotation


def read_positions(path: Path, skeleton: Skeleton) -> np.ndarray | None:
    """World positions (F, J, 3) m of the joints in a written file, in the order of the skeleton that was written.

    None where the format cannot be read.
    """
    suffix = path.suffix.lower()
    if suffix == ".glb":
        positions, order = _read_glb(path), np.arange(len(skeleton))
    elif suffix.startswith(".usd"):
        from poise.files.usd import read_usd_positions

        positions, order = read_usd_positions(path), np.arange(len(skeleton))
    else:
        entry = find_format(path)
        if entry is None or entry.read is None:
            return None
        recording = read_recording(path)
        positions = recording.clip.positions * (recording.unit or 1.0)
        order = find_order(path, skeleton, recording.clip.skeleton)
    if positions.shape[1] < len(skeleton):
        raise FileError(path, f"{len(skeleton)} joints were written, {positions.shape[1]} are there.")
    return positions[:, order]


def find_order(path: Path, wanted: Skeleton, there: Skeleton) -> np.ndarray:
    """Which joint of a file each one is: by name, or where names were changed by the order in which BVH lists them."""
    if set(wanted.names) <= set(there.names):
        return np.array([there.names.index(name) for name in wanted.names])
    if len(there) != len(wanted):
        missing = ", ".join(sorted(set(wanted.names) - set(there.names))[:5])
        raise FileError(path, f"joints were written that are not there: {missing}.")
    return np.argsort(_depth_first(wanted))


def _depth_first(skeleton: Skeleton) -> list[int]:
    order, waiting = [], [0]
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting += reversed(skeleton.children(joint))
    return order


def _read_glb(path: Path) -> np.ndarray:
    """Positions (F, J, 3) of the joints of the first skin, at the keys of the first animation."""
    document, binary = _split_glb(path)
    nodes = document["nodes"]
    parent = {child: i for i, node in enumerate(nodes) for child in node.get("children", ())}
    joints = document["skins"][0]["joints"]
    keys = _read_keys(document, binary)
    frames = max((len(values) for values in keys.values()), default=1)
    places: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def place(i: int) -> tuple[np.ndarray, np.ndarray]:
        """World position (F, 3) and orientation (F, 4) of node i."""
        if i not in places:
            offset = keys.get((i, "translation"), np.array([nodes[i].get("translation", (0.0, 0.0, 0.0))]))
            turn = keys.get((i, "rotation"), np.array([nodes[i].get("rotation", (0.0, 0.0, 0.0, 1.0))]))
            turn = rotation.normalize(turn[:, [3, 0, 1, 2]])
            if i in parent:
                origin, axes = place(parent[i])
                offset, turn = origin + rotation.rotate(axes, offset), rotation.multiply(axes, turn)
            places[i] = (np.broadcast_to(offset, (frames, 3)), np.broadcast_to(turn, (frames, 4)))
        return places[i]

    return np.stack([place(i)[0] for i in joints], axis=1)


def _split_glb(path: Path) -> tuple[dict[str, Any], bytes]:
    data = path.read_bytes()
    magic, version, total = struct.unpack_from("<4sII", data)
    if magic != b"glTF" or version != 2 or total != len(data):
        raise FileError(path, "what was written is not a complete GLB file.")
    (length,) = struct.unpack_from("<I", data, 12)
    return json.loads(data[20 : 20 + length]), data[20 + length + 8 :]


def _read_keys(document: dict[str, Any], binary: bytes) -> dict[tuple[int, str], np.ndarray]:
    """(node, path) -> its keys (F, 3) or (F, 4), float64; one row where it never changes."""
    animation = document["animations"][0]
    keys = {}
    for channel in animation["channels"]:
        accessor = document["accessors"][animation["samplers"][channel["sampler"]]["output"]]
        view = document["bufferViews"][accessor["bufferView"]]
        width = {"VEC3": 3, "VEC4": 4}[accessor["type"]]
        flat = np.frombuffer(binary, "<f4", accessor["count"] * width, view["byteOffset"])
        keys[channel["target"]["node"], channel["target"]["path"]] = flat.reshape(-1, width).astype(float)
    return keys
