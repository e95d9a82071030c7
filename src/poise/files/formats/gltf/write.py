"""glTF 2.0 binary out: a character and its motion, or many characters in one file and one animation.

Every glTF writer uses `GltfBuffer`: a growing binary part, an animation in it, and the container round both.

Normals are smooth where a surface bends gently, and sharp at its edges.

Layout: an armature node holds the joints, whose rest rotations are none and whose rest pose stands on the ground;
beside it one skinned mesh; one animation with the root's translation, all rotations, and translations of joints that
slide on their bones.
glTF's axes and units are Poise's, so that numbers are written as they are, in float32. End sites are kept in a joint's
`extras.tip` and roles in `extras.role`: extra end nodes would become extra bones in Blender and game engines. The same
input gives the same bytes.

Many characters in one file:

Each has an armature of its own; those with the same skin share its mesh and its inverse bind matrices, which are nearly
all of a single character's bytes. Everything else is as `glb` writes it.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from poise.body.geometry.mesh import Mesh
from poise.body.geometry.skin import SkinnedMesh, build_skin
from poise.body.skeleton import Skeleton
from poise.errors import InputError, unknown_name
from poise.files.formats.gltf.entry import mend_text
from poise.files.input import stem_of
from poise.files.output import write_bytes
from poise.motion.clip import Clip

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


_CREASE = np.cos(np.radians(50.0))  # faces that meet at a smaller angle are shaded as one surface


def compute_shaded_vertices(mesh: Mesh) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices (N, 3), unit normals (N, 3) and faces (F, 3) of a mesh for drawing.

    A vertex at an edge is doubled, once for each surface that meets there. Faces without area are left out.
    """
    areas = mesh.face_areas()
    sizes = np.linalg.norm(areas, axis=1)
    kept = sizes > 1e-14
    faces, areas = mesh.faces[kept], areas[kept]
    normals = _compute_corner_normals(faces, areas, areas / sizes[kept, None])
    # Corners of one vertex with the same normal are one vertex to draw.
    keys = np.column_stack([faces.ravel(), np.round(normals * 1e4)]).astype(np.int64)
    _, first, index = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return mesh.vertices[faces.ravel()[first]], normals[first], index.reshape(faces.shape)


def _compute_corner_normals(faces: np.ndarray, areas: np.ndarray, face_normals: np.ndarray) -> np.ndarray:
    """(3F, 3) unit normal of every face corner: over the faces round its vertex that bend less than a crease."""
    vertices = faces.ravel()
    owner = np.repeat(np.arange(len(faces)), 3)
    order = np.argsort(vertices, kind="stable")
    starts = np.searchsorted(vertices[order], vertices, side="left")
    counts = np.bincount(vertices)[vertices]
    # Every pair (corner, corner of the same vertex).
    corner = np.repeat(np.arange(len(vertices)), counts)
    step = np.arange(len(corner)) - np.repeat(np.cumsum(counts) - counts, counts)
    neighbour = owner[order[np.repeat(starts, counts) + step]]
    alike = np.sum(face_normals[owner[corner]] * face_normals[neighbour], axis=1) > _CREASE
    normals = np.zeros((len(vertices), 3))
    np.add.at(normals, corner[alike], areas[neighbour[alike]])
    return np.asarray(normals / np.linalg.norm(normals, axis=1, keepdims=True))


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


@dataclass(frozen=True, eq=False)
class CrowdFigure:
    """One of many.

    clip   its motion; all have the same times, and those that share a skin the same skeleton
    skin   its body, one object for all that look alike
    color  linear light, 0 to 1; that of the first who has a skin holds for all who share it
    scale  that all of it is shown at, clip and skin
    """

    clip: Clip
    skin: SkinnedMesh
    color: tuple[float, float, float] = CLAY
    scale: float = 1.0


def save_glb_crowd(figures: Sequence[CrowdFigure], path: str | PathLike[str], name: str = "crowd") -> None:
    """Write figures as one GLB; armatures are called as the clips are."""
    write_bytes(path, format_glb_crowd(figures, name))


def format_glb_crowd(figures: Sequence[CrowdFigure], name: str = "crowd") -> bytes:
    """Figures as the bytes of a GLB file."""
    _check_figures(figures)
    file = GltfBuffer()
    bodies: dict[int, _Body] = {}
    nodes: list[dict[str, Any]] = []
    scene: list[int] = []
    skins: list[dict[str, Any]] = []
    channels: list[tuple[int, str, np.ndarray]] = []
    meshes: list[dict[str, Any]] = []
    materials: list[dict[str, Any]] = []
    for figure in figures:
        clip, first = figure.clip, len(nodes)
        if id(figure.skin) not in bodies:
            rest, shift = stand_on_ground(clip.skeleton, figure.skin)
            primitive = build_primitive(file, figure.skin, shift, len(materials))
            bodies[id(figure.skin)] = _Body(len(meshes), add_inverse_binds(file, rest), rest)
            materials.append(build_material(f"body {len(meshes)}", figure.color))
            meshes.append({"name": f"body {len(meshes)}", "primitives": [primitive]})
        body = bodies[id(figure.skin)]
        nodes += build_nodes(clip.skeleton, body.rest, clip.name, first)
        if figure.scale != 1.0:
            nodes[first]["scale"] = [figure.scale] * 3
        joints = list(range(first + 1, first + 1 + len(clip.skeleton)))
        skins.append({"name": clip.name, "inverseBindMatrices": body.binds, "joints": joints})
        scene += [first, len(nodes)]
        nodes.append({"name": f"{clip.name} body", "mesh": body.mesh, "skin": len(skins) - 1})
        channels += list_channels(clip, first)
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "Poise"},
        "scene": 0,
        "scenes": [{"nodes": scene}],
        "nodes": nodes,
        "meshes": meshes,
        "materials": materials,
        "skins": skins,
        "animations": [build_animation(file, name, figures[0].clip.times, channels)],
        "accessors": file.accessors,
        "bufferViews": file.views,
        "buffers": [{"byteLength": len(file.data)}],
    }
    return pack_glb(document, bytes(file.data))


@dataclass(frozen=True, eq=False)
class _Body:
    """What figures of one skin share: mesh, accessor of the inverse binds, rest positions (J, 3) m."""

    mesh: int
    binds: int
    rest: np.ndarray


def _check_figures(figures: Sequence[CrowdFigure]) -> None:
    if not figures:
        raise InputError("a crowd's GLB needs at least one figure; none given.")
    times = figures[0].clip.times
    skeletons = {id(figure.skin): figure.clip.skeleton for figure in reversed(figures)}
    for figure in figures:
        if not (np.isfinite(figure.scale) and figure.scale > 0.0):
            raise InputError(f"a figure is shown at a scale above 0; that of '{figure.clip.name}' is {figure.scale:g}.")
        if not np.array_equal(figure.clip.times, times):
            raise InputError(f"all figures of a GLB have the same times; those of '{figure.clip.name}' differ.")
        if figure.clip.skeleton is not skeletons[id(figure.skin)]:
            raise InputError(f"figures that share a skin share its skeleton; that of '{figure.clip.name}' is another.")
