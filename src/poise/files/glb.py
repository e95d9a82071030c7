"""glTF 2.0 binary out: a skeleton, its motion and a body that is skinned to it.

Layout: an armature node holds the joints, whose rest rotations are none and whose rest pose stands on the ground;
beside it one skinned mesh; one animation with the root's translation and all rotations.
glTF's axes and units are Poise's, so that numbers are written as they are, in float32. End sites are kept in a joint's
`extras.tip` and roles in `extras.role`: extra end nodes would become extra bones in Blender and game engines. The same
input gives the same bytes.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from poise.body.mesh import Mesh
from poise.body.skeleton import Skeleton
from poise.body.skin import SkinnedMesh, build_skin
from poise.errors import InputError, unknown_name
from poise.files.atomic import write_bytes
from poise.files.shading import compute_shaded_vertices
from poise.motion.clip import Clip

# glTF 2.0 specification, sections 3.6.2 and 5.1.3, 5.11.5
_COMPONENTS = {"float32": 5126, "uint32": 5125, "uint16": 5123, "uint8": 5121}
_TYPES = {(): "SCALAR", (3,): "VEC3", (4,): "VEC4", (16,): "MAT4"}
_VERTICES, _INDICES = 34962, 34963

_MATERIAL = {
    "name": "Mannequin",
    "pbrMetallicRoughness": {
        "baseColorFactor": [0.74, 0.69, 0.62, 1.0],
        "metallicFactor": 0.0,
        "roughnessFactor": 0.75,
    },
}
# A bone without mesh is drawn as a lozenge: widest at this fraction of its length, this wide for its length.
_WAIST, _WIDTH = 0.18, 0.2
_DOT = 0.02  # m: radius of what is drawn for a skeleton in which no bone has a length


def save_glb(
    clip: Clip,
    path: str | PathLike[str],
    meshes: Mapping[str, Mesh] | SkinnedMesh | None = None,
    name: str | None = None,
) -> None:
    """Write a clip and its body as GLB.

    meshes  joint name or role -> closed mesh in that joint's frame, metres, or a skin; a lozenge a bone if None
    name    of the animation and the armature; the clip's own, or the file's, if None
    """
    write_bytes(path, format_glb(clip, meshes, name or clip.name or Path(path).stem))


def format_glb(clip: Clip, meshes: Mapping[str, Mesh] | SkinnedMesh | None = None, name: str = "clip") -> bytes:
    """A clip and its body as the bytes of a GLB file; the arguments as for save_glb."""
    skeleton = clip.skeleton
    skin = _find_skin(skeleton, meshes)
    rest, shift = _stand_on_ground(skeleton, skin)
    file = _Buffer()
    nodes = _build_nodes(skeleton, rest, name)
    joints = list(range(1, len(skeleton) + 1))
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "Poise"},
        "scene": 0,
        "scenes": [{"nodes": [0, len(nodes)]}],
        "nodes": [*nodes, {"name": f"{name} body", "mesh": 0, "skin": 0}],
        "meshes": [{"name": f"{name} body", "primitives": [_build_primitive(file, skin, shift)]}],
        "materials": [_MATERIAL],
        "skins": [{"name": name, "inverseBindMatrices": _add_inverse_binds(file, rest), "joints": joints}],
        "animations": [_build_animation(file, clip, name)],
        "accessors": file.accessors,
        "bufferViews": file.views,
        "buffers": [{"byteLength": len(file.data)}],
    }
    return _pack(document, bytes(file.data))


class _Buffer:
    """The binary part, with the accessors and views that describe it."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.views: list[dict[str, int]] = []
        self.accessors: list[dict[str, Any]] = []

    def add(self, array: np.ndarray, target: int | None = None, bounds: bool = False) -> int:
        """Append an array (N, ...) and return the index of its accessor. Every array begins at a multiple of four."""
        raw = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(raw)}
        self.views.append(view if target is None else {**view, "target": target})
        self.data += raw + b"\0" * (-len(raw) % 4)
        accessor: dict[str, Any] = {
            "bufferView": len(self.views) - 1,
            "componentType": _COMPONENTS[array.dtype.name],
            "count": len(array),
            "type": _TYPES[array.shape[1:]],
        }
        if bounds:
            flat = array.reshape(len(array), -1)
            accessor["min"], accessor["max"] = flat.min(axis=0).tolist(), flat.max(axis=0).tolist()
        self.accessors.append(accessor)
        return len(self.accessors) - 1


