"""Small glTF files for tests, and what the specification says of them: 4x4 matrices, SciPy's rotations, no Poise."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

_CODES = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}
_TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


class Builder:
    """A glTF document put together piece by piece."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.json: dict[str, Any] = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": []}

    def node(self, parent: int | None = None, **fields: Any) -> int:
        index = len(self.json["nodes"])
        plain = {key: np.asarray(v).tolist() if isinstance(v, np.ndarray) else v for key, v in fields.items()}
        self.json["nodes"].append(plain)
        if parent is not None:
            self.json["nodes"][parent].setdefault("children", []).append(index)
        return index

    def view(self, raw: bytes, **fields: Any) -> int:
        self.data += b"\0" * (-len(self.data) % 4)
        views = self.json.setdefault("bufferViews", [])
        views.append({"buffer": 0, "byteOffset": len(self.data), "byteLength": len(raw), **fields})
        self.data += raw
        return len(views) - 1

    def accessor(self, array: np.ndarray, kind: str = "f4", **fields: Any) -> int:
        array = np.asarray(array)
        rows = array.reshape(len(array), -1).astype("<" + kind)
        accessors = self.json.setdefault("accessors", [])
        entry: dict[str, Any] = {"componentType": _CODES[kind], "count": len(rows), "type": _TYPES[rows.shape[1]]}
        if "bufferView" not in fields:
            entry["bufferView"] = self.view(rows.tobytes())
        if kind == "f4" and len(rows):
            entry["min"], entry["max"] = rows.min(axis=0).tolist(), rows.max(axis=0).tolist()
        accessors.append({**entry, **fields})
        return len(accessors) - 1

    def animation(self, name: str | None = None) -> dict[str, Any]:
        entry: dict[str, Any] = {"samplers": [], "channels": []}
        if name is not None:
            entry["name"] = name
        self.json.setdefault("animations", []).append(entry)
        return entry

    def channel(
        self, animation: dict[str, Any], node: int, path: str, times: Any, values: Any, how: str | None = None, **f: Any
    ) -> None:
        output = values if isinstance(values, int) else self.accessor(np.asarray(values, float), **f)
        sampler: dict[str, Any] = {"input": self.accessor(np.asarray(times, float)), "output": output}
        if how is not None:
            sampler["interpolation"] = how
        animation["samplers"].append(sampler)
        target = {"node": node, "path": path}
        animation["channels"].append({"sampler": len(animation["samplers"]) - 1, "target": target})

    def glb(self) -> bytes:
        return pack(self.document(), bytes(self.data))

    def document(self) -> dict[str, Any]:
        return {**self.json, "buffers": [{"byteLength": len(self.data)}]}

    def gltf(self) -> bytes:
        """The same as text, with the buffer inside."""
        uri = "data:application/octet-stream;base64," + base64.b64encode(bytes(self.data)).decode()
        return json.dumps({**self.json, "buffers": [{"byteLength": len(self.data), "uri": uri}]}).encode()

    def save(self, path: Path) -> Path:
        path.write_bytes(self.gltf() if path.suffix == ".gltf" else self.glb())
        return path


def pack(document: dict[str, Any], binary: bytes) -> bytes:
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    head = struct.pack("<4sII", b"glTF", 2, 12 + 8 + len(text) + 8 + len(binary))
    return head + struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary


