"""glTF 2.0 binary out: a skeleton, its motion and a body that is skinned to it.

Layout: an armature node holds the joints, whose rest rotations are none and whose rest pose stands on the ground;
beside it one skinned mesh; one animation with the root's translation, all rotations, and translations of joints that
slide on their bones.
glTF's axes and units are Poise's, so that numbers are written as they are, in float32. End sites are kept in a joint's
`extras.tip` and roles in `extras.role`: extra end nodes would become extra bones in Blender and game engines. The same
input gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from poise.body.mesh import Mesh
from poise.body.skeleton import Skeleton
from poise.body.skin import SkinnedMesh, build_skin
from poise.errors import InputError, unknown_name
from poise.files.atomic import write_bytes
from poise.files.gltf.buffer import INDICES, VERTICES, GltfBuffer, build_animation, pack_glb
from poise.files.naming import stem_of
from poise.files.shading import compute_shaded_vertices
from poise.motion.clip import Clip

CLAY = (0.74, 0.69, 0.62)  # linear light
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
    write_bytes(path, format_glb(clip, meshes, name or clip.name or stem_of(path)))


def format_glb(clip: Clip, meshes: Mapping[str, Mesh] | SkinnedMesh | None = None, name: str = "clip") -> bytes:
    """A clip and its body as the bytes of a GLB file; the arguments as for save_glb."""
    skeleton = clip.skeleton
    skin = find_skin(skeleton, meshes)
    rest, shift = stand_on_ground(skeleton, skin)
    file = GltfBuffer()
    nodes = build_nodes(skeleton, rest, name)
    joints = list(range(1, len(skeleton) + 1))
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "Poise"},
        "scene": 0,
        "scenes": [{"nodes": [0, len(nodes)]}],
        "nodes": [*nodes, {"name": f"{name} body", "mesh": 0, "skin": 0}],
        "meshes": [{"name": f"{name} body", "primitives": [build_primitive(file, skin, shift)]}],
        "materials": [build_material("Mannequin", CLAY)],
        "skins": [{"name": name, "inverseBindMatrices": add_inverse_binds(file, rest), "joints": joints}],
        "animations": [build_animation(file, name, clip.times, list_channels(clip))],
        "accessors": file.accessors,
        "bufferViews": file.views,
        "buffers": [{"byteLength": len(file.data)}],
    }
    return pack_glb(document, bytes(file.data))


def build_material(name: str, color: Sequence[float]) -> dict[str, Any]:
    """A dull surface; color is linear light, 0 to 1."""
    factors = {"baseColorFactor": [*(round(float(c), 4) for c in color), 1.0], "metallicFactor": 0.0}
    return {"name": name, "pbrMetallicRoughness": {**factors, "roughnessFactor": 0.75}}


def find_skin(skeleton: Skeleton, meshes: Mapping[str, Mesh] | SkinnedMesh | None) -> SkinnedMesh:
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


def stand_on_ground(skeleton: Skeleton, skin: SkinnedMesh) -> tuple[np.ndarray, np.ndarray]:
    """Rest positions (J, 3) m, moved so that the root is above the origin and the body on y = 0; and that move (3,)."""
    rest = skeleton.rest_positions()
    shift = np.array([-rest[0, 0], -float(skin.vertices[:, 1].min()), -rest[0, 2]])
    return rest + shift, shift


def build_nodes(skeleton: Skeleton, rest: np.ndarray, name: str, first: int = 0) -> list[dict[str, Any]]:
    """The armature, node `first`, and the joints: joint j is node first + j + 1."""
    offsets = skeleton.offsets.copy()
    offsets[0] = rest[0]
    role_of = {joint: role for role, joint in skeleton.roles.items()}
    nodes: list[dict[str, Any]] = [{"name": name, "children": [first + 1]}]
    for j, joint in enumerate(skeleton.names):
        node: dict[str, Any] = {"name": joint, "translation": _to_list(offsets[j])}
        children = skeleton.children(j)
        if children:
            node["children"] = [first + child + 1 for child in children]
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


def build_primitive(file: GltfBuffer, skin: SkinnedMesh, shift: np.ndarray, material: int = 0) -> dict[str, Any]:
    """The skin as one primitive, in the rest pose moved by `shift`."""
    count = len(skin.vertices)
    weights = skin.weights.astype(np.float32)
    joints = np.where(weights > 0, skin.joints, 0)  # glTF: where the weight is zero, so is the joint
    narrow = int(joints.max()) < 256
    indices = skin.faces.ravel()
    return {
        "attributes": {
            "POSITION": file.add((skin.vertices + shift).astype(np.float32), VERTICES, bounds=True),
            "NORMAL": file.add(skin.normals.astype(np.float32), VERTICES),
            "JOINTS_0": file.add(joints.astype(np.uint8 if narrow else np.uint16), VERTICES),
            "WEIGHTS_0": file.add(weights, VERTICES),
        },
        # 65535 itself is reserved for restarting a strip.
        "indices": file.add(indices.astype(np.uint16 if count < 65535 else np.uint32), INDICES),
        "material": material,
    }


def add_inverse_binds(file: GltfBuffer, rest: np.ndarray) -> int:
    """World to joint coordinates in the rest pose, column by column: without rotations only the translation back."""
    matrices = np.tile(np.eye(4, dtype=np.float32), (len(rest), 1, 1))
    matrices[:, 3, :3] = -rest
    return file.add(matrices.reshape(-1, 16))


def list_channels(clip: Clip, first: int = 0) -> Iterator[tuple[int, str, np.ndarray]]:
    """(node, path, keys) of everything that moves, for an armature that is node `first`."""
    yield first + 1, "translation", clip.root
    for joint in range(len(clip.skeleton)):
        yield first + joint + 1, "rotation", clip.rotations[:, joint]
        if clip.shifts is not None and clip.shifts[:, joint].any():
            yield first + joint + 1, "translation", clip.skeleton.offsets[joint] + clip.shifts[:, joint]


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