def _find_skin(skeleton: Skeleton, meshes: Mapping[str, Mesh] | SkinnedMesh | None) -> SkinnedMesh:
    """What moves with the joints, whatever was given."""
    if isinstance(meshes, SkinnedMesh):
        return meshes
    if meshes is None:
        lozenges = {skeleton.names[i]: _sharpen(mesh) for i, mesh in build_lozenges(skeleton).items()}
        return build_skin(skeleton.replace(roles={}), lozenges)  # without roles nothing bends
    known = {*skeleton.names, *skeleton.roles}
    for joint in meshes:
        if joint not in known:
            raise unknown_name("mesh joint", joint, skeleton.labels, "the skeleton")
    pieces = {joint: _sharpen(mesh) for joint, mesh in meshes.items() if len(mesh.faces)}
    if not pieces:
        raise InputError("no meshes were given for a GLB. Leave `meshes` out to have the bones drawn.")
    return build_skin(skeleton, dict(sorted(pieces.items(), key=lambda item: skeleton.index(item[0]))))


def _sharpen(mesh: Mesh) -> Mesh:
    """The mesh with vertices doubled at its edges, so that they are drawn sharp, and without faces of no area."""
    vertices, _, faces = compute_shaded_vertices(mesh)
    return Mesh(vertices, faces)


def _stand_on_ground(skeleton: Skeleton, skin: SkinnedMesh) -> tuple[np.ndarray, np.ndarray]:
    """Rest positions (J, 3) m, moved so that the root is above the origin and the body on y = 0; and that move (3,)."""
    rest = skeleton.rest_positions()
    shift = np.array([-rest[0, 0], -float(skin.vertices[:, 1].min()), -rest[0, 2]])
    return rest + shift, shift


def _build_nodes(skeleton: Skeleton, rest: np.ndarray, name: str) -> list[dict[str, Any]]:
    """The armature, node 0, and the joints: joint j is node j + 1."""
    offsets = skeleton.offsets.copy()
    offsets[0] = rest[0]
    role_of = {joint: role for role, joint in skeleton.roles.items()}
    nodes: list[dict[str, Any]] = [{"name": name, "children": [1]}]
    for j, joint in enumerate(skeleton.names):
        node: dict[str, Any] = {"name": joint, "translation": _to_list(offsets[j])}
        children = skeleton.children(j)
        if children:
            node["children"] = [child + 1 for child in children]
        extras: dict[str, Any] = {}
        if joint in role_of:
            extras["role"] = role_of[joint]
        if skeleton.has_tip[j]:
            extras["tip"] = _to_list(skeleton.tips[j])
        if extras:
            node["extras"] = extras
        nodes.append(node)
    return nodes


def _to_list(vector: np.ndarray) -> list[float]:
    """A vector rounded to a tenth of a micrometre, for short text."""
    return [float(x) for x in np.round(vector, 7) + 0.0]


def _build_primitive(file: _Buffer, skin: SkinnedMesh, shift: np.ndarray) -> dict[str, Any]:
    """The skin as one primitive, in the rest pose moved by `shift`."""
    count = len(skin.vertices)
    weights = skin.weights.astype(np.float32)
    joints = np.where(weights > 0, skin.joints, 0)  # glTF: where the weight is zero, so is the joint
    narrow = int(joints.max()) < 256
    indices = skin.faces.ravel()
    return {
        "attributes": {
            "POSITION": file.add((skin.vertices + shift).astype(np.float32), _VERTICES, bounds=True),
            "NORMAL": file.add(skin.normals.astype(np.float32), _VERTICES),
            "JOINTS_0": file.add(joints.astype(np.uint8 if narrow else np.uint16), _VERTICES),
            "WEIGHTS_0": file.add(weights, _VERTICES),
        },
        # 65535 itself is reserved for restarting a strip.
        "indices": file.add(indices.astype(np.uint16 if count < 65535 else np.uint32), _INDICES),
        "material": 0,
    }