class Reference:
    """A glTF file as the specification reads it."""

    def __init__(self, path: Path):
        data = path.read_bytes()
        self.binary = b""
        if data[:4] == b"glTF":
            (length,) = struct.unpack_from("<I", data, 12)
            self.json = json.loads(data[20 : 20 + length])
            self.binary = data[28 + length :]
        else:
            self.json = json.loads(data)
            uri = self.json["buffers"][0]["uri"]
            inside = uri.startswith("data:")
            self.binary = base64.b64decode(uri.split(",")[1]) if inside else (path.parent / uri).read_bytes()
        self.nodes = self.json["nodes"]
        self.names = [node.get("name") for node in self.nodes]
        self.parent = {child: i for i, node in enumerate(self.nodes) for child in node.get("children", ())}

    def array(self, index: int) -> np.ndarray:
        accessor = self.json["accessors"][index]
        kinds = {code: kind for kind, code in _CODES.items()}
        kind = np.dtype("<" + kinds[accessor["componentType"]])
        width = {name: width for width, name in _TYPES.items()}[accessor["type"]]
        view = self.json["bufferViews"][accessor["bufferView"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        stride = view.get("byteStride", kind.itemsize * width)
        rows = [np.frombuffer(self.binary, kind, width, start + i * stride) for i in range(accessor["count"])]
        array = np.array(rows).astype(float)
        if "sparse" in accessor:
            sparse = accessor["sparse"]
            at = self._plain(sparse["indices"], kinds[sparse["indices"]["componentType"]], sparse["count"], 1)
            array[at[:, 0].astype(int)] = self._plain(sparse["values"], kind, sparse["count"], width)
        return np.maximum(array / np.iinfo(kind).max, -1) if accessor.get("normalized") else array

    def _plain(self, entry: dict[str, Any], kind: Any, count: int, width: int) -> np.ndarray:
        start = self.json["bufferViews"][entry["bufferView"]].get("byteOffset", 0) + entry.get("byteOffset", 0)
        return np.frombuffer(self.binary, np.dtype(kind).newbyteorder("<"), count * width, start).reshape(count, width)

    def sample(self, sampler: dict[str, Any], path: str, t: float) -> np.ndarray:
        times, values = self.array(sampler["input"])[:, 0], self.array(sampler["output"])
        how = sampler.get("interpolation", "LINEAR")
        if how == "CUBICSPLINE":
            before, values, after = values[0::3], values[1::3], values[2::3]
        if t <= times[0] or len(times) == 1:
            return values[0]
        if t >= times[-1]:
            return values[-1]
        k = int(np.searchsorted(times, t, side="right")) - 1
        u, d = (t - times[k]) / (times[k + 1] - times[k]), times[k + 1] - times[k]
        if how == "STEP":
            return values[k]
        if how == "CUBICSPLINE":
            basis = [2 * u**3 - 3 * u**2 + 1, d * (u**3 - 2 * u**2 + u), 3 * u**2 - 2 * u**3, d * (u**3 - u**2)]
            return sum(b * v for b, v in zip(basis, [values[k], after[k], values[k + 1], before[k + 1]], strict=True))
        if path == "rotation":
            return Slerp([0, 1], Rotation.from_quat(values[k : k + 2]))(u).as_quat()
        return values[k] + u * (values[k + 1] - values[k])

    def worlds(self, animation: int | None = None, t: float = 0.0) -> list[np.ndarray]:
        """World matrices (4, 4) of all nodes."""
        parts: list[dict[str, Any]] = [dict(node) for node in self.nodes]
        if animation is not None:
            entry = self.json["animations"][animation]
            for channel in entry["channels"]:
                target = channel["target"]
                value = self.sample(entry["samplers"][channel["sampler"]], target["path"], t)
                parts[target["node"]][target["path"]] = value
        locals_ = []
        for part in parts:
            matrix = np.eye(4)
            if "matrix" in part:
                matrix = np.array(part["matrix"], float).reshape(4, 4).T
            else:
                turn = Rotation.from_quat(part.get("rotation", (0, 0, 0, 1))).as_matrix()
                matrix[:3, :3] = turn * np.asarray(part.get("scale", (1, 1, 1)), float)
                matrix[:3, 3] = part.get("translation", (0, 0, 0))
            locals_.append(matrix)
        worlds: dict[int, np.ndarray] = {}

        def world(i: int) -> np.ndarray:
            if i not in worlds:
                worlds[i] = world(self.parent[i]) @ locals_[i] if i in self.parent else locals_[i]
            return worlds[i]

        return [world(i) for i in range(len(parts))]

    def start(self, animation: int) -> float:
        """The first key of an animation, s."""
        samplers = self.json["animations"][animation]["samplers"]
        return min(float(self.array(sampler["input"])[0, 0]) for sampler in samplers)

    def positions(self, names: tuple[str, ...], animation: int | None = None, t: float = 0.0) -> np.ndarray:
        """(J, 3) of nodes in the world, by name."""
        worlds = self.worlds(animation, t)
        return np.array([worlds[self.names.index(name)][:3, 3] for name in names])

    def skinned(self, animation: int | None = None, t: float = 0.0) -> np.ndarray:
        """(V, 3) all vertices of all skinned meshes, in the order of the nodes."""
        worlds, points = self.worlds(animation, t), []
        for node in self.nodes:
            if "skin" not in node or "mesh" not in node:
                continue
            skin = self.json["skins"][node["skin"]]
            binds = self.array(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
            bones = np.array([worlds[j] @ bind for j, bind in zip(skin["joints"], binds, strict=True)])
            for primitive in self.json["meshes"][node["mesh"]]["primitives"]:
                attributes = primitive["attributes"]
                vertices = self.array(attributes["POSITION"])
                weights = self.array(attributes["WEIGHTS_0"])
                weights = weights / weights.sum(axis=1, keepdims=True)
                blend = np.einsum("vk,vkij->vij", weights, bones[self.array(attributes["JOINTS_0"]).astype(int)])
                points.append(np.einsum("vij,vj->vi", blend[:, :3, :3], vertices) + blend[:, :3, 3])
        return np.concatenate(points)