def _add_inverse_binds(file: _Buffer, rest: np.ndarray) -> int:
    """World to joint coordinates in the rest pose, column by column: without rotations only the translation back."""
    matrices = np.tile(np.eye(4, dtype=np.float32), (len(rest), 1, 1))
    matrices[:, 3, :3] = -rest
    return file.add(matrices.reshape(-1, 16))


def _build_animation(file: _Buffer, clip: Clip, name: str) -> dict[str, Any]:
    """Keys at every frame, linear in between; a channel that never changes has one key."""
    times = (clip.times - clip.times[0]).astype(np.float32)
    if np.any(np.diff(times) <= 0):
        raise InputError("glTF keeps times in single precision, in which some frames of this clip coincide. Cut it.")
    inputs: dict[int, int] = {}  # accessor of the first n times, by n
    samplers: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []

    def add_channel(node: int, path: str, keys: np.ndarray) -> None:
        keys = keys.astype(np.float32)
        n = 1 if (keys == keys[0]).all() else len(keys)
        if n not in inputs:
            inputs[n] = file.add(times[:n], bounds=True)
        samplers.append({"input": inputs[n], "output": file.add(keys[:n]), "interpolation": "LINEAR"})
        channels.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": path}})

    add_channel(1, "translation", clip.root)
    for joint in range(len(clip.skeleton)):
        add_channel(joint + 1, "rotation", clip.rotations[:, joint, [1, 2, 3, 0]])
    return {"name": name, "samplers": samplers, "channels": channels}


def _pack(document: dict[str, Any], binary: bytes) -> bytes:
    """The container: a header, the JSON chunk padded with blanks, the binary chunk padded with zeros."""
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
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


def build_lozenges(skeleton: Skeleton) -> dict[int, Mesh]:
    """An octahedron along every bone, by the index of the joint that moves it, in that joint's frame."""
    bones: dict[int, list[np.ndarray]] = {}
    for joint in range(1, len(skeleton)):
        bones.setdefault(int(skeleton.parents[joint]), []).append(skeleton.offsets[joint])
    for leaf in np.flatnonzero(skeleton.has_tip):
        bones.setdefault(int(leaf), []).append(skeleton.tips[leaf])
    lozenges = {}
    for joint, vectors in sorted(bones.items()):
        pieces = [_build_lozenge(vector) for vector in vectors if np.linalg.norm(vector) > 1e-4]
        if pieces:
            lozenges[joint] = Mesh.joined(pieces)
    if not lozenges:
        middle = _build_lozenge(np.array([0.0, 2 * _DOT, 0.0]))
        lozenges[0] = Mesh(middle.vertices - [0.0, _DOT, 0.0], middle.faces)
    return lozenges


def _build_lozenge(bone: np.ndarray) -> Mesh:
    length = float(np.linalg.norm(bone))
    # Two directions square to the bone, the first along whichever axis leans on it least.
    side = np.cross(bone, np.eye(3)[np.argmin(np.abs(bone))])
    side *= 0.5 * _WIDTH * length / np.linalg.norm(side)
    other = np.cross(bone, side) / length
    waist = _WAIST * bone
    vertices = np.array([0 * bone, bone, waist + side, waist + other, waist - side, waist - other])
    ring = [(2, 3), (3, 4), (4, 5), (5, 2)]
    return Mesh(vertices, np.array([[(0, b, a), (1, a, b)] for a, b in ring]).reshape(-1, 3))
